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
