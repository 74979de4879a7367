import Foundation
package import WaybillCore

/// OTLP's own rules for JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): names in camelCase, IDs
/// in hexadecimal, enums as numbers, integers of 64 bits as strings or numbers.
extension TraceRequest {
    /// Reads a request in JSON; members that are not known are passed over.
    ///
    /// - Parameter limit: Spans and events of spans; of those beyond only the number is told.
    package static func decode(json bytes: [UInt8], limit: Int) throws(SetDecodingFailure) -> TraceRequest {
        try SetDecodingFailure.decoding(bytes) { reader throws(JSONFailure) in
            var request = TraceRequest()
            try reader.members { key, reader throws(JSONFailure) in
                guard key == "resourceSpans" else { return try reader.skipValue() }
                try reader.elements { reader throws(JSONFailure) in try request.readResourceSpans(&reader, limit) }
            }
            return request
        }
    }

    private mutating func readResourceSpans(_ reader: inout JSONReader, _ limit: Int) throws(JSONFailure) {
        var resource = ReceivedResource()
        var request = self
        try reader.members { key, reader throws(JSONFailure) in
            switch key {
            case "resource":
                try reader.members { key, reader throws(JSONFailure) in
                    if key == "attributes" {
                        resource.attributes = try reader.attributes()
                    } else {
                        try reader.skipValue()
                    }
                }
            case "scopeSpans":
                try reader.elements { reader throws(JSONFailure) in
                    try reader.members { key, reader throws(JSONFailure) in
                        guard key == "spans" else { return try reader.skipValue() }
                        try reader.elements { reader throws(JSONFailure) in
                            request.add(try SpanFields(&reader), to: &resource, limit: limit)
                        }
                    }
                }
            default: try reader.skipValue()
            }
        }
        request.resources.append(resource)
        self = request
    }
}

extension SpanFields {
    fileprivate init(_ reader: inout JSONReader) throws(JSONFailure) {
        var fields = SpanFields()
        try reader.members { key, reader throws(JSONFailure) in
            switch key {
            case "traceId": fields.trace = try reader.hexadecimal()
            case "spanId": fields.id = try reader.hexadecimal()
            case "parentSpanId": fields.parent = try reader.hexadecimal()
            case "name": fields.name = try reader.text().string
            case "kind": fields.kind = Int(truncatingIfNeeded: try reader.number())
            case "flags": fields.flags = Int(truncatingIfNeeded: try reader.number())
            case "startTimeUnixNano": fields.startNanoseconds = try reader.number()
            case "endTimeUnixNano": fields.endNanoseconds = try reader.number()
            case "attributes": fields.attributes = try reader.attributes()
            case "events":
                try reader.elements { reader throws(JSONFailure) in fields.add(try ReceivedSpan.Event(&reader)) }
            case "links":
                try reader.elements { reader throws(JSONFailure) in
                    var (trace, span): ([UInt8], [UInt8]) = ([], [])
                    try reader.members { key, reader throws(JSONFailure) in
                        switch key {
                        case "traceId": trace = try reader.hexadecimal()
                        case "spanId": span = try reader.hexadecimal()
                        default: try reader.skipValue()
                        }
                    }
                    fields.addLink(trace: trace, span: span)
                }
            case "status":
                try reader.members { key, reader throws(JSONFailure) in
                    switch key {
                    case "code": fields.statusCode = Int(truncatingIfNeeded: try reader.number())
                    case "message": fields.statusMessage = try reader.text().string
                    default: try reader.skipValue()
                    }
                }
            default: try reader.skipValue()
            }
        }
        self = fields
    }
}

extension ReceivedSpan.Event {
    fileprivate init(_ reader: inout JSONReader) throws(JSONFailure) {
        var event = ReceivedSpan.Event()
        try reader.members { key, reader throws(JSONFailure) in
            switch key {
            case "timeUnixNano": event.atMicroseconds = try reader.number().microseconds
            case "name": event.name = try reader.text().string
            case "attributes": event.attributes = try reader.attributes()
            default: try reader.skipValue()
            }
        }
        self = event
    }
}

extension JSONReader {
    /// Hands over the members of an object, each of whose values must be read or skipped; those that are null are not
    /// there.
    fileprivate mutating func members(
        _ body: (String, inout JSONReader) throws(JSONFailure) -> Void
    ) throws(JSONFailure) {
        try beginObject()
        while let key = try nextKey() {
            if next == UInt8(ascii: "n") { try skipValue() } else { try body(key.string, &self) }
        }
    }

    fileprivate mutating func elements(_ body: (inout JSONReader) throws(JSONFailure) -> Void) throws(JSONFailure) {
        try beginArray()
        while try nextElement() { try body(&self) }
    }

    fileprivate mutating func attributes() throws(JSONFailure) -> Attributes {
        var attributes: Attributes = [:]
        try elements { reader throws(JSONFailure) in
            let (name, value) = try reader.keyValue()
            SpanFields.add(value.attribute, named: name, to: &attributes)
        }
        return attributes
    }

    private mutating func keyValue() throws(JSONFailure) -> (name: String, value: SpanValue) {
        var (name, value) = ("", SpanValue.none)
        try members { key, reader throws(JSONFailure) in
            switch key {
            case "key": name = try reader.text().string
            case "value": value = try reader.spanValue()
            default: try reader.skipValue()
            }
        }
        return (name, value)
    }

    private mutating func spanValue() throws(JSONFailure) -> SpanValue {
        var value = SpanValue.none
        try members { key, reader throws(JSONFailure) in
            switch key {
            case "stringValue": value = .scalar(.string(try reader.text().string))
            case "boolValue": value = .scalar(.bool(try reader.bool()))
            case "intValue": value = .scalar(.integer(Int(truncatingIfNeeded: try reader.number())))
            case "doubleValue": value = .scalar(.double(try reader.double()))
            case "bytesValue": value = .scalar(.string(try reader.text().string))
            case "arrayValue":
                var list: [SpanValue] = []
                try reader.values { reader throws(JSONFailure) in list.append(try reader.spanValue()) }
                value = .list(Array(list.prefix(SpanValue.limit)))
            case "kvlistValue":
                var members: [(name: String, value: SpanValue)] = []
                try reader.values { reader throws(JSONFailure) in members.append(try reader.keyValue()) }
                value = .map(Array(members.prefix(SpanValue.limit)))
            default: try reader.skipValue()
            }
        }
        return value
    }

    /// The list that `ArrayValue` and `KeyValueList` hold.
    private mutating func values(_ body: (inout JSONReader) throws(JSONFailure) -> Void) throws(JSONFailure) {
        try members { key, reader throws(JSONFailure) in
            guard key == "values" else { return try reader.skipValue() }
            try reader.elements(body)
        }
    }

    /// Whatever stands there, as bytes; none where it is no hexadecimal, so that its length tells.
    fileprivate mutating func hexadecimal() throws(JSONFailure) -> [UInt8] {
        let digits = Array(try text().string.utf8)
        guard digits.count % 2 == 0, digits.count <= 64 else { return [] }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index].hexadecimalValue, let low = digits[index + 1].hexadecimalValue else {
                return []
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// An integer of 64 bits, as a number or as a string of digits.
    fileprivate mutating func number() throws(JSONFailure) -> UInt64 {
        if next != UInt8(ascii: "\"") {
            return UInt64(bitPattern: Int64(try integer(in: -Limits.largestInteger...Limits.largestInteger)))
        }
        let text = try text()
        let digits = text.string
        if let value = UInt64(digits) { return value }
        if let value = Int64(digits) { return UInt64(bitPattern: value) }
        throw invalid(text, "an integer was expected")
    }

    /// A number, or one of the words that JSON has no number for.
    fileprivate mutating func double() throws(JSONFailure) -> Double {
        if next == UInt8(ascii: "\"") {
            let text = try text()
            switch text.string {
            case "NaN": return .nan
            case "Infinity": return .infinity
            case "-Infinity": return -.infinity
            default:
                guard let value = Double(text.string) else { throw invalid(text, "a number was expected") }
                return value
            }
        }
        switch try attributeValue() {
        case .integer(let value): return Double(value)
        case .double(let value): return value
        case .string, .bool: throw JSONFailure(.invalid, at: offset, "a number was expected")
        }
    }
}
