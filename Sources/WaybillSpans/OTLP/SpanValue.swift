import WaybillCore

/// A value of an attribute, which may hold others: `AnyValue` of opentelemetry/proto/common/v1/common.proto.
indirect enum SpanValue: Hashable, Sendable {
    case none
    case scalar(AttributeValue)
    /// Bytes, in Base64.
    case bytes(String)
    case list([SpanValue])
    case map([SpanAttribute])

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
        case .bytes(let base64): return .string(base64)
        case .list(let values):
            let texts = values.compactMap { value in
                if case .scalar(let scalar) = value { scalar.description } else { nil }
            }
            return .string(texts.count == values.count ? texts.joined(separator: ", ") : json)
        case .map: return .string(json)
        }
    }

    private var json: String {
        switch self {
        case .none: "null"
        case .scalar(.string(let text)), .bytes(let text): Self.quoted(text)
        case .scalar(let value): value.description
        case .list(let values): "[\(values.map(\.json).joined(separator: ","))]"
        case .map(let members):
            "{\(members.map { "\(Self.quoted($0.name)):\($0.value.json)" }.joined(separator: ","))}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return writer.text
    }
}

/// A name with a value: `KeyValue` of the same file.
struct SpanAttribute: Hashable, Sendable {
    var name: String
    var value: SpanValue
}

/// The attributes of a span, an event, a link, a scope or a resource, as they came.
struct SpanAttributes: Hashable, Sendable {
    private(set) var list: [SpanAttribute] = []
    /// The number of attributes that were left out, by the sender or here.
    var droppedCount = 0

    /// Adds an attribute, as long as there is room.
    mutating func add(_ attribute: SpanAttribute) {
        guard !attribute.name.isEmpty else { return }
        if list.count < TraceRequest.attributeLimit { list.append(attribute) } else { droppedCount += 1 }
    }

    /// As facts have them. Of a name that stands twice, the last value counts.
    var flat: Attributes {
        var attributes: Attributes = [:]
        for attribute in list { if let value = attribute.value.attribute { attributes[attribute.name] = value } }
        return attributes
    }
}
