/// Finds the secrets in a text, by their shape and by the name in front of them, and puts the placeholder in their
/// place.
///
/// Run twice it changes nothing more: what is captured is redacted again when it is exported.
struct SecretScanner {
    private let bytes: [UInt8]
    private let names: SensitiveNames
    /// Before this no token starts: all that start in one part end alike, and looking again for each would take
    /// quadratic time.
    private var tokenFreeEnd = 0
    /// Where the last secret ends that has none in this text; nil: it has one.
    private var openEnd: OpenEnd?

    /// What a secret without an end goes on until, in the text that follows.
    enum OpenEnd: Hashable, Sendable {
        /// The mark that closes a quotation, which has as many backslashes before it as the one that opened it.
        case quotationMark(UInt8, escapes: Int)
        /// The very end.
        case everything
    }

    private init(_ bytes: [UInt8], _ names: SensitiveNames) {
        self.bytes = bytes
        self.names = names
    }

    /// The text without its secrets; nil when it has none.
    static func redacting(_ bytes: [UInt8], names: SensitiveNames) -> [UInt8]? {
        redactingPiece(bytes, names: names).redacted
    }

    /// As ``redacting(_:names:)``, for a text that goes on.
    ///
    /// - Returns: Also what the last secret goes on until; nil where none does.
    static func redactingPiece(_ bytes: [UInt8], names: SensitiveNames) -> (redacted: [UInt8]?, openEnd: OpenEnd?) {
        guard !names.isOff, SecretShapes.mayOccur(in: bytes) else { return (nil, nil) }
        var scanner = SecretScanner(bytes, names)
        let plain = scanner.redacted()
        let escaped = withoutEscapedSecrets(plain ?? bytes, names)
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
            guard !secret.isEmpty, !bytes[secret].elementsEqual(Redactor.placeholder.utf8) else { continue }
            result += bytes[copied..<secret.lowerBound]
            result += Redactor.placeholder.utf8
            copied = secret.upperBound
        }
        return copied == 0 ? nil : result + bytes[copied...]
    }

    /// The secret that starts at `index`, or right behind the name or scheme that ends there.
    private mutating func secret(at index: Int) -> Range<Int>? {
        switch bytes[index] {
        case UInt8(ascii: "e"): token(at: index)
        case UInt8(ascii: "b"), UInt8(ascii: "B"): SecretShapes.credentials(bytes, at: index)
        case UInt8(ascii: "="):
            isSensitiveName(endingAt: index, words: 1) ? value(from: index + 1, isHeaderLike: false) : nil
        case UInt8(ascii: ":"): userInfo(at: index) ?? memberValue(at: index)
        case let byte where byte.isDigit: SecretShapes.endOfCardNumber(bytes, at: index).map { index..<$0 }
        default: nil
        }
    }

    private mutating func token(at index: Int) -> Range<Int>? {
        guard index >= tokenFreeEnd, bytes[index...].starts(with: "eyJ".utf8) else { return nil }
        if let end = SecretShapes.endOfToken(bytes, at: index) { return index..<end }
        tokenFreeEnd = SecretShapes.endOfPart(bytes, from: index)
        return nil
    }

    /// `user:password` of `https://user:password@host`.
    private func userInfo(at index: Int) -> Range<Int>? {
        guard SecretShapes.starts(bytes, at: index, with: "://") else { return nil }
        let authority = bytes[(index + 3)...].prefix { !"/?# \t\r\n\"'<>".utf8.contains($0) }
        return authority.lastIndex(of: UInt8(ascii: "@")).map { index + 3..<$0 }
    }

    /// What follows `name:`, as in a header, or `"name":`, as in JSON.
    private mutating func memberValue(at index: Int) -> Range<Int>? {
        guard isSensitiveName(endingAt: index, words: 2) else { return nil }
        let isQuoted = index > 0 && (bytes[index - 1] == UInt8(ascii: "\"") || bytes[index - 1] == UInt8(ascii: "'"))
        return value(from: index + 1, isHeaderLike: !isQuoted)
    }

    /// Whether a sensitive name stands before `end`; quotation marks and brackets around it do not count.
    private func isSensitiveName(endingAt end: Int, words: Int) -> Bool {
        var end = end
        while end > 0, " \t\"'\\])".utf8.contains(bytes[end - 1]) { end -= 1 }
        var start = end
        var spaces = 0
        while start > 0 {
            let byte = bytes[start - 1]
            if byte == UInt8(ascii: " ") { spaces += 1 }
            guard byte.isLetterOrDigit || "-_.[$".utf8.contains(byte) || byte == UInt8(ascii: " ") && spaces < words
            else { break }
            start -= 1
        }
        return names.contains(bytes[start..<end])
    }

    /// The value that starts at `start` or a few spaces later. Where its end is not clear, it reaches further rather
    /// than less far.
    private mutating func value(from start: Int, isHeaderLike: Bool) -> Range<Int> {
        var first = start
        while first < bytes.count, bytes[first] == UInt8(ascii: " ") || bytes[first] == UInt8(ascii: "\t") {
            first += 1
        }
        if bytes[first...].starts(with: Redactor.placeholder.utf8) {
            return first..<first + Redactor.placeholder.utf8.count
        }
        if let quoted = quotedValue(from: first) { return quoted }
        guard first < bytes.count else { return first..<first }
        if isHeaderLike { return first..<end(from: first, before: "\r\n") }
        // An array or object: all that is left.
        if bytes[first] == UInt8(ascii: "{") || bytes[first] == UInt8(ascii: "[") {
            openEnd = .everything
            return first..<bytes.count
        }
        var last = end(from: first, before: " \t\r\n&,;)]}\"'<>#")
        if bytes[first..<last].elementsEqual("bearer".utf8, by: { $0.lowercased == $1 })
            || bytes[first..<last].elementsEqual("basic".utf8, by: { $0.lowercased == $1 })
        {
            while last < bytes.count, bytes[last] == UInt8(ascii: " ") { last += 1 }
            last = end(from: last, before: " \t\r\n&,;)]}\"'<>#")
        }
        return first..<last
    }

    /// What stands between quotation marks, which in JSON inside a JSON string have backslashes before them.
    private mutating func quotedValue(from start: Int) -> Range<Int>? {
        var first = start
        while first < bytes.count, bytes[first] == UInt8(ascii: "\\") { first += 1 }
        let escapes = first - start
        guard first < bytes.count, bytes[first] == UInt8(ascii: "\"") || bytes[first] == UInt8(ascii: "'") else {
            return nil
        }
        let mark = bytes[first]
        first += 1
        guard let end = Self.endOfQuotation(bytes[first...], mark, escapes: escapes) else {
            openEnd = .quotationMark(mark, escapes: escapes)
            return first..<bytes.count
        }
        return first..<end
    }

    /// Where a quotation ends whose mark has so many backslashes before it; nil: not here.
    static func endOfQuotation(_ bytes: ArraySlice<UInt8>, _ mark: UInt8, escapes: Int) -> Int? {
        var backslashes = 0
        for index in bytes.indices {
            if bytes[index] == mark, backslashes <= escapes || escapes == 0 && backslashes.isMultiple(of: 2) {
                return escapes == 0 ? index : index - backslashes
            }
            backslashes = bytes[index] == UInt8(ascii: "\\") ? backslashes + 1 : 0
        }
        return nil
    }

    private func end(from start: Int, before delimiters: String) -> Int {
        bytes[start...].firstIndex { delimiters.utf8.contains($0) } ?? bytes.count
    }

    // MARK: Percent-encoded

    /// Takes out the pieces that hold a secret once they are percent-decoded, as a URL inside the query of another
    /// does; nil when there are none.
    private static func withoutEscapedSecrets(_ bytes: [UInt8], _ names: SensitiveNames) -> [UInt8]? {
        guard bytes.contains(UInt8(ascii: "%")) else { return nil }
        var result: [UInt8] = []
        var isChanged = false
        var start = 0
        for end in 0...bytes.count where end == bytes.count || " \t\r\n&;,\"'<>()?".utf8.contains(bytes[end]) {
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
