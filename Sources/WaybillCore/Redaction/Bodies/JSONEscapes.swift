/// The escapes of a JSON string (RFC 8259, section 7), read leniently: this is to look for secrets, not to interpret.
enum JSONEscapes {
    /// What the bytes between the quotation marks mean; what is no escape, or was cut off, stays as it is.
    static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "\\")) else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte == UInt8(ascii: "\\"), index < bytes.count else {
                result.append(byte)
                continue
            }
            if bytes[index] == UInt8(ascii: "u"), let unit = codeUnit(bytes, at: index + 1) {
                index += 5
                var scalar = unit
                if unit & 0xFC00 == 0xD800, index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
                    bytes[index + 1] == UInt8(ascii: "u"), let second = codeUnit(bytes, at: index + 2),
                    second & 0xFC00 == 0xDC00
                {
                    scalar = 0x10000 + (unit & 0x3FF) << 10 + second & 0x3FF
                    index += 6
                }
                result += UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter
            } else {
                result.append(meaning(of: bytes[index]))
                index += 1
            }
        }
        return result
    }

    /// The shortest form of these bytes between quotation marks.
    static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 2)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
            case 0x0A: result += Array(#"\n"#.utf8)
            case 0..<0x20:
                result += Array((byte < 16 ? #"\u000"# : #"\u00"#).utf8) + Array(String(byte, radix: 16).utf8)
            default: result.append(byte)
            }
        }
        return result
    }

    private static func meaning(of letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }

    private static func codeUnit(_ bytes: [UInt8], at start: Int) -> UInt32? {
        guard start + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for byte in bytes[start..<start + 4] {
            guard let digit = byte.hexadecimalValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
