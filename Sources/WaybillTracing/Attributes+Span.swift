#if Tracing
import Tracing
import Waybill
import WaybillCore

extension Attributes {
    private static let reserved = 2
    private static let elementLimit = 64

    init(_ attributes: SpanAttributes, of part: OpenPart) {
        self.init()
        let room = Limits.attributes - Self.reserved
        var all: [(String, SpanAttribute)] = []
        all.reserveCapacity(attributes.count)
        attributes.forEach { all.append(($0, $1)) }
        if all.count > 1 { all.sort { $0.0 < $1.0 } }
        for (name, attribute) in all.prefix(room) { self[name] = Self.value(attribute) }
        if all.count > room { part.source?.counters.add(all.count - room, to: \.truncated) }
    }

    private static func value(_ attribute: SpanAttribute) -> AttributeValue {
        switch attribute {
        case .string(let text): .string(text)
        case .int64(let value): .integer(numericCast(value))
        case .int32(let value): .integer(numericCast(value))
        case .double(let value): .double(value)
        case .bool(let value): .bool(value)
        case .stringConvertible(let value): .string("\(value)")
        case .stringArray(let values): list(values)
        case .int64Array(let values): list(values)
        case .int32Array(let values): list(values)
        case .doubleArray(let values): list(values)
        case .boolArray(let values): list(values)
        case .stringConvertibleArray(let values): list(values)
        default: .string("\(attribute)")
        }
    }

    private static func list(_ values: [some Any]) -> AttributeValue {
        .string(values.prefix(elementLimit).map { "\($0)" }.joined(separator: ", "))
    }
}
#endif
