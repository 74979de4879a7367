import WaybillCore
import WaybillStore

/// A span received by OTLP, redacted again.
struct OriginalSpan {
    let id: SpanID
    let parent: Span.Parent?
    let kind: Span.Kind?
    /// `nil` if it was not kept, or is not valid, as in a damaged store.
    let json: JSON?

    struct JSON {
        /// The members, without attributes and scope.
        var members: [UInt8] = []
        /// The attributes as array elements.
        var attributes: [UInt8] = []
        var scope = Array("{}".utf8)
    }

    init(_ span: SpanRows.Span, redactedBy redactor: Redactor) {
        id = span.id
        parent = span.parent.map { Span.Parent(id: $0, isRemote: span.part == span.fact) }
        kind = Span.Kind(rawValue: span.kind)
        json = span.original.flatMap { original in
            try? JSONReader.read(original) { reader throws(JSONFailure) in try JSON(&reader, redactor) }
        }
    }
}

extension OriginalSpan.JSON {
    fileprivate init(_ reader: inout JSONReader, _ redactor: Redactor) throws(JSONFailure) {
        var rest = Redaction(redactor: redactor)
        try reader.beginObject()
        while let key = try reader.nextKey() {
            var value = Redaction(redactor: redactor)
            switch key {
            case "attributes":
                try value.copy(&reader, under: "")
                attributes = Array(value.writer.bytes.dropFirst().dropLast())
            case "scope":
                try value.copy(&reader, under: "")
                scope = value.writer.bytes
            default:
                var name = ""
                try rest.copyMember(key.string, &reader, under: &name)
            }
        }
        members = rest.writer.bytes
    }

    /// Copies JSON, and redacts each text under the name of its attribute.
    private struct Redaction {
        let redactor: Redactor
        var writer = JSONWriter()

        /// Members with digits of IDs and times, which could look like card numbers.
        private static let digits: Set = [
            "traceId", "spanId", "startTimeUnixNano", "endTimeUnixNano", "timeUnixNano",
        ]

        /// The reader limits the depth of the recursion.
        mutating func copy(_ reader: inout JSONReader, under name: String) throws(JSONFailure) {
            switch reader.next {
            case UInt8(ascii: "{"):
                var name = name
                try reader.beginObject()
                writer.beginObject()
                while let key = try reader.nextKey() { try copyMember(key.string, &reader, under: &name) }
                writer.endObject()
            case UInt8(ascii: "["):
                try reader.beginArray()
                writer.beginArray()
                while try reader.nextElement() { try copy(&reader, under: name) }
                writer.endArray()
            case UInt8(ascii: "\""): writer.string(redactor.value(try reader.text().string, named: name))
            default:
                let start = reader.offset
                try reader.skipValue()
                writer.members(Array(reader.bytes[start..<reader.offset]))
            }
        }

        mutating func copyMember(
            _ member: String, _ reader: inout JSONReader, under name: inout String
        ) throws(JSONFailure) {
            switch member {
            case "key":
                writer.key(member)
                name = try reader.text().string
                writer.string(name)
            case "intValue", "bytesValue":
                let text = try reader.text().string
                let redacted = redactor.value(text, named: name)
                writer.key(redacted == text ? member : "stringValue")
                writer.string(redacted)
            default:
                writer.key(member)
                guard Self.digits.contains(member) else { return try copy(&reader, under: name) }
                writer.string(try reader.text().string)
            }
        }
    }
}
