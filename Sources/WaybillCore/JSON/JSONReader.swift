/// Reads a JSON document (RFC 8259, UTF-8) value by value, without building a tree.
///
/// Strict: no byte-order mark, no comments, no lone surrogates unless they are to be replaced, no trailing text; skipped values are checked like the
/// others. The caller asks for what it expects; what is found instead is a ``JSONFailure``.
///
/// ## Usage
///
/// ```swift
/// try JSONReader.read(bytes) { reader throws(JSONFailure) in
///     try reader.beginObject()
///     while let key = try reader.nextKey() {
///         switch key {
///         case "sequence": sequence = try reader.integer(in: 1...100)
///         default: try reader.skipValue()
///         }
///     }
/// }
/// ```
package struct JSONReader {
    /// How deep arrays and objects may be nested.
    package static let depthLimit = 32

    /// Every access is behind a comparison with `count`: in a release build the buffer does not check.
    package let bytes: UnsafeBufferPointer<UInt8>
    /// The byte that is read next.
    package var offset = 0
    /// Whether half of a surrogate pair is read as U+FFFD. Default: false, it is malformed.
    package var replacesLoneSurrogates = false
    private var depth = 0
    /// Whether an array or object was just begun, so that no comma is due.
    private var isFirst = false

    /// A reader of bytes that outlive it.
    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Reads one whole document.
    package static func read<Value>(
        _ bytes: UnsafeBufferPointer<UInt8>, _ body: (inout JSONReader) throws(JSONFailure) -> Value
    ) throws(JSONFailure) -> Value {
        var reader = JSONReader(bytes)
        let value = try body(&reader)
        reader.skipWhitespace()
        guard reader.offset == bytes.count else { throw reader.malformed("text after the end of the document") }
        return value
    }

    /// Reads one whole document.
    package static func read<Value>(
        _ bytes: [UInt8], _ body: (inout JSONReader) throws(JSONFailure) -> Value
    ) throws(JSONFailure) -> Value {
        try bytes.withUnsafeBufferPointer { buffer throws(JSONFailure) in try read(buffer, body) }
    }

    // MARK: Structure

    /// Goes into an object; then ``nextKey()`` until it gives nil.
    package mutating func beginObject() throws(JSONFailure) { try begin(UInt8(ascii: "{"), "an object") }

    /// The next member's name, after which its value must be read or skipped; nil at the end of the object.
    package mutating func nextKey() throws(JSONFailure) -> JSONText? {
        guard try !ends(with: UInt8(ascii: "}")) else { return nil }
        guard current == UInt8(ascii: "\"") else { throw malformed("a member's name was expected") }
        let key = try scanString()
        skipWhitespace()
        guard current == UInt8(ascii: ":") else { throw malformed("a colon was expected") }
        offset += 1
        return key
    }

    /// Goes into an array; then ``nextElement()`` until it gives false.
    package mutating func beginArray() throws(JSONFailure) { try begin(UInt8(ascii: "["), "an array") }

    /// Whether there is one more element, which must be read or skipped; false at the end of the array.
    package mutating func nextElement() throws(JSONFailure) -> Bool { try !ends(with: UInt8(ascii: "]")) }

    private mutating func begin(_ bracket: UInt8, _ expected: StaticString) throws(JSONFailure) {
        guard next == bracket else { throw unexpected(expected) }
        guard depth < Self.depthLimit else { throw malformed("nested deeper than \(Self.depthLimit)") }
        offset += 1
        depth += 1
        isFirst = true
    }

    private mutating func ends(with bracket: UInt8) throws(JSONFailure) -> Bool {
        defer { isFirst = false }
        if next == bracket {
            offset += 1
            depth -= 1
            return true
        }
        guard !isFirst else { return false }
        guard current == UInt8(ascii: ",") else { throw malformed("a comma was expected") }
        offset += 1
        skipWhitespace()
        return false
    }

    // MARK: Values

    /// Checks a value of any kind and leaves it behind.
    package mutating func skipValue() throws(JSONFailure) {
        switch next {
        case UInt8(ascii: "{"):
            try beginObject()
            while try nextKey() != nil { try skipValue() }
        case UInt8(ascii: "["):
            try beginArray()
            while try nextElement() { try skipValue() }
        case UInt8(ascii: "\""): _ = try scanString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try scanNumber()
        case UInt8(ascii: "t"): try skip("true")
        case UInt8(ascii: "f"): try skip("false")
        case UInt8(ascii: "n"): try skip("null")
        default: throw malformed(offset < bytes.count ? "a value was expected" : "the document ends too early")
        }
    }

    /// `true` or `false`.
    package mutating func bool() throws(JSONFailure) -> Bool {
        switch next {
        case UInt8(ascii: "t"):
            try skip("true")
            return true
        case UInt8(ascii: "f"):
            try skip("false")
            return false
        default: throw unexpected("true or false")
        }
    }

    /// A string, to be compared with what is expected.
    package mutating func text() throws(JSONFailure) -> JSONText {
        guard next == UInt8(ascii: "\"") else { throw unexpected("a string") }
        return try scanString()
    }

    private mutating func skip(_ literal: StaticString) throws(JSONFailure) {
        for index in 0..<literal.utf8CodeUnitCount {
            guard current == literal.utf8Start[index] else { throw malformed("a value was expected") }
            offset += 1
        }
    }

    // MARK: Bytes

    /// The byte at `offset`; 0, which is nowhere right, at the end.
    var current: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    /// The first byte of the next value.
    package var next: UInt8 {
        mutating get {
            skipWhitespace()
            return current
        }
    }

    package mutating func skipWhitespace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    // MARK: Failures

    func malformed(_ message: String) -> JSONFailure { JSONFailure(.malformed, at: offset, message) }

    /// The next value is of another kind than expected, or it is no value at all.
    func unexpected(_ expected: StaticString) -> JSONFailure {
        var ahead = self
        do throws(JSONFailure) {
            try ahead.skipValue()
            return JSONFailure(.invalid, at: offset, "\(expected) was expected")
        } catch {
            return error
        }
    }
}

/// Strings and numbers by the grammar of RFC 8259, sections 6 and 7.
extension JSONReader {
    /// Checks the string that starts at the current byte, a quotation mark, and leaves it behind.
    mutating func scanString() throws(JSONFailure) -> JSONText {
        let start = offset + 1
        var index = start
        var isEscaped = false
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""):
                offset = index + 1
                return JSONText(bytes: UnsafeBufferPointer(rebasing: bytes[start..<index]), isEscaped: isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                index = try endOfEscape(at: index)
            case 0x20...0x7F: index += 1
            case 0x80...: index = try endOfScalar(at: index)
            default: throw JSONFailure(.malformed, at: index, "a control character in a string")
            }
        }
        throw JSONFailure(.malformed, at: index, "the document ends too early")
    }

    private func endOfEscape(at index: Int) throws(JSONFailure) -> Int {
        switch byte(at: index + 1) {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            return index + 2
        case UInt8(ascii: "u"):
            let first = try codeUnit(at: index + 2)
            guard first & 0xF800 == 0xD800 else { return index + 6 }
            guard first < 0xDC00, byte(at: index + 6) == UInt8(ascii: "\\"), byte(at: index + 7) == UInt8(ascii: "u"),
                try codeUnit(at: index + 8) & 0xFC00 == 0xDC00
            else {
                if replacesLoneSurrogates { return index + 6 }
                throw JSONFailure(.malformed, at: index, "half of a surrogate pair")
            }
            return index + 12
        default: throw JSONFailure(.malformed, at: index, "an unknown escape in a string")
        }
    }

    private func codeUnit(at index: Int) throws(JSONFailure) -> UInt32 {
        var value: UInt32 = 0
        for position in index..<(index + 4) {
            guard let digit = byte(at: position).hexadecimalValue else {
                throw JSONFailure(.malformed, at: position, "an unknown escape in a string")
            }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    /// Steps over a scalar of two to four bytes, by table 3-7 of the Unicode standard.
    private func endOfScalar(at index: Int) throws(JSONFailure) -> Int {
        let first = bytes[index]
        let second = byte(at: index + 1)
        let count: Int
        switch first {
        case 0xC2...0xDF: count = (0x80...0xBF).contains(second) ? 2 : 0
        case 0xE0: count = (0xA0...0xBF).contains(second) ? 3 : 0
        case 0xED: count = (0x80...0x9F).contains(second) ? 3 : 0
        case 0xE1...0xEF: count = (0x80...0xBF).contains(second) ? 3 : 0
        case 0xF0: count = (0x90...0xBF).contains(second) ? 4 : 0
        case 0xF1...0xF3: count = (0x80...0xBF).contains(second) ? 4 : 0
        case 0xF4: count = (0x80...0x8F).contains(second) ? 4 : 0
        default: count = 0
        }
        guard count > 0, count < 3 || byte(at: index + 2) & 0xC0 == 0x80,
            count < 4 || byte(at: index + 3) & 0xC0 == 0x80
        else {
            throw JSONFailure(.malformed, at: index, "not UTF-8")
        }
        return index + count
    }

    /// Checks the number that starts at the current byte and leaves it behind; whether it has neither fraction nor
    /// exponent.
    mutating func scanNumber() throws(JSONFailure) -> Bool {
        if current == UInt8(ascii: "-") { offset += 1 }
        let start = offset
        try skipDigits()
        guard bytes[start] != UInt8(ascii: "0") || offset == start + 1 else {
            throw JSONFailure(.malformed, at: start, "a number with a leading zero")
        }
        var isInteger = true
        if current == UInt8(ascii: ".") {
            isInteger = false
            offset += 1
            try skipDigits()
        }
        if current | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            offset += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { offset += 1 }
            try skipDigits()
        }
        return isInteger
    }

    private mutating func skipDigits() throws(JSONFailure) {
        let start = offset
        while current.isDigit { offset += 1 }
        guard offset > start else { throw malformed("a digit was expected") }
    }

    private func byte(at index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }
}

/// Says where in a document something is, by RFC 6901: `/sources/0/clocks`.
///
/// Found by reading the document again, so that reading keeps no account of where it is.
package enum JSONPointer {
    /// The innermost value that `offset` lies in, or that starts there; as far as the document can be read.
    package static func path(to offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        var reader = JSONReader(bytes)
        var path = ""
        while let token = step(&reader, towards: offset) { path += "/" + escaped(token) }
        return path
    }

    /// Goes to the member or element that holds `offset`, and gives its name; nil when it is in none.
    private static func step(_ reader: inout JSONReader, towards offset: Int) -> String? {
        let first = reader.next
        guard reader.offset < offset else { return nil }
        do throws(JSONFailure) {
            switch first {
            case UInt8(ascii: "{"):
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    reader.skipWhitespace()
                    if passes(offset, reader) { return key.string }
                    try reader.skipValue()
                }
            case UInt8(ascii: "["):
                try reader.beginArray()
                var index = 0
                while try reader.nextElement() {
                    reader.skipWhitespace()
                    if passes(offset, reader) { return "\(index)" }
                    try reader.skipValue()
                    index += 1
                }
            default: break
            }
        } catch {
            // The fault itself, between members.
        }
        return nil
    }

    /// Whether `offset` lies in the value that comes next.
    private static func passes(_ offset: Int, _ reader: JSONReader) -> Bool {
        var ahead = reader
        do throws(JSONFailure) { try ahead.skipValue() } catch { return true }
        return offset < ahead.offset
    }

    private static func escaped(_ token: String) -> String {
        var result = ""
        for scalar in token.unicodeScalars.prefix(64) {
            switch scalar {
            case "~": result += "~0"
            case "/": result += "~1"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// Why a JSON document, or a value in it, could not be read.
package struct JSONFailure: Error, Hashable {
    package enum Kind: Sendable {
        /// Not JSON (RFC 8259) in UTF-8, or nested too deep.
        case malformed
        /// JSON, but not what was expected there.
        case invalid
    }

    package var kind: Kind
    /// Where, in bytes from the start of the document.
    package var offset: Int
    /// One sentence without a full stop.
    package var message: String

    package init(_ kind: Kind, at offset: Int, _ message: String) {
        self.kind = kind
        self.offset = offset
        self.message = message
    }
}
