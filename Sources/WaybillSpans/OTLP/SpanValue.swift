import Foundation
import WaybillCore

/// A value of an attribute, which may hold others: `AnyValue` of opentelemetry/proto/common/v1/common.proto.
indirect enum SpanValue {
    case none
    case scalar(AttributeValue)
    case list([SpanValue])
    case map([(name: String, value: SpanValue)])

    /// How deep one may be nested.
    static let depthLimit = 8
    /// Values that one may hold, at each level.
    static let limit = 128

    /// As attributes have it: a list of plain values as their texts with commas between them, and what holds names as
    /// JSON; nil for none.
    var attribute: AttributeValue? {
        switch self {
        case .none: return nil
        case .scalar(let value): return value
        case .list(let values):
            let texts = values.compactMap { value in
                if case .scalar(let scalar) = value { scalar.description } else { nil }
            }
            return .string(texts.count == values.count ? texts.joined(separator: ", ") : json)
        case .map: return .string(json)
        }
    }

    /// As an attribute is that holds bytes.
    static func bytes(_ bytes: some Sequence<UInt8>) -> SpanValue {
        .scalar(.string(Data(bytes).base64EncodedString()))
    }

    private var json: String {
        switch self {
        case .none: "null"
        case .scalar(.string(let text)): Self.quoted(text)
        case .scalar(let value): value.description
        case .list(let values): "[\(values.map(\.json).joined(separator: ","))]"
        case .map(let members):
            "{\(members.map { "\(Self.quoted($0.name)):\($0.value.json)" }.joined(separator: ","))}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
