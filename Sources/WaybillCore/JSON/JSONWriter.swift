package import Foundation

/// Writes JSON (RFC 8259) without spaces, with members in the order of the calls.
///
/// ## Usage
///
/// ```swift
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.key("sequence")
/// writer.integer(17)
/// writer.endObject()
/// ```
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    // MARK: Structure

    package mutating func endLine() {
        bytes.append(0x0A)
        needsComma = false
    }

    package mutating func members(_ members: [UInt8]) {
        guard !members.isEmpty else { return }
        separate()
        bytes.append(contentsOf: members)
    }

    package mutating func json(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
        needsComma = true
    }

    /// Appends the unchanged output of another writer: whole lines, or members after others.
    package mutating func copy(_ written: ArraySlice<UInt8>) { bytes.append(contentsOf: written) }

    package mutating func beginObject() { begin(UInt8(ascii: "{")) }
    package mutating func endObject() { end(UInt8(ascii: "}")) }
    package mutating func beginArray() { begin(UInt8(ascii: "[")) }
    package mutating func endArray() { end(UInt8(ascii: "]")) }

    /// Writes a member's name that needs no escapes. Its value must follow.
    package mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        append(name)
        endKey()
    }

    package mutating func key(_ name: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        appendEscaped(name)
        endKey()
    }

    private mutating func begin(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func endKey() {
        append("\":")
        needsComma = false
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    // MARK: Values

    package mutating func integer(_ value: Int64) {
        separate()
        bytes.append(decimal: value)
    }

    /// Always writes a point or an exponent, which preserves the type. Writes infinities and NaN as strings.
    package mutating func double(_ value: Double) {
        guard value.isFinite else { return string(value.description) }
        separate()
        bytes.append(contentsOf: value.description.utf8)
    }

    /// Writes a double as Protocol Buffers do in JSON, with the strings `"NaN"`, `"Infinity"` and `"-Infinity"`.
    package mutating func protobufDouble(_ value: Double) {
        if value.isFinite {
            double(value)
        } else if value.isNaN {
            word("NaN")
        } else {
            string(value < 0 ? "-Infinity" : "Infinity")
        }
    }

    package mutating func bool(_ value: Bool) {
        separate()
        append(value ? "true" : "false")
    }

    package mutating func null() {
        separate()
        append("null")
    }

    package mutating func string(_ value: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        appendEscaped(value)
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func word(_ value: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        append(value)
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func guid(_ value: GUID) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        value.writeText { bytes.append($0) }
        bytes.append(UInt8(ascii: "\""))
    }

    // MARK: Bytes

    private mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func appendEscaped(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            var start = 0
            for index in utf8.indices
            where utf8[index] < 0x20 || utf8[index] == UInt8(ascii: "\"") || utf8[index] == UInt8(ascii: "\\") {
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<index]))
                appendEscape(utf8[index])
                start = index + 1
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start...]))
        }
    }

    private mutating func appendEscape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append("\\\"")
        case UInt8(ascii: "\\"): append("\\\\")
        case 0x0A: append("\\n")
        case 0x0D: append("\\r")
        case 0x09: append("\\t")
        default:
            append(byte < 0x10 ? "\\u000" : "\\u001")
            let digit = byte & 15
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}

extension [UInt8] {
    package mutating func append(decimal value: Int64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DecimalDigits.mostByteCount) { digits in
            let end = DecimalDigits.write(value, to: digits, at: 0)
            append(contentsOf: UnsafeBufferPointer(rebasing: digits[..<end]))
        }
    }
}

package enum DecimalDigits {
    package static var mostByteCount: Int { 20 }

    /// Writes a number at `start`, with room for ``mostByteCount`` bytes, and returns the index after it.
    package static func write(_ value: Int64, to bytes: UnsafeMutableBufferPointer<UInt8>, at start: Int) -> Int {
        var rest = value.magnitude
        var place = start + digitCount(rest)
        if value < 0 {
            bytes[start] = UInt8(ascii: "-")
            place += 1
        }
        let end = place
        while rest >= 100 {
            let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
            rest = quotient
            place -= 2
            write(pair: pair, to: bytes, at: place)
        }
        if rest >= 10 {
            write(pair: rest, to: bytes, at: place - 2)
        } else {
            bytes[place - 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest)
        }
        return end
    }

    private static func digitCount(_ magnitude: UInt64) -> Int {
        // An `Int64` has at most 19 digits, and 10 to the power of 19 fits in a `UInt64`.
        var (count, power): (Int, UInt64) = (1, 10)
        while magnitude >= power, count < 19 { (count, power) = (count + 1, power * 10) }
        return count
    }

    private static func write(pair: UInt64, to bytes: UnsafeMutableBufferPointer<UInt8>, at place: Int) {
        let (tens, units) = UInt8(truncatingIfNeeded: pair).quotientAndRemainder(dividingBy: 10)
        bytes[place] = UInt8(ascii: "0") + tens
        bytes[place + 1] = UInt8(ascii: "0") + units
    }
}

/// A validated string inside a document, without a copy. It is valid as long as its reader's bytes.
package struct JSONText {
    let bytes: UnsafeBufferPointer<UInt8>
    let isEscaped: Bool

    package var string: String {
        isEscaped
            ? String(decoding: JSONEscapes.decoded(Array(bytes)), as: UTF8.self)
            : String(decoding: bytes, as: UTF8.self)
    }

    package static func ~= (expected: StaticString, text: JSONText) -> Bool {
        if text.isEscaped { return text.isEscaped(expected) }
        guard let start = text.bytes.baseAddress else { return expected.utf8CodeUnitCount == 0 }
        return text.bytes.count == expected.utf8CodeUnitCount
            && memcmp(start, expected.utf8Start, text.bytes.count) == 0
    }

    /// Not inlined, because a rare case would take 200 bytes of each `case` in a reader.
    @inline(never)
    private func isEscaped(_ expected: StaticString) -> Bool { string == expected.description }
}

/// For answers and `--json`. Sets use ``JSONWriter``, because this encoder writes whole doubles without a point.
extension JSONEncoder {
    package static func waybill() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .custom { path in MemberKey(stringValue: path.last?.stringValue.snakeCase ?? "") }
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }
}

extension JSONDecoder {
    package static func waybill() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { path in MemberKey(stringValue: path.last?.stringValue.camelCase ?? "") }
        return decoder
    }
}

extension String {
    /// A property's name as answers have it: `begunMicroseconds` is `begun_us`.
    package var snakeCase: String {
        let name = hasSuffix("Microseconds") ? dropLast(12) + "Us" : self[...]
        var result = ""
        for character in name {
            if character.isUppercase { result += "_" }
            result += character.lowercased()
        }
        return result
    }

    package var camelCase: String {
        let words = split(separator: "_", omittingEmptySubsequences: false)
        guard let first = words.first else { return self }
        return words.dropFirst().enumerated().reduce(into: String(first)) { result, word in
            let isUnit = word.offset == words.count - 2 && word.element == "us"
            result += isUnit ? "Microseconds" : word.element.prefix(1).uppercased() + word.element.dropFirst()
        }
    }
}
