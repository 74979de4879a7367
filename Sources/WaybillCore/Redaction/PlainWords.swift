/// What stands where a secret may stand, and plainly is none.
enum PlainWords {
    /// Whether this is the code of an error, and not one that an authorization is exchanged for: a number of up to three
    /// digits or below zero, or capital words with underscores between them, as in `NOT_FOUND`.
    static func isErrorCode(_ value: some Sequence<UInt8>) -> Bool {
        let value = Array(value.prefix(49))
        let digits = value.drop { $0 == UInt8(ascii: "-") }
        if value.count - digits.count <= 1, !digits.isEmpty, digits.allSatisfy(\.isDigit) {
            return digits.count < value.count || digits.count <= 3
        }
        guard value.count <= 48, value.contains(UInt8(ascii: "_")) else { return false }
        return value.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && $0.allSatisfy(\.isCapital)
        }
    }

    /// Whether this reads as a name: up to 24 letters in words of up to twelve, as `city`, `first_name`, `firstName`,
    /// `Content-Type`.
    static func isName(_ value: some Sequence<UInt8>) -> Bool {
        let value = Array(value.prefix(25))
        return value.count <= 24 && areWords(value[...], upTo: 12)
    }

    /// Whether a segment of a path is one of the words that paths are made of, as `new`, `resetPassword`, `v2`,
    /// `main.swift`, or stands for any, as `{id}`; what stands behind `/token/` else is one.
    static func isSegment(_ segment: some Sequence<UInt8>) -> Bool {
        let segment = Array(segment.prefix(41))
        guard segment.count <= 40 else { return false }
        if segment.isEmpty || segment.elementsEqual(Redactor.placeholder.utf8) { return true }
        if segment.first == UInt8(ascii: "{"), segment.last == UInt8(ascii: "}") {
            return areWords(segment.dropFirst().dropLast(), upTo: 20)
        }
        if segment.count <= 3, segment[0].lowercased == UInt8(ascii: "v") {
            return segment.dropFirst().allSatisfy(\.isDigit)
        }
        return segment == [UInt8(ascii: "*")] || segment.elementsEqual("oauth2".utf8)
            || segment.elementsEqual("2fa".utf8) || areWords(segment[...], upTo: 20)
    }

    /// What is said of a secret without telling it: `password is required`.
    static func isSaid(_ word: some Sequence<UInt8>) -> Bool { said.contains(word.map(\.lowercased)) }

    private static let said = Set(
        """
        a about absent accepted active already also always an and at available being blank blocked case checked closed
        correct created deleted denied different disabled done due empty enabled encrypted expired expiring false
        forbidden for from gone good hashed hidden ignored in inactive incomplete incorrect invalid it just kept known
        left less limited locked lost mandatory malformed misconfigured mismatched missing more never new nil no not
        now null ok old on one only optional or out outdated over passed pending present protected provided read ready
        refreshed rejected removed renewed required reset revoked rotated safe same saved sensitive sent set shared
        short so stale still stored that the there to too true unauthorized unavailable undefined unknown unset
        unsupported updated used valid verified very weak what where wrong yours
        """.split(whereSeparator: \.isWhitespace).map { Array($0.utf8) })

    /// Whether these are words of letters, with hyphens, underscores and dots between them, or each with a capital of
    /// its own, whose lengths show that they are not drawn at random.
    private static func areWords(_ text: ArraySlice<UInt8>, upTo limit: Int) -> Bool {
        // Of this word, and of all.
        var (letters, isCapital) = (0, false)
        var (allLetters, words) = (0, 0)
        for byte in text {
            if byte.isSmallLetter {
                (letters, isCapital) = (letters + 1, false)
            } else if byte.isCapital {
                guard !isCapital else { return false }
                (letters, isCapital) = (1, true)
            } else {
                guard letters > 0, "-_.".utf8.contains(byte) else { return false }
                (letters, isCapital) = (0, false)
            }
            if letters == 1 { words += 1 }
            if letters > 0 { allLetters += 1 }
            guard letters <= limit else { return false }
        }
        return letters > 0 && allLetters >= 3 * (words - 1)
    }
}
