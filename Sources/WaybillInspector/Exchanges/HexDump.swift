/// Bytes as people read them: where they stand, what they are, and which of them are ASCII.
enum HexDump {
    /// Bytes on a line.
    private static let width = 16

    /// A line for every 16 bytes: `00000010  49 48 44 52 00 00 01 40  00 00 00 c8 08 06 00 00  |IHDR...@........|`.
    static func text(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        var rest = bytes[...]
        var offset = 0
        while !rest.isEmpty {
            let line = rest.prefix(width)
            text += padded(String(offset, radix: 16), to: 8).utf8
            for (column, byte) in line.enumerated() {
                text += (column % 8 == 0 ? "  " : " ").utf8
                text += padded(String(byte, radix: 16), to: 2).utf8
            }
            // A line that is not full has its text below that of the others.
            let missing = width - line.count
            text += String(repeating: " ", count: 3 * missing + (missing >= 8 ? 1 : 0) + 2).utf8
            text += "|".utf8 + line.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") } + "|\n".utf8
            rest = rest.dropFirst(width)
            offset += width
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func padded(_ digits: String, to count: Int) -> String {
        String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}
