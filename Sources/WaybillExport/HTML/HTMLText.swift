/// Text as HTML shows it: what has a meaning in markup is escaped, and what would only deceive the reader is replaced.
enum HTMLText {
    /// Appends text that stays text, in an element as well as between the double quotation marks of an attribute.
    ///
    /// Control characters and the marks that turn the direction of what follows (U+202A to U+202E, U+2066 to U+2069;
    /// "Trojan Source", CVE-2021-42574) become U+FFFD.
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
        case 0xE2 where isTurn(text[index + 1], text[index + 2]): (3, "\u{FFFD}")
        default: nil
        }
    }

    /// The second and third byte of U+202A to U+202E and U+2066 to U+2069. A `String` holds valid UTF-8: they are
    /// there.
    private static func isTurn(_ second: UInt8, _ third: UInt8) -> Bool {
        second == 0x80 && (0xAA...0xAE).contains(third) || second == 0x81 && (0xA6...0xA9).contains(third)
    }
}
