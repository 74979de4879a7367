#if Collector
import WaybillCollector

extension String {
    /// How many columns of a terminal it takes: two for what East Asian typography writes wide and for emoji, one for
    /// most else.
    ///
    /// After Unicode Standard Annex 11; where a character is ambiguous, it is narrow.
    var columnCount: Int {
        // Most text is plain ASCII, where every byte is a column.
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return utf8.count }
        return reduce(0) { $0 + $1.columnCount }
    }

    /// Its beginning in so many columns, with an ellipsis where that is not all.
    func cut(toColumns columns: Int) -> String {
        guard columnCount > columns else { return self }
        var text = ""
        var taken = 1
        for character in self {
            taken += character.columnCount
            guard taken <= columns else { break }
            text.append(character)
        }
        return columns > 0 ? text + "…" : ""
    }
}

extension Character {
    fileprivate var columnCount: Int {
        guard let first = unicodeScalars.first else { return 0 }
        // A mark without a letter to stand on, or what has no form at all.
        if [.nonspacingMark, .enclosingMark, .format].contains(first.properties.generalCategory) { return 0 }
        // Emoji by themselves, or asked for by the variation selector 16.
        if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        return Self.wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// Blocks whose characters are wide or full width.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
        0x1F900...0x1F9FF,
        0x20000...0x3FFFD,
    ]
}
#endif
