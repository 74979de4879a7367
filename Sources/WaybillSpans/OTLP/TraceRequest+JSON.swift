import Foundation
package import WaybillCore

/// OTLP's rules for JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): names in camelCase, IDs
/// in hexadecimal, enums as numbers, integers of 64 bits as strings or numbers.
extension TraceRequest {
    /// Ignores unknown members, and only counts spans beyond `limit`. It also accepts enums by name, null elements and
    /// lone surrogates. Invalid spans are refused one by one, because exporters don't send a request again.
    package static func decode(json bytes: [UInt8], limit: Int) throws(SetDecodingFailure) -> TraceRequest {
        try SetDecodingFailure.decoding(bytes) { reader throws(JSONFailure) in
            var request = TraceRequest()
            reader.replacesLoneSurrogates = true
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
                        var attributes = SpanAttributes()
                        try reader.read(&attributes)
                        resource.attributes = attributes.flat
                    } else {
                        try reader.skipValue()
                    }
                }
            case "scopeSpans":
                try reader.elements { reader throws(JSONFailure) in
                    var scope = SpanFields.Scope()
                    let first = resource.spans.count
                    try reader.members { key, reader throws(JSONFailure) in
                        switch key {
                        case "scope": scope = try SpanFields.Scope(&reader)
                        case "spans":
                            try reader.elements { reader throws(JSONFailure) in
                                try request.addSpan(&reader, to: &resource, limit: limit)
                            }
                        default: try reader.skipValue()
                        }
                    }
                    resource.setScope(scope, ofSpansFrom: first)
                }
            default: try reader.skipValue()
            }
        }
        request.resources.append(resource)
        self = request
    }

    private mutating func addSpan(
        _ reader: inout JSONReader, to resource: inout ReceivedResource, limit: Int
    ) throws(JSONFailure) {
        var ahead = reader
        do throws(JSONFailure) {
            add(try SpanFields(&ahead), to: &resource, limit: limit)
            reader = ahead
        } catch {
            guard error.kind == .invalid else { throw error }
            try reader.skipValue()
            add(SpanFault(reason: "it cannot be read: \(error.message)"))
        }
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
            case "traceState": fields.traceState = try reader.text().string
            case "name": fields.name = try reader.text().string
            case "kind": fields.kind = try reader.enumeration(SpanFields.kinds)
            case "flags": fields.flags = try reader.count32()
            case "startTimeUnixNano": fields.startNanoseconds = try reader.nanoseconds()
            case "endTimeUnixNano": fields.endNanoseconds = try reader.nanoseconds()
            case "attributes": try reader.read(&fields.attributes)
            case "droppedAttributesCount": fields.attributes.droppedCount += try reader.count32()
            case "events": try reader.elements { reader throws(JSONFailure) in fields.add(try Event(&reader)) }
            case "droppedEventsCount": fields.droppedEventCount += try reader.count32()
            case "links": try reader.elements { reader throws(JSONFailure) in fields.add(try Link(&reader)) }
            case "droppedLinksCount": fields.droppedLinkCount += try reader.count32()
            case "status":
                try reader.members { key, reader throws(JSONFailure) in
                    switch key {
                    case "code": fields.statusCode = try reader.enumeration(SpanFields.statusCodes)
                    case "message": fields.statusMessage = try reader.text().string
                    default: try reader.skipValue()
                    }
                }
            default: try reader.skipValue()
            }
        }
        self = fields
    }

    /// The names in trace.proto, by number.
    private static let kinds = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"].map {
        "SPAN_KIND_\($0)"
    }
    private static let statusCodes = ["UNSET", "OK", "ERROR"].map { "STATUS_CODE_\($0)" }
}

extension SpanFields.Event {
    fileprivate init(_ reader: inout JSONReader) throws(JSONFailure) {
        var event = Self()
        try reader.members { key, reader throws(JSONFailure) in
            switch key {
            case "timeUnixNano": event.nanoseconds = try reader.nanoseconds()
            case "name": event.name = try reader.text().string
            case "attributes": try reader.read(&event.attributes)
            case "droppedAttributesCount": event.attributes.droppedCount += try reader.count32()
            default: try reader.skipValue()
            }
        }
        self = event
    }
}

extension SpanFields.Link {
    fileprivate init(_ reader: inout JSONReader) throws(JSONFailure) {
        var link = Self()
        try reader.members { key, reader throws(JSONFailure) in
            switch key {
            case "traceId": link.trace = try reader.hexadecimal()
            case "spanId": link.span = try reader.hexadecimal()
            case "traceState": link.traceState = try reader.text().string
            case "flags": link.flags = try reader.count32()
            case "attributes": try reader.read(&link.attributes)
            case "droppedAttributesCount": link.attributes.droppedCount += try reader.count32()
            default: try reader.skipValue()
            }
        }
        self = link
    }
}

extension SpanFields.Scope {
    fileprivate init(_ reader: inout JSONReader) throws(JSONFailure) {
        var scope = Self()
        try reader.members { key, reader throws(JSONFailure) in
            switch key {
            case "name": scope.name = try reader.text().string
            case "version": scope.version = try reader.text().string
            case "attributes": try reader.read(&scope.attributes)
            case "droppedAttributesCount": scope.attributes.droppedCount += try reader.count32()
            default: try reader.skipValue()
            }
        }
        self = scope
    }
}

extension JSONReader {
    /// Passes on the members of an object, except null ones. `body` must read or skip each value.
    mutating func members(
        _ body: (String, inout JSONReader) throws(JSONFailure) -> Void
    ) throws(JSONFailure) {
        try beginObject()
        while let key = try nextKey() {
            let name = key.string
            if let right = Self.camelCase[name] {
                throw invalid(key, "`\(name)` is no name of OTLP's JSON: use `\(right)`")
            }
            if next == UInt8(ascii: "n") { try skipValue() } else { try body(name, &self) }
        }
    }

    /// OTLP's names by those of Protocol Buffers, which are an error in JSON. Otherwise their values would be ignored.
    private static let camelCase = Dictionary(
        uniqueKeysWithValues: [
            "resourceSpans", "scopeSpans", "traceId", "spanId", "parentSpanId", "traceState", "startTimeUnixNano",
            "endTimeUnixNano", "timeUnixNano", "droppedAttributesCount", "droppedEventsCount", "droppedLinksCount",
            "stringValue", "boolValue", "intValue", "doubleValue", "bytesValue", "arrayValue", "kvlistValue",
        ].map { name in
            (name.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined(), name)
        })

    mutating func elements(_ body: (inout JSONReader) throws(JSONFailure) -> Void) throws(JSONFailure) {
        try beginArray()
        while try nextElement() { if next == UInt8(ascii: "n") { try skipValue() } else { try body(&self) } }
    }

    mutating func read(_ attributes: inout SpanAttributes) throws(JSONFailure) {
        var read = attributes
        try elements { reader throws(JSONFailure) in read.add(try reader.keyValue()) }
        attributes = read
    }

    private mutating func keyValue() throws(JSONFailure) -> SpanAttribute {
        var attribute = SpanAttribute(name: "", value: .none)
        try members { key, reader throws(JSONFailure) in
            switch key {
            case "key": attribute.name = try reader.text().string
            case "value": attribute.value = try reader.spanValue()
            default: try reader.skipValue()
            }
        }
        return attribute
    }

    private mutating func spanValue() throws(JSONFailure) -> SpanValue {
        var value = SpanValue.none
        try members { key, reader throws(JSONFailure) in
            switch key {
            case "stringValue": value = .scalar(.string(try reader.text().string))
            case "boolValue": value = .scalar(.bool(try reader.bool()))
            case "intValue":
                let digits = try reader.digits()
                // A number beyond 64 bits is kept as text.
                value = .scalar(Int64(digits).map(AttributeValue.integer) ?? .string(digits))
            case "doubleValue": value = .scalar(try reader.double())
            case "bytesValue": value = .bytes(try reader.text().string)
            case "arrayValue":
                var list: [SpanValue] = []
                try reader.values { reader throws(JSONFailure) in list.append(try reader.spanValue()) }
                value = .list(Array(list.prefix(SpanValue.limit)))
            case "kvlistValue":
                var members: [SpanAttribute] = []
                try reader.values { reader throws(JSONFailure) in members.append(try reader.keyValue()) }
                value = .map(Array(members.prefix(SpanValue.limit)))
            default: try reader.skipValue()
            }
        }
        return value
    }

    private mutating func values(_ body: (inout JSONReader) throws(JSONFailure) -> Void) throws(JSONFailure) {
        try members { key, reader throws(JSONFailure) in
            guard key == "values" else { return try reader.skipValue() }
            try reader.elements(body)
        }
    }

    /// Returns no bytes for invalid digits, which the caller finds by the length.
    mutating func hexadecimal() throws(JSONFailure) -> [UInt8] {
        let digits = try text().string.utf8
        return digits.count <= 64 ? digits.hexadecimalBytes ?? [] : []
    }

    /// The digits of an integer of any size, as a number or a string.
    private mutating func digits() throws(JSONFailure) -> String {
        if next != UInt8(ascii: "\"") {
            let (start, text) = (offset, try numberText())
            if text.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: "-") }) { return text }
            // Some writers use exponents, as `1.79e18`.
            if let value = Double(text).flatMap({ Int64(exactly: $0) }) { return "\(value)" }
            throw JSONFailure(.invalid, at: start, "an integer was expected")
        }
        let text = try text()
        let digits = text.string
        let unsigned = digits.utf8.first == UInt8(ascii: "-") ? digits.utf8.dropFirst() : digits.utf8[...]
        guard !unsigned.isEmpty, unsigned.allSatisfy(\.isDigit) else { throw invalid(text, "an integer was expected") }
        return digits
    }

    mutating func nanoseconds() throws(JSONFailure) -> UInt64 {
        skipWhitespace()
        let (start, digits) = (offset, try digits())
        guard let value = UInt64(digits) else {
            throw JSONFailure(.invalid, at: start, "nanoseconds since 1970 in 64 bits were expected")
        }
        return value
    }

    mutating func count32() throws(JSONFailure) -> Int {
        skipWhitespace()
        let (start, digits) = (offset, try digits())
        guard let value = UInt32(digits) else {
            throw JSONFailure(.invalid, at: start, "an integer of 32 bits was expected")
        }
        return Int(value)
    }

    /// The number of an enum's case, given as a number or a name.
    mutating func enumeration(_ names: [String]) throws(JSONFailure) -> Int {
        guard next == UInt8(ascii: "\"") else { return try integer(in: Int(Int32.min)...Int(Int32.max)) }
        let text = try text()
        guard let number = names.firstIndex(of: text.string) ?? Int(text.string) else {
            throw invalid(text, "a number, or a name such as \(names.last ?? ""), was expected")
        }
        return number
    }

    /// A number, or a word such as `NaN`. A number that is too large is kept as text.
    private mutating func double() throws(JSONFailure) -> AttributeValue {
        let isText = next == UInt8(ascii: "\"")
        let (start, text) = (offset, isText ? try text().string : try numberText())
        switch text {
        case "NaN": return .double(.nan)
        case "Infinity": return .double(.infinity)
        case "-Infinity": return .double(-.infinity)
        default:
            guard text.utf8.allSatisfy({ $0.isDigit || "+-.eE".utf8.contains($0) }), let value = Double(text) else {
                throw JSONFailure(.invalid, at: start, "a number was expected")
            }
            return value.isFinite ? .double(value) : .string(text)
        }
    }
}

extension Collection<UInt8> {
    /// The bytes that pairs of hexadecimal digits stand for; `nil` if there is anything else.
    package var hexadecimalBytes: [UInt8]? {
        let digits = compactMap(\.hexadecimalValue)
        guard digits.count == count, count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
