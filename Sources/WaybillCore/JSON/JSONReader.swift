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
