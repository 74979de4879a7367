import Foundation

/// Classes of bytes, by ASCII; a byte of a longer UTF-8 sequence belongs to none.
extension UInt8 {
    package var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
    package var isSmallLetter: Bool { self &- UInt8(ascii: "a") < 26 }
    var isCapital: Bool { self &- UInt8(ascii: "A") < 26 }
    package var isLetter: Bool { (self | 0x20).isSmallLetter }
    package var isLetterOrDigit: Bool { isLetter || isDigit }
    /// Whether this is a space, a tab, or part of the end of a line.
    var isBlank: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }

    /// A capital letter as a small one, any other byte as it is.
    var lowercased: UInt8 { isCapital ? self | 0x20 : self }

    /// The value of a hexadecimal digit, in either case; nil for any other byte.
    package var hexadecimalValue: UInt8? {
        if isDigit { return self &- UInt8(ascii: "0") }
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }
}

/// Lengths in Unicode scalars, as `Limits` counts.
extension String {
    /// Whether it has more scalars than this.
    func isLonger(than limit: Int) -> Bool { utf8.count > limit && unicodeScalars.dropFirst(limit).first != nil }

    /// The first scalars; nil when there are no more than that.
    package func cut(to limit: Int) -> String? {
        isLonger(than: limit) ? String(String.UnicodeScalarView(unicodeScalars.prefix(limit))) : nil
    }
}

extension String {
    /// The text that bytes are in UTF-8, whatever it is: with zeros in it, with a byte-order mark, or empty; nil where
    /// they are not UTF-8.
    ///
    /// As `String(validating:as:)`, which is not on iOS before 18.
    package init?(utf8 bytes: some Collection<UInt8>) {
        let text =
            bytes.withContiguousStorageIfAvailable(Self.text) ?? Array(bytes).withUnsafeBufferPointer(Self.text)
        guard let text else { return nil }
        self = text
    }

    private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        var text = String(decoding: bytes, as: UTF8.self)
        // What is not UTF-8 was replaced by something else.
        let isSame = text.withUTF8 { text in
            guard text.count == bytes.count else { return false }
            guard let start = text.baseAddress, let original = bytes.baseAddress else { return true }
            return memcmp(start, original, text.count) == 0
        }
        return isSame ? text : nil
    }
}

extension String {
    /// The name that was probably meant: the one that is the fewest letters away, at most a third of its own; nil where
    /// none is that near, or it is longer than people mistype.
    ///
    /// Of very many names the first are looked at: each costs as many steps as the letters of both multiplied.
    package func nearest(among names: [String]) -> String? {
        let (longest, most) = (64, 2_000)
        let word = lowercased()
        guard word.count <= longest else { return nil }
        var nearest: (name: String, distance: Int)?
        for name in names.lazy.filter({ $0.utf8.count <= 4 * longest }).prefix(most) {
            // What is longer or shorter by more than that is further away.
            let allowed = max(1, name.count / 3)
            guard abs(name.count - word.count) <= allowed else { continue }
            let distance = word.distance(to: name.lowercased())
            if distance <= allowed, distance < nearest?.distance ?? .max { nearest = (name, distance) }
        }
        return nearest?.name
    }

    /// How many letters have to be inserted, removed or replaced (Levenshtein, 1966).
    private func distance(to other: String) -> Int {
        let letters = Array(other)
        var row = Array(0...letters.count)
        for (line, letter) in enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for index in letters.indices {
                let replaced = diagonal + (letter == letters[index] ? 0 : 1)
                diagonal = row[index + 1]
                row[index + 1] = Swift.min(replaced, diagonal + 1, row[index] + 1)
            }
        }
        return row[letters.count]
    }
}
