/// Replaces secrets, recognized by their form or by the name before them.
struct SecretScanner {
    let bytes: [UInt8]
    private let names: SensitiveNames
    /// No token starts before this index. Without it, a part with many candidates would take quadratic time.
    private var tokenFreeEnd = 0
    /// No Digest credentials start before this index, for the same reason.
    private var digestFreeEnd = 0
    private var settled = 0
    /// The end of the current run of key characters, and whether it is as long as a key.
    private var run = (end: 0, isLong: false)
    var column: Int?
    /// The end of a secret that continues after this text.
    var openEnd: OpenEnd?

    enum OpenEnd: Equatable, Sendable {
        case quotationMark(UInt8, escapes: Int)
        case privateKey
        /// The first line that is not indented deeper than a name's column. `isSaid` means that the value has begun.
        case indentation(Int, isSaid: Bool)
        case everything
    }

    private init(_ bytes: [UInt8], _ names: SensitiveNames) {
        self.bytes = bytes
        self.names = names
    }

    /// `nil` if there are no secrets. `isDecoded` means that the caller has already scanned the percent-decoded parts.
    static func redacting(_ bytes: [UInt8], names: SensitiveNames, isDecoded: Bool = false) -> [UInt8]? {
        redactingPiece(bytes, names: names, isDecoded: isDecoded).redacted
    }

    /// Like ``redacting(_:names:)``, for a text that continues. `openEnd` describes the end of an unfinished secret.
    static func redactingPiece(_ bytes: [UInt8], names: SensitiveNames, isDecoded: Bool = false) -> (
        redacted: [UInt8]?, openEnd: OpenEnd?
    ) {
        guard !names.isOff, SecretShapes.mayOccur(in: bytes) else { return (nil, nil) }
        var scanner = SecretScanner(bytes, names)
        let plain = scanner.redacted()
        let escaped = isDecoded ? nil : withoutEscapedSecrets(plain ?? bytes, names)
        return (escaped ?? plain, scanner.openEnd)
    }

    private mutating func redacted() -> [UInt8]? {
        var result: [UInt8] = []
        var copied = 0
        var index = 0
        while index < bytes.count {
            guard let secret = secret(at: index) else {
                index += 1
                continue
            }
            index = max(secret.upperBound, index + 1)
            settled = secret.upperBound
            guard !secret.isEmpty, !bytes[secret].elementsEqual(Redactor.placeholder.utf8) else { continue }
            result += bytes[copied..<secret.lowerBound]
            result += Redactor.placeholder.utf8
            copied = secret.upperBound
        }
        if let column, openEnd == nil { openEnd = .indentation(column, isSaid: false) }
        return copied == 0 ? nil : result + bytes[copied...]
    }

    /// Returns the secret at a name, scheme or character at `index`. It starts after the previous secret.
    private mutating func secret(at index: Int) -> Range<Int>? {
        switch bytes[index] {
        case UInt8(ascii: "="): namedValue(endingAt: index, words: 1, isHeaderLike: false)
        case UInt8(ascii: ":"):
            userInfo(at: index) ?? memberValue(at: index)
                ?? SecretShapes.endOfBotKey(bytes, at: index).map { index + 1..<$0 }
        case UInt8(ascii: "/"): segment(at: index)
        case UInt8(ascii: "@"): SecretShapes.address(bytes, around: index, notBefore: settled)
        case UInt8(ascii: "+"): SecretShapes.endOfTelephoneNumber(bytes, at: index).map { index..<$0 }
        case UInt8(ascii: "-"): privateKey(at: index)
        case UInt8(ascii: "\n"): block(at: index)
        case let byte where byte.isDigit:
            (SecretShapes.endOfCardNumber(bytes, at: index)
                ?? SecretShapes.endOfSocialSecurityNumber(bytes, at: index)).map { index..<$0 } ?? key(at: index)
        case let byte where byte.isLetter: word(at: index)
        default: nil
        }
    }

    // MARK: Shapes

    private mutating func word(at index: Int) -> Range<Int>? {
        let startsWord = index == 0 || !bytes[index - 1].isLetterOrDigit
        switch bytes[index] {
        case UInt8(ascii: "e"): if let token = token(at: index) { return token }
        case UInt8(ascii: "b"), UInt8(ascii: "B"), UInt8(ascii: "n"), UInt8(ascii: "N"):
            if startsWord, let credentials = SecretShapes.credentials(bytes, at: index) { return credentials }
        case UInt8(ascii: "d"), UInt8(ascii: "D"):
            if startsWord, let found = SecretShapes.credentials(bytes, at: index) ?? digest(at: index) { return found }
        case UInt8(ascii: "i"): if startsWord, let told = told(at: index) { return told }
        default: break
        }
        guard startsWord else { return nil }
        return SecretShapes.endOfAccountNumber(bytes, at: index).map { index..<$0 } ?? key(at: index)
    }

    private mutating func key(at index: Int) -> Range<Int>? {
        let startsRun = index >= run.end
        if startsRun {
            let end = bytes[index...].firstIndex { !SecretShapes.isPartOfKey($0) } ?? bytes.count
            run = (end, end - index >= KeyShape.leastCount)
        }
        guard run.isLong else { return nil }
        if startsRun || bytes[index - 1] == UInt8(ascii: "="),
            let end = SecretShapes.endOfCloudSecret(bytes, at: index)
        {
            return index..<end
        }
        guard index == 0 || !bytes[index - 1].isLetterOrDigit else { return nil }
        return SecretShapes.endOfKey(bytes, at: index).map { index..<$0 }
    }

    private mutating func token(at index: Int) -> Range<Int>? {
        guard index >= tokenFreeEnd, bytes[index...].starts(with: "eyJ".utf8) else { return nil }
        if let end = SecretShapes.endOfToken(bytes, at: index) { return index..<end }
        tokenFreeEnd = SecretShapes.endOfPart(bytes, from: index)
        return nil
    }

    /// Returns the parameters after `Digest` if they contain a response. Without one, it is a server's challenge.
    private mutating func digest(at index: Int) -> Range<Int>? {
        guard index >= digestFreeEnd, SecretShapes.isDigest(bytes, at: index) else { return nil }
        let first = index + 7
        let last = end(from: first, before: "\r\n")
        for start in first..<last where SecretShapes.starts(bytes, at: start, with: "response=") { return first..<last }
        digestFreeEnd = last
        return nil
    }

    private mutating func privateKey(at index: Int) -> Range<Int>? {
        guard let key = SecretShapes.endOfPrivateKey(bytes, at: index) else { return nil }
        if !key.isClosed { openEnd = .privateKey }
        return index..<key.end
    }

    // MARK: URLs

    private func userInfo(at index: Int) -> Range<Int>? {
        guard SecretShapes.starts(bytes, at: index, with: "://") else { return nil }
        let authority = bytes[(index + 3)...].prefix { !$0.isOne(of: "/?# \t\r\n\"'<>") }
        return authority.lastIndex(of: UInt8(ascii: "@")).map { index + 3..<$0 }
    }

    /// Returns the path segment after the slash, if the previous one marks it as secret; after a webhook, all segments.
    private func segment(at index: Int) -> Range<Int>? {
        var start = index
        while start > settled, index - start <= 40,
            bytes[start - 1].isLetterOrDigit || isInName(bytes[start - 1]) || bytes[start - 1] == UInt8(ascii: "]")
        {
            start -= 1
        }
        guard start < index, start > 0, bytes[start - 1] == UInt8(ascii: "/"),
            start < 3 || !SecretShapes.starts(bytes, at: start - 3, with: "://")
        else { return nil }
        let name = bytes[start..<index]
        let last = end(from: index + 1, before: "/?#&;, \t\r\n\"'<>()\\")
        let value = bytes[index + 1..<last]
        guard names.precedesSecret(name) || Self.isHook(name, value), SensitiveNames.isSecret(value, behind: name)
        else {
            return nil
        }
        guard SensitiveNames.isHook(name) || Self.isHook(name, value) else { return index + 1..<last }
        return index + 1..<end(from: last, before: "?#&;, \t\r\n\"'<>()\\")
    }

    private static func isHook(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Bool {
        guard value.count > 6, value.allSatisfy({ $0.isCapital || $0.isDigit }) else { return false }
        let names = value.first == UInt8(ascii: "T") ? ["services", "workflows", "triggers"] : ["triggers"]
        return names.contains { name.elementsEqual($0.utf8) }
    }

    // MARK: Names

    private mutating func memberValue(at index: Int) -> Range<Int>? {
        let isQuoted = index > 0 && (bytes[index - 1] == UInt8(ascii: "\"") || bytes[index - 1] == UInt8(ascii: "'"))
        return namedValue(endingAt: index, words: 2, isHeaderLike: !isQuoted)
    }

    private mutating func namedValue(endingAt index: Int, words: Int, isHeaderLike: Bool) -> Range<Int>? {
        let name = name(endingAt: index, words: words)
        let meaning = meaning(of: name)
        switch meaning {
        case .harmless: return nil
        case .secret, .secrets, .remark, .word:
            if isPlain(from: index + 1, as: meaning, isHeaderLike: isHeaderLike) { return nil }
            let value = value(from: index + 1, isHeaderLike: isHeaderLike)
            if bytes[index] == UInt8(ascii: ":"), opensBlock(value, from: index + 1) { column = self.column(of: name) }
            return value
        case .code, .key, .protocols:
            let first = startOfValue(from: index + 1)
            // The names of the members decide.
            guard first < bytes.count, bytes[first] != UInt8(ascii: "{"), bytes[first] != UInt8(ascii: "[") else {
                return nil
            }
            let open = openEnd
            let value = value(from: first, isHeaderLike: false)
            if openEnd == open, value.isEmpty || !names.hides(bytes[value], as: meaning) { return nil }
            return value
        }
    }

    private mutating func isPlain(
        from start: Int, as meaning: SensitiveNames.Meaning, isHeaderLike: Bool
    ) -> Bool {
        let (open, first) = (openEnd, startOfValue(from: start))
        defer { openEnd = open }
        guard first < bytes.count, !bytes[first].isOne(of: "[{") else { return false }
        var value = value(from: first, isHeaderLike: false)
        if openEnd != open || value.isEmpty { return false }
        if value.lowerBound == first, let count = PlainWords.progress(bytes[first...]) { value = first..<first + count }
        guard !names.hides(bytes[value], as: meaning) else { return false }
        // After a colon, the secret may continue to the end of the line.
        return meaning == .remark || !isHeaderLike || value.upperBound == bytes.count
            || bytes[value.upperBound].isOne(of: "\r\n,;.)]}&\"'\\<")
    }

    /// Returns the word after `password is`, unless it only describes a secret.
    private func told(at index: Int) -> Range<Int>? {
        guard index > 1, bytes[index - 1] == UInt8(ascii: " "), SecretShapes.starts(bytes, at: index, with: "is ")
        else {
            return nil
        }
        let phrase = bytes[name(endingAt: index, words: 2)]
        let space = phrase.lastIndex(of: UInt8(ascii: " "))
        var meaning = names.meaning(of: space.map { phrase[($0 + 1)...] } ?? phrase)
        // "API key", but not "token type".
        if let space, meaning == .harmless {
            meaning = names.meaning(of: phrase, longerThan: space - phrase.startIndex)
        }
        if meaning == .harmless { return nil }
        var first = index + 3
        while first < bytes.count, bytes[first] == UInt8(ascii: " ") { first += 1 }
        if bytes[first...].starts(with: Redactor.placeholder.utf8) { return nil }
        if first < bytes.count, bytes[first].isOne(of: "\"'`") { first += 1 }
        var last = end(from: first, before: " \t\r\n&,;)]}\"'`<>")
        while last > first, bytes[last - 1].isOne(of: ".!?") { last -= 1 }
        let word = bytes[first..<last]
        guard !word.isEmpty, word.count > 64 || !PlainWords.isSaid(word) else { return nil }
        guard names.hides(word, as: meaning) else { return nil }
        return meaning == .secret || word.contains(where: \.isDigit) ? first..<last : nil
    }

    /// Returns the name before `end`, without quotation marks and brackets.
    private func name(endingAt end: Int, words: Int) -> Range<Int> {
        var end = end
        while end > 0, isAroundName(bytes[end - 1]) { end -= 1 }
        var start = end
        var spaces = 0
        while start > 0 {
            let byte = bytes[start - 1]
            if byte == UInt8(ascii: " ") {
                spaces += 1
                if spaces == words { break }
            } else if !byte.isLetterOrDigit, !isInName(byte) {
                break
            }
            start -= 1
        }
        return start..<end
    }

    private func isAroundName(_ byte: UInt8) -> Bool { byte.isOne(of: " \t\"'\\])") }

    private func isInName(_ byte: UInt8) -> Bool { byte.isOne(of: "-_.[$") }

    /// Returns the meaning of one or two words. If the second is visible, both together may still name a secret.
    private func meaning(of name: Range<Int>) -> SensitiveNames.Meaning {
        let phrase = bytes[name]
        if let space = phrase.lastIndex(of: UInt8(ascii: " ")), names.isVisible(phrase[(space + 1)...]) {
            return names.meaning(of: phrase, longerThan: phrase.endIndex - space - 1)
        }
        let meaning = names.meaning(of: phrase)
        // Part of the name is hidden already, and will be missing in the next redaction.
        guard meaning == .harmless, name.lowerBound < settled, settled < name.upperBound else { return meaning }
        return names.meaning(of: bytes[settled..<name.upperBound])
    }

    // MARK: Percent-encoded

    private static func withoutEscapedSecrets(_ bytes: [UInt8], _ names: SensitiveNames) -> [UInt8]? {
        guard bytes.contains(UInt8(ascii: "%")) else { return nil }
        var result: [UInt8] = []
        var isChanged = false
        var start = 0
        for end in 0...bytes.count where end == bytes.count || bytes[end].isOne(of: " \t\r\n&;,\"'<>()?") {
            let piece = bytes[start..<end]
            var decoded = SecretScanner(piece.contains(UInt8(ascii: "%")) ? PercentEncoding.decoded(piece) : [], names)
            if decoded.redacted() != nil {
                result += Redactor.placeholder.utf8
                isChanged = true
            } else {
                result += piece
            }
            if end < bytes.count { result.append(bytes[end]) }
            start = end + 1
        }
        return isChanged ? result : nil
    }
}
