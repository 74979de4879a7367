import WaybillCore

/// A span received by OTLP, in OTLP's JSON.
struct OriginalSpan {
    /// The members with their values as JSON, without attributes and scope.
    private(set) var members: [(name: String, json: [UInt8])] = []
    /// The attributes as array elements.
    private(set) var attributes: [UInt8] = []
    private(set) var scope: [UInt8]?

    /// Returns `nil` for invalid JSON, as in a damaged store.
    init?(_ json: [UInt8]) {
        var (members, attributes, scope): ([(String, [UInt8])], [UInt8], [UInt8]?) = ([], [], nil)
        do throws(JSONFailure) {
            try JSONReader.read(json) { reader throws(JSONFailure) in
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    let name = key.string
                    reader.skipWhitespace()
                    let start = reader.offset
                    try reader.skipValue()
                    let value = json[start..<reader.offset]
                    switch name {
                    case "attributes": attributes = Array(value.dropFirst().dropLast())
                    case "scope": scope = Array(value)
                    default: members.append((name, Array(value)))
                    }
                }
            }
        } catch {
            return nil
        }
        (self.members, self.attributes, self.scope) = (members, attributes, scope)
    }

    static func redacting(_ json: [UInt8], by redactor: Redactor) -> [UInt8]? {
        var redaction = Redaction(redactor: redactor)
        do throws(JSONFailure) {
            try JSONReader.read(json) { reader throws(JSONFailure) in try redaction.copy(&reader, under: "") }
        } catch {
            return nil
        }
        return redaction.writer.bytes
    }

    /// Copies JSON, and redacts each text under the name of its attribute.
    private struct Redaction {
        let redactor: Redactor
        var writer = JSONWriter()

        init(redactor: Redactor) { self.redactor = redactor }

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

        private mutating func copyMember(
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
