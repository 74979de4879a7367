extension String {
    /// Without what a terminal would obey: recorded text comes from anywhere, and an escape sequence in it must stay
    /// text.
    package var printable: String { replacingCommands { _ in false } }

    /// The same of whole lines, whose ends and tabulators stay.
    package var printableLines: String { replacingCommands { $0 == "\n" || $0 == "\t" } }

    private func replacingCommands(but isKept: (Unicode.Scalar) -> Bool) -> String {
        guard unicodeScalars.contains(where: { $0.isCommand && !isKept($0) }) else { return self }
        return String(
            String.UnicodeScalarView(unicodeScalars.map { $0.isCommand && !isKept($0) ? "\u{FFFD}" : $0 }))
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
    /// Control characters, and the marks that turn the direction of text.
    package var isCommand: Bool {
        // Nearly all are ASCII, where looking the category up would take longer than all else.
        if isASCII { return value < 0x20 || value == 0x7F }
        return properties.generalCategory == .control || (0x202A...0x202E).contains(value)
            || (0x2066...0x2069).contains(value)
    }
}
