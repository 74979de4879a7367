enum PlainWords {
    /// Whether this is an error code and no authorization code: up to three digits, a negative number, or `NOT_FOUND`.
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

    /// Whether this is only a Boolean, a null or a count: `true`, `null`, `3 of 5`.
    static func isNothing(_ value: some Sequence<UInt8>) -> Bool {
        let value = Array(value.prefix(16))
        return value.count < 16 && (nothings.contains(value.map(\.lowercased)) || progress(value) == value.count)
    }

    private static let nothings = Set(wordsOf: "true false yes no null nil none undefined")

    static func progress(_ bytes: some Collection<UInt8>) -> Int? {
        let done = bytes.prefix(5).prefix(while: \.isDigit)
        let behind = bytes.dropFirst(done.count)
        guard (1...4).contains(done.count), behind.starts(with: " of ".utf8) else { return nil }
        let all = behind.dropFirst(4).prefix(5).prefix(while: \.isDigit)
        return (1...4).contains(all.count) ? done.count + 4 + all.count : nil
    }

    static func isNumber(_ value: some Sequence<UInt8>, upTo limit: Int) -> Bool {
        let value = Array(value.prefix(limit + 1))
        return !value.isEmpty && value.count <= limit && value.allSatisfy(\.isDigit)
    }

    /// Whether this is a number or a time: `12`, `0.5`, `-1`, `2025-11-21T10:11:43Z`.
    static func isQuantity(_ value: some Sequence<UInt8>) -> Bool {
        let value = Array(value.prefix(36))
        guard value.count < 36, value.contains(where: \.isDigit) else { return false }
        return value.allSatisfy { $0.isDigit || $0.isOne(of: "-+.:TZ") }
    }

    /// Whether this reads as a name: up to 24 letters in words of up to twelve, such as `first_name` or `Content-Type`.
    static func isName(_ value: some Sequence<UInt8>) -> Bool {
        let value = Array(value.prefix(25))
        return value.count <= 24 && areWords(value[...], upTo: 12)
    }

    /// Whether a path segment is ordinary, such as `new`, `v2` or `main.swift:42`, or a parameter, such as `{id}`.
    static func isSegment(_ segment: some Sequence<UInt8>) -> Bool {
        var segment = Array(segment.prefix(81))
        if isSourceFile(segment) { return true }
        segment = Array(segment.prefix(41))
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

    private static func isSourceFile(_ segment: [UInt8]) -> Bool {
        let file = segment.prefix { $0 != UInt8(ascii: ":") }
        guard segment.count <= 80, segment[file.endIndex...].allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ":") }),
            let dot = file.lastIndex(of: UInt8(ascii: ".")), dot > 0, sourceTypes.contains(Array(file[(dot + 1)...]))
        else { return false }
        return file[..<dot].allSatisfy { $0.isLetterOrDigit || $0.isOne(of: "-_+.") }
    }

    private static let sourceTypes = Set(
        wordsOf: "swift m mm h c cc cpp hpp cs go rs rb py kt java ts tsx jsx vue php sh sql")

    /// Whether the word describes a secret without revealing it: `password is required`.
    static func isSaid(_ word: some Sequence<UInt8>) -> Bool { said.contains(word.prefix(16).map(\.lowercased)) }

    private static let said = Set(
        wordsOf: """
            a about absent accepted active already also always an and at available being blank blocked case checked closed
            correct created deleted denied different disabled done due empty enabled encrypted ended expired expiring failed false
            forbidden for from gone good hashed hidden ignored in inactive incomplete incorrect invalid it just kept known
            left less limited locked lost mandatory malformed misconfigured mismatched missing more never new nil no not
            now null ok old on one only opened optional or out outdated over passed pending present protected provided read ready
            refreshed rejected removed renewed required reset revoked rotated safe same saved sensitive sent set shared
            short so stale started still stored that the there to too true unauthorized unavailable undefined unknown unset
            unsupported updated used valid verified very weak what where wrong yours
            """)

    /// Whether these are separated or camel-case words, whose lengths show that they are not random.
    private static func areWords(_ text: ArraySlice<UInt8>, upTo limit: Int) -> Bool {
        var (letters, isCapital) = (0, false)
        var (allLetters, words) = (0, 0)
        for byte in text {
            if byte.isSmallLetter {
                (letters, isCapital) = (letters + 1, false)
            } else if byte.isCapital {
                guard !isCapital else { return false }
                (letters, isCapital) = (1, true)
            } else {
                guard letters > 0, byte.isOne(of: "-_.") else { return false }
                (letters, isCapital) = (0, false)
            }
            if letters == 1 { words += 1 }
            if letters > 0 { allLetters += 1 }
            guard letters <= limit else { return false }
        }
        return letters > 0 && allLetters >= 3 * (words - 1)
    }
}

extension Set<[UInt8]> {
    init(wordsOf text: String) { self.init(text.split(whereSeparator: \.isWhitespace).map { Array($0.utf8) }) }
}
