/// Reads a JSON document (RFC 8259, UTF-8) value by value, without building a tree. The reader is strict: it rejects
/// byte-order marks, comments, trailing text and, by default, lone surrogates. It checks skipped values, too. If the
/// document has another value than the caller asks for, the reader throws a ``JSONFailure``.
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
    package static let depthLimit = 32

    /// Every access compares with `count` first, because the buffer does no bounds checks in release builds.
    package let bytes: UnsafeBufferPointer<UInt8>
    package var offset = 0
    /// Whether to replace lone surrogates by U+FFFD, instead of failing.
    package var replacesLoneSurrogates = false
    private var depth = 0
    private var isFirst = false

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    package static func read<Value>(
        _ bytes: UnsafeBufferPointer<UInt8>, _ body: (inout JSONReader) throws(JSONFailure) -> Value
    ) throws(JSONFailure) -> Value {
        var reader = JSONReader(bytes)
        let value = try body(&reader)
        reader.skipWhitespace()
        guard reader.offset == bytes.count else { throw reader.malformed("text after the end of the document") }
        return value
    }

    package static func read<Value>(
        _ bytes: [UInt8], _ body: (inout JSONReader) throws(JSONFailure) -> Value
    ) throws(JSONFailure) -> Value {
        try bytes.withUnsafeBufferPointer { buffer throws(JSONFailure) in try read(buffer, body) }
    }

    // MARK: Structure

    /// Returns where the object begins.
    @discardableResult
    package mutating func beginObject() throws(JSONFailure) -> Int { try begin(UInt8(ascii: "{"), "an object") }

    /// Returns the next member's name, or `nil` at the end of the object. Read or skip its value before the next call.
    package mutating func nextKey() throws(JSONFailure) -> JSONText? {
        guard try !ends(with: UInt8(ascii: "}")) else { return nil }
        guard current == UInt8(ascii: "\"") else { throw malformed("a member's name was expected") }
        let key = try scanString()
        skipWhitespace()
        guard current == UInt8(ascii: ":") else { throw malformed("a colon was expected") }
        offset += 1
        return key
    }

    @discardableResult
    package mutating func beginArray() throws(JSONFailure) -> Int { try begin(UInt8(ascii: "["), "an array") }

    package mutating func nextElement() throws(JSONFailure) -> Bool { try !ends(with: UInt8(ascii: "]")) }

    private mutating func begin(_ bracket: UInt8, _ expected: StaticString) throws(JSONFailure) -> Int {
        guard next == bracket else { throw unexpected(expected) }
        guard depth < Self.depthLimit else { throw malformed("nested deeper than \(Self.depthLimit)") }
        offset += 1
        depth += 1
        isFirst = true
        return offset - 1
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

    /// The byte at `offset`; 0 at the end, because it is valid nowhere.
    var current: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

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

extension JSONReader {
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

    /// Skips a scalar of two to four bytes, according to table 3-7 of the Unicode standard.
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

    /// Returns whether the number has neither fraction nor exponent.
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

/// Converts an offset to a JSON pointer (RFC 6901), such as `/sources/0/clocks`, by reading the document again.
package enum JSONPointer {
    package static func path(to offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        var reader = JSONReader(bytes)
        var path = ""
        while let token = step(&reader, towards: offset) { path += "/" + escaped(token) }
        return path
    }

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
        }
        return nil
    }

    private static func passes(_ offset: Int, _ reader: JSONReader) -> Bool {
        var ahead = reader
        do throws(JSONFailure) { try ahead.skipValue() } catch { return true }
        return offset < ahead.offset
    }

    private static func escaped(_ token: String) -> String {
        token.unicodeScalars.prefix(64).map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
    }
}

package struct JSONFailure: Error, Equatable {
    package enum Kind: Sendable {
        /// Not JSON, not UTF-8, or nested too deep; answered with status 400.
        case malformed
        /// JSON, but not what was expected; answered with status 422.
        case invalid
    }

    package var kind: Kind
    package var offset: Int
    package var message: String

    package init(_ kind: Kind, at offset: Int, _ message: String) {
        self.kind = kind
        self.offset = offset
        self.message = message
    }
}
