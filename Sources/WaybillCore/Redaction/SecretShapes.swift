/// What gives a secret away by its look alone, wherever it stands.
enum SecretShapes {
    /// Whether a text needs a closer look; false for most, and then nothing was allocated.
    static func mayOccur(in bytes: some Sequence<UInt8>) -> Bool {
        var last: UInt64 = 0
        var digits = 0
        for byte in bytes {
            switch byte {
            // Between a name and a value, before user-info, and in an escape.
            case UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "%"): return true
            case _ where byte.isDigit: digits += 1
            default: break
            }
            last = last << 8 | UInt64(byte.lowercased)
            if last & 0xFF_FFFF == eyJ || last & 0xFFFF_FFFF_FFFF == bearer || last & 0xFF_FFFF_FFFF == basic {
                return true
            }
        }
        return digits >= cardLengths.lowerBound
    }

    private static let eyJ = letters("eyj")
    private static let bearer = letters("bearer")
    private static let basic = letters("basic")

    private static func letters(_ word: String) -> UInt64 { word.utf8.reduce(0) { $0 << 8 | UInt64($1) } }

    // MARK: JSON Web Tokens (RFC 7519)

    /// Where a token that starts at `start` ends: `eyJ...`, and one more part that starts like it or two of any kind;
    /// nil where there is none.
    static func endOfToken(_ bytes: [UInt8], at start: Int) -> Int? {
        guard bytes[start...].starts(with: "eyJ".utf8) else { return nil }
        let header = endOfPart(bytes, from: start)
        guard header < bytes.count, bytes[header] == UInt8(ascii: ".") else { return nil }
        let payload = endOfPart(bytes, from: header + 1)
        guard payload > header + 1 else { return nil }
        guard payload < bytes.count, bytes[payload] == UInt8(ascii: ".") else {
            // Without a signature, when it was cut off.
            return bytes[(header + 1)...].starts(with: "eyJ".utf8) ? payload : nil
        }
        // An encrypted one has five parts.
        var end = endOfPart(bytes, from: payload + 1)
        while end < bytes.count, bytes[end] == UInt8(ascii: "."), endOfPart(bytes, from: end + 1) > end + 1 {
            end = endOfPart(bytes, from: end + 1)
        }
        return end
    }

    /// Where the letters of base64url end.
    static func endOfPart(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start
        while index < bytes.count, bytes[index].isLetterOrDigit || "-_=".utf8.contains(bytes[index]) { index += 1 }
        return index
    }

    // MARK: Credentials after their scheme (RFC 6750, RFC 7617)

    /// The credentials behind `bearer` or `basic` that starts at `start`, in any case; nil where there are none.
    static func credentials(_ bytes: [UInt8], at start: Int) -> Range<Int>? {
        guard start == 0 || !bytes[start - 1].isLetterOrDigit else { return nil }
        let isBearer = starts(bytes, at: start, with: "bearer")
        guard isBearer || starts(bytes, at: start, with: "basic") else { return nil }
        var first = start + (isBearer ? 6 : 5)
        let end = first
        while first < bytes.count, bytes[first] == UInt8(ascii: " ") { first += 1 }
        guard first > end else { return nil }
        var last = first
        while last < bytes.count, bytes[last].isLetterOrDigit || "-._~+/=".utf8.contains(bytes[last]) { last += 1 }
        guard last > first else { return nil }
        // "basic plan" is a word, "Basic dXNlcjpwYXNz" is a secret. After "bearer" every word counts.
        return isBearer || bytes[(first + 1)..<last].contains(where: { !$0.isSmallLetter }) ? first..<last : nil
    }

    static func starts(_ bytes: [UInt8], at start: Int, with word: StaticString) -> Bool {
        guard start + word.utf8CodeUnitCount <= bytes.count else { return false }
        return word.withUTF8Buffer { word in word.indices.allSatisfy { bytes[start + $0].lowercased == word[$0] } }
    }

    // MARK: Card numbers (ISO/IEC 7812)

    static let cardLengths = 13...19

    /// Where a card number that starts at `start` ends; nil where there is none.
    ///
    /// 13 to 19 digits with single spaces or hyphens between groups and a right check digit, not inside a longer word
    /// or a fraction. It does not start with 0 or 1, as times since 1970 do: no card that people pay with has such a
    /// number.
    static func endOfCardNumber(_ bytes: [UInt8], at start: Int) -> Int? {
        guard bytes[start].isDigit, bytes[start] > UInt8(ascii: "1") else { return nil }
        if start > 0 {
            if bytes[start - 1].isLetterOrDigit { return nil }
            if start > 1, bytes[start - 1] == UInt8(ascii: "."), bytes[start - 2].isDigit { return nil }
        }
        var digits: [UInt8] = []
        var end: Int?
        var index = start
        while index < bytes.count, digits.count < cardLengths.upperBound, bytes[index].isDigit {
            digits.append(bytes[index] - UInt8(ascii: "0"))
            index += 1
            let isEndOfGroup = index == bytes.count || !bytes[index].isLetterOrDigit
            if isEndOfGroup, cardLengths.contains(digits.count), hasRightCheckDigit(digits) { end = index }
            if index + 1 < bytes.count, bytes[index] == UInt8(ascii: " ") || bytes[index] == UInt8(ascii: "-") {
                index += 1
            }
        }
        return end
    }

    /// Luhn's rule: ISO/IEC 7812-1, annex B.
    static func hasRightCheckDigit(_ digits: some BidirectionalCollection<UInt8>) -> Bool {
        let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
            let doubled = Int(digit.element) * (digit.offset % 2 + 1)
            return sum + (doubled > 9 ? doubled - 9 : doubled)
        }
        return sum % 10 == 0
    }
}
