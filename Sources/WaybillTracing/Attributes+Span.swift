#if Tracing
import Tracing
import Waybill
import WaybillCore

extension Attributes {
    private static let reserved = 2

    init(_ attributes: SpanAttributes, of part: OpenPart) {
        self.init()
        let room = Limits.attributes - Self.reserved
        var all: [(String, SpanAttribute)] = []
        all.reserveCapacity(attributes.count)
        attributes.forEach { all.append(($0, $1)) }
        if all.count > 1 { all.sort { $0.0 < $1.0 } }
        for (name, attribute) in all.prefix(room) { self[name] = AttributeValue(attribute) }
        if all.count > room { part.source?.counters.add(all.count - room, to: \.truncated) }
    }
}

extension AttributeValue {
    private static let elementLimit = 64

    init(_ attribute: SpanAttribute) {
        self =
            switch attribute {
            case .string(let text): .string(text)
            case .int64(let value): .integer(numericCast(value))
            case .int32(let value): .integer(numericCast(value))
            case .double(let value): .double(value)
            case .bool(let value): .bool(value)
            case .stringConvertible(let value): .string("\(value)")
            case .stringArray(let values): Self.list(values)
            case .int64Array(let values): Self.list(values)
            case .int32Array(let values): Self.list(values)
            case .doubleArray(let values): Self.list(values)
            case .boolArray(let values): Self.list(values)
            case .stringConvertibleArray(let values): Self.list(values)
            default: .string("\(attribute)")
            }
    }

    private static func list(_ values: [some Any]) -> AttributeValue {
        .string(values.prefix(elementLimit).map { "\($0)" }.joined(separator: ", "))
    }
}
#endif
