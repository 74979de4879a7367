/// Text as HTML shows it: what has a meaning in markup is escaped, and what would only deceive the reader is replaced.
enum HTMLText {
    /// Appends text that stays text, in an element as well as between the double quotation marks of an attribute.
    ///
    /// Control characters, the marks that turn the direction of what follows (U+202A to U+202E, U+2066 to U+2069;
    /// "Trojan Source", CVE-2021-42574) and what has no width become U+FFFD, as in `String.printable`.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { text in
            var start = 0  // of what has not been copied yet
            var index = 0
            while index < text.count {
                guard let (length, replacement) = replacement(for: text, at: index) else {
                    index += 1
                    continue
                }
                bytes += text[start..<index]
                replacement.withUTF8Buffer { bytes += $0 }
                index += length
                start = index
            }
            bytes += text[start...]
        }
    }

    /// What stands in the place of how many bytes; nil for a byte that stays.
    private static func replacement(for text: UnsafeBufferPointer<UInt8>, at index: Int) -> (length: Int, StaticString)?
    {
        switch text[index] {
        case UInt8(ascii: "&"): (1, "&amp;")
        case UInt8(ascii: "<"): (1, "&lt;")
        case UInt8(ascii: ">"): (1, "&gt;")
        case UInt8(ascii: "\""): (1, "&quot;")
        case UInt8(ascii: "\t"), UInt8(ascii: "\n"): nil
        case ..<0x20, 0x7F: (1, "\u{FFFD}")
        case 0xC2 where text[index + 1] < 0xA0: (2, "\u{FFFD}")  // U+0080 to U+009F
        case 0xC2 where text[index + 1] == 0xAD, 0xD8 where text[index + 1] == 0x9C: (2, "\u{FFFD}")
        case 0xE1, 0xE2, 0xE3, 0xEF:
            isHidden(text[index], text[index + 1], text[index + 2]) && !joins(text, at: index) ? (3, "\u{FFFD}") : nil
        case 0xF3 where text[index + 1] == 0xA0 && text[index + 2] < 0x82: (4, "\u{FFFD}")  // U+E0000 to U+E007F
        default: nil
        }
    }

    /// Whether these are the three bytes of a scalar that `Unicode.Scalar.isCommand` has. A `String` holds valid
    /// UTF-8: they are there.
    private static func isHidden(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Bool {
        let value = UInt32(first & 0xF) << 12 | UInt32(second & 0x3F) << 6 | UInt32(third & 0x3F)
        return Unicode.Scalar(value)?.isCommand ?? false
    }

    /// Whether a joiner stands between two scalars beyond ASCII, as in pictures of several people.
    private static func joins(_ text: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        let isJoiner = text[index + 1] == 0x80 && (0x8C...0x8D).contains(text[index + 2]) && text[index] == 0xE2
        return isJoiner && index > 0 && index + 3 < text.count && text[index - 1] >= 0x80 && text[index + 3] >= 0x80
    }
}
