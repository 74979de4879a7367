extension String {
    /// Without what a terminal would obey: recorded text comes from anywhere, and an escape sequence in it must stay
    /// text.
    package var printable: String { replacingCommands { _ in false } }

    /// The same of whole lines, whose ends and tabulators stay.
    package var printableLines: String { replacingCommands { $0 == "\n" || $0 == "\t" } }

    private func replacingCommands(but isKept: (Unicode.Scalar) -> Bool) -> String {
        guard unicodeScalars.contains(where: { $0.isCommand && !isKept($0) }) else { return self }
        let scalars = Array(unicodeScalars)
        return String(
            String.UnicodeScalarView(
                scalars.indices.map { index -> Unicode.Scalar in
                    let scalar = scalars[index]
                    guard scalar.isCommand, !isKept(scalar) else { return scalar }
                    // Persian, Indic scripts and pictures of several people need them; between letters of ASCII, and at
                    // the ends, they only hide.
                    let joins =
                        scalar.isJoiner && index > 0 && index + 1 < scalars.count && !scalars[index - 1].isASCII
                        && !scalars[index + 1].isASCII && !scalars[index - 1].isCommand
                        && !scalars[index + 1].isCommand
                    return joins ? scalar : "\u{FFFD}"
                }))
    }
}

extension String {
    /// With spaces in the place of underscores, as people write.
    package var spaced: String {
        // Most have none, and to look for them takes a hundredth of what it takes to replace them.
        utf8.contains(UInt8(ascii: "_")) ? replacing("_", with: " ") : self
    }
}

extension Unicode.Scalar {
    /// Control characters, the marks that turn the direction of text, and what has no width and is not seen: two texts
    /// that look alike could be different ones.
    package var isCommand: Bool {
        // Nearly all are ASCII, where looking further would take longer than all else.
        if isASCII { return value < 0x20 || value == 0x7F }
        return switch value {
        // Control characters, the soft hyphen, marks of Arabic and Mongolian, fillers of Hangul
        case 0x80...0x9F, 0xAD, 0x061C, 0x180E, 0x115F, 0x1160, 0x3164, 0xFFA0: true
        // No width, joiners and marks of direction; turns; operators that are not seen
        case 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x206F: true
        // The byte order mark, annotations, tags
        case 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: true
        default: false
        }
    }

    /// Of no width, between letters that are written otherwise with it.
    fileprivate var isJoiner: Bool { value == 0x200C || value == 0x200D }
}
