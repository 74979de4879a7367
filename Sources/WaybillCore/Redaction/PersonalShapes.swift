extension SecretShapes {
    // MARK: E-mail addresses (RFC 5321)

    static func address(_ bytes: [UInt8], around index: Int, notBefore first: Int) -> Range<Int>? {
        guard let found = address(bytes, around: index, notBefore: first, upTo: .max) else { return nil }
        // Bytes that are not UTF-8, as in a picture, are not part of an address.
        if String(utf8: bytes[found]) != nil { return found }
        return address(bytes, around: index, notBefore: first, upTo: 0x7F)
    }

    private static func address(
        _ bytes: [UInt8], around index: Int, notBefore first: Int, upTo limit: UInt8
    ) -> Range<Int>? {
        var start = index
        while start > first, isLocal(bytes[start - 1]), bytes[start - 1] <= limit { start -= 1 }
        guard start < index else { return nil }
        let domain = bytes[(index + 1)...].prefix {
            $0 <= limit && ($0.isLetterOrDigit || $0 >= 0x80 || $0.isOne(of: "-."))
        }
        let labels = domain.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).prefix { !$0.isEmpty }
        guard let last = labels.last, labels.count > 1, last.count > 1,
            !last.contains(where: \.isDigit) || last.starts(with: "xn--".utf8),
            !fileTypes.contains(last.map(\.lowercased)), !isVersion(Array(labels))
        else { return nil }
        return start..<last.endIndex
    }

    private static func isLocal(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte >= 0x80 || byte.isOne(of: "._-+%")
    }

    /// `package@1.0.0-beta.rc`
    private static func isVersion(_ labels: [ArraySlice<UInt8>]) -> Bool {
        labels.count > 2 && labels[0].allSatisfy(\.isDigit) && labels[1].first?.isDigit == true
    }

    /// `icon@2x.png`
    private static let fileTypes = Set(
        wordsOf: """
            png jpg jpeg gif svg webp avif ico pdf js mjs cjs css map json html xml txt ts tsx jsx woff ttf swift dylib
            """)

    // MARK: Telephone numbers (ITU-T E.164)

    /// Returns the end of an international number: 9 to 15 digits, with spaces, hyphens, dots and brackets.
    static func endOfTelephoneNumber(_ bytes: [UInt8], at start: Int) -> Int? {
        if start > 0, bytes[start - 1].isLetterOrDigit || bytes[start - 1] == UInt8(ascii: "+") { return nil }
        var digits = 0
        var separators = 0
        var end: Int?
        var index = start + 1
        guard index < bytes.count, bytes[index].isDigit, bytes[index] != UInt8(ascii: "0") else { return nil }
        while index < bytes.count, digits <= 15 {
            let byte = bytes[index]
            if byte.isDigit {
                (digits, separators) = (digits + 1, 0)
                let isEndOfGroup = index + 1 == bytes.count || !bytes[index + 1].isLetterOrDigit
                if isEndOfGroup, digits >= 9, digits <= 15 { end = index + 1 }
            } else if separators < 2, isSeparator(byte) {
                separators += 1
            } else {
                break
            }
            index += 1
        }
        return end
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte.isOne(of: " -.()") }

    // MARK: Social security numbers of the United States

    /// Returns the end of a number like `219-09-9999`. Numbers that are never issued don't count.
    static func endOfSocialSecurityNumber(_ bytes: [UInt8], at start: Int) -> Int? {
        let end = start + 11
        guard end <= bytes.count, bytes[start + 3] == UInt8(ascii: "-"), bytes[start + 6] == UInt8(ascii: "-") else {
            return nil
        }
        if start > 0, bytes[start - 1].isLetterOrDigit || bytes[start - 1] == UInt8(ascii: "-") { return nil }
        if end < bytes.count, bytes[end].isLetterOrDigit || bytes[end] == UInt8(ascii: "-") { return nil }
        let digits = bytes[start..<end].filter(\.isDigit)
        guard digits.count == 9 else { return nil }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        let (area, group, serial) = (number / 1_000_000, number / 10_000 % 100, number % 10_000)
        guard area > 0 && area != 666 && area < 900 && group > 0 && serial > 0 else { return nil }
        return names(bytes, before: start, goods) ? nil : end
    }

    /// Words before numbers with similar groups.
    private static let goods = Set(
        wordsOf: "order part sku item ref reference serial model invoice lot batch article ticket case")

    /// Words before random-looking values that are no secrets.
    static let checksums = Set(wordsOf: "etag hash checksum digest integrity fingerprint commit blob")

    /// Whether one of these words precedes `index`, with only punctuation between them.
    static func names(_ bytes: [UInt8], before index: Int, _ words: Set<[UInt8]>) -> Bool {
        var end = index
        while end > 0, index - end < 4, bytes[end - 1].isOne(of: " =:#\"'") { end -= 1 }
        guard end < index else { return false }
        var start = end
        while start > 0, end - start < 12, bytes[start - 1].isLetter { start -= 1 }
        return start < end && words.contains(bytes[start..<end].map(\.lowercased))
    }

    // MARK: Numbers of accounts (ISO 13616)

    /// Returns the end of an IBAN with its country's length and right check digits. The caller checks the byte before.
    static func endOfAccountNumber(_ bytes: [UInt8], at start: Int) -> Int? {
        guard start + 15 <= bytes.count, bytes[start].isLetter, bytes[start + 1].isLetter, bytes[start + 2].isDigit,
            bytes[start + 3].isDigit
        else { return nil }
        let country = UInt16(bytes[start].lowercased) << 8 | UInt16(bytes[start + 1].lowercased)
        guard let length = accountLengths[country] else { return nil }
        var (count, index, remainder, head) = (0, start, 0, 0)
        while index < bytes.count, count < length {
            let byte = bytes[index]
            if byte == UInt8(ascii: " "), index + 1 < bytes.count, bytes[index + 1].isLetterOrDigit {
                index += 1
                continue
            }
            guard byte.isLetterOrDigit else { return nil }
            // The first four characters count as the last ones.
            if count < 4 {
                head = appended(byte, to: head)
            } else {
                remainder = appended(byte, to: remainder) % 97
            }
            (count, index) = (count + 1, index + 1)
        }
        guard count == length, index == bytes.count || !bytes[index].isLetterOrDigit else { return nil }
        // Two letters with two digits each, and two digits.
        return (Int64(remainder) * 1_000_000 + Int64(head)) % 97 == 1 ? index : nil
    }

    /// ISO 7064: a letter counts as a number of two digits.
    private static func appended(_ byte: UInt8, to number: Int) -> Int {
        byte.isDigit
            ? number * 10 + Int(byte - UInt8(ascii: "0")) : number * 100 + Int(byte.lowercased - UInt8(ascii: "a")) + 10
    }

    private static let accountLengths: [UInt16: Int] = Dictionary(
        """
        ad24 ae23 al28 at20 az28 ba20 be16 bg22 bh22 bi27 br29 by28 ch21 cr22 cy28 cz24 de22 dj27 dk18 do28 ee20 eg29
        es24 fi18 fk18 fo18 fr27 gb22 ge22 gi23 gl18 gr27 gt28 hr21 hu28 ie22 il23 iq23 is26 it27 jo30 kw30 kz20 lb28
        lc32 li21 lt20 lu20 lv21 ly25 mc27 md24 me22 mk19 mn20 mr27 mt31 mu30 ni28 nl18 no15 om23 pk24 pl28 ps29 pt25
        qa29 ro24 rs22 ru33 sa24 sc31 sd18 se24 si19 sk24 sm27 so23 st25 sv28 tl23 tn24 tr26 ua29 va22 vg24 xk20
        """.split(whereSeparator: \.isWhitespace).map { entry in
            let bytes = Array(entry.utf8)
            return (UInt16(bytes[0]) << 8 | UInt16(bytes[1]), Int(entry.dropFirst(2)) ?? 0)
        }, uniquingKeysWith: { first, _ in first })
}
