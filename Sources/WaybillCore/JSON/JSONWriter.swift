/// Writes JSON (RFC 8259) into bytes: no spaces, members in the order in which they are written.
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
    /// What was written so far.
    package private(set) var bytes: [UInt8] = []
    /// Whether a value stands before the next one in the same array or object.
    private var needsComma = false

    /// A writer with room for about so many bytes.
    package init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    /// What was written so far, as text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Forgets what was written, and keeps the room for more.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    // MARK: Structure

    /// Ends a document of several lines' one: what comes next is a document of its own.
    package mutating func endLine() {
        bytes.append(0x0A)
        needsComma = false
    }

    /// Members that another writer has written, without the braces.
    package mutating func members(_ members: [UInt8]) {
        guard !members.isEmpty else { return }
        separate()
        bytes.append(contentsOf: members)
    }

    /// What another writer has written, as it is to stand there: whole lines, or members behind others.
    package mutating func copy(_ written: ArraySlice<UInt8>) { bytes.append(contentsOf: written) }

    package mutating func beginObject() { begin(UInt8(ascii: "{")) }
    package mutating func endObject() { end(UInt8(ascii: "}")) }
    package mutating func beginArray() { begin(UInt8(ascii: "[")) }
    package mutating func endArray() { end(UInt8(ascii: "]")) }

    /// A member's name, which must need no escapes; its value comes next.
    package mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        append(name)
        endKey()
    }

    /// A member's name; its value comes next.
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

    package mutating func integer(_ value: Int) { integer(Int64(value)) }

    package mutating func integer(_ value: Int64) {
        separate()
        bytes.append(decimal: value)
    }

    /// Always with a point or an exponent, so that it comes back as a double; `"nan"`, `"inf"` and `"-inf"`, which JSON
    /// lacks, as strings.
    package mutating func double(_ value: Double) {
        guard value.isFinite else { return string(value.description) }
        separate()
        bytes.append(contentsOf: value.description.utf8)
    }

    /// As Protocol Buffers have it in JSON: `"NaN"`, `"Infinity"` and `"-Infinity"` are strings.
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

    /// A word that needs no escapes.
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
