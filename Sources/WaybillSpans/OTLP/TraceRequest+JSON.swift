import Foundation
package import WaybillCore

extension TraceRequest {
    /// Ignores unknown members, and only counts spans beyond `limit`. It also accepts enums by name, null elements and
    /// lone surrogates. Invalid spans are refused one by one, because exporters don't send a request again.
    package static func decode(json bytes: [UInt8], limit: Int) throws(SetDecodingFailure) -> TraceRequest {
        try SetDecodingFailure.decoding(bytes) { reader throws(JSONFailure) in
            reader.replacesLoneSurrogates = true
            var message = JSONMessageReader(json: reader)
            defer { reader = message.json }
            return try TraceRequest(&message, limit: limit)
        }
    }
}

/// OTLP's rules for JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): names in camelCase, IDs
/// in hexadecimal, enums as numbers, integers of 64 bits as strings or numbers.
private struct JSONMessageReader: MessageReader {
    var json: JSONReader

    mutating func fields<Field: CodingKey>(
        _ body: (Field, inout Self) throws(JSONFailure) -> Void
    ) throws(JSONFailure) {
        try json.beginObject()
        while let key = try json.nextKey() {
            let name = key.string
            if let field = Field(stringValue: name), !isNull {
                try body(field, &self)
            } else {
                // The names of Protocol Buffers are an error in JSON. Otherwise their values would be ignored.
                let right = name.camelCase
                guard right == name || Field(stringValue: right) == nil else {
                    throw json.invalid(key, "`\(name)` is no name of OTLP's JSON: use `\(right)`")
                }
                try skip()
            }
        }
    }

    mutating func elements(_ body: (inout Self) throws(JSONFailure) -> Void) throws(JSONFailure) {
        try json.beginArray()
        while try json.nextElement() { if isNull { try skip() } else { try body(&self) } }
    }

    private var isNull: Bool { mutating get { json.next == UInt8(ascii: "n") } }

    private var isText: Bool { mutating get { json.next == UInt8(ascii: "\"") } }

    mutating func skip() throws(JSONFailure) { try json.skipValue() }

    mutating func span() throws(JSONFailure) -> Result<ReceivedSpan, SpanFault> {
        let start = self
        do throws(JSONFailure) { return try ReceivedSpan.read(&self) } catch {
            guard error.kind == .invalid else { throw error }
            self = start
            try skip()
            return .failure(SpanFault(reason: "it cannot be read: \(error.message)"))
        }
    }

    mutating func text() throws(JSONFailure) -> String { try json.text().string }

    /// Returns no bytes for invalid digits, which the caller finds by the length.
    mutating func id() throws(JSONFailure) -> [UInt8] {
        let digits = try text().utf8
        return digits.count <= 64 ? digits.hexadecimalBytes ?? [] : []
    }

    mutating func base64() throws(JSONFailure) -> String { try text() }

    mutating func bool() throws(JSONFailure) -> Bool { try json.bool() }

    /// A number beyond 64 bits is kept as text.
    mutating func integer() throws(JSONFailure) -> AttributeValue {
        let digits = try digits()
        return Int64(digits).map(AttributeValue.integer) ?? .string(digits)
    }

    /// The digits of an integer of any size, as a number or a string.
    private mutating func digits() throws(JSONFailure) -> String {
        guard isText else {
            let (start, text) = (json.offset, try json.numberText())
            if text.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: "-") }) { return text }
            // Some writers use exponents, as `1.79e18`.
            if let value = Double(text).flatMap({ Int64(exactly: $0) }) { return "\(value)" }
            throw JSONFailure(.invalid, at: start, "an integer was expected")
        }
        let text = try json.text()
        let digits = text.string
        let unsigned = digits.utf8.first == UInt8(ascii: "-") ? digits.utf8.dropFirst() : digits.utf8[...]
        guard !unsigned.isEmpty, unsigned.allSatisfy(\.isDigit) else {
            throw json.invalid(text, "an integer was expected")
        }
        return digits
    }

    mutating func nanoseconds() throws(JSONFailure) -> UInt64 {
        try integer(UInt64.self, "nanoseconds since 1970 in 64 bits were expected")
    }

    mutating func count32() throws(JSONFailure) -> Int {
        Int(try integer(UInt32.self, "an integer of 32 bits was expected"))
    }

    private mutating func integer<Value: FixedWidthInteger>(
        _ type: Value.Type, _ expected: String
    ) throws(JSONFailure) -> Value {
        json.skipWhitespace()
        let (start, digits) = (json.offset, try digits())
        guard let value = Value(digits) else { throw JSONFailure(.invalid, at: start, expected) }
        return value
    }

    mutating func enumeration(_ names: [String]) throws(JSONFailure) -> Int {
        guard isText else { return try json.integer(in: Int(Int32.min)...Int(Int32.max)) }
        let text = try json.text()
        guard let number = names.firstIndex(of: text.string) ?? Int(text.string) else {
            throw json.invalid(text, "a number, or a name such as \(names.last ?? ""), was expected")
        }
        return number
    }

    /// A number, or a word such as `NaN`. A number that is too large is kept as text.
    mutating func double() throws(JSONFailure) -> AttributeValue {
        let isText = isText
        let (start, text) = (json.offset, isText ? try text() : try json.numberText())
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
