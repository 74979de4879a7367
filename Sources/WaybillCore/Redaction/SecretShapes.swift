import Foundation

enum SecretShapes {
    /// Whether a text needs a scan. It allocates nothing, and is false for most short texts.
    static func mayOccur(in bytes: some Sequence<UInt8>) -> Bool { bytes.withBytes(mayOccur) }

    private static func mayOccur(in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var word: UInt64 = 0
        var run = 0
        var digits = 0
        for byte in bytes {
            switch byte {
            // Delimiters of names and values, user-info, escapes, addresses, paths and lists.
            case UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "%"), UInt8(ascii: "@"), UInt8(ascii: "/"),
                UInt8(ascii: "["):
                return true
            case UInt8(ascii: " "):
                if introductions.contains(word) { return true }
                (word, run) = (0, 0)
            case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "+"): (word, run) = (0, run + 1)
            case _ where byte.isLetterOrDigit:
                if byte.isDigit { digits += 1 }
                (word, run) = (word << 8 | UInt64(byte.lowercased), run + 1)
            default: (word, run) = (0, 0)
            }
            if run == KeyShape.leastCount { return true }
        }
        // A social security number has the fewest digits: nine.
        return digits >= 9
    }

    /// The last eight letters of words before a secret.
    private static let introductions = [
        "bearer", "basic", "digest", "ntlm", "dpop", "negotiate", "private", "is",
    ].map { word in word.utf8.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }

    // MARK: JSON Web Tokens (RFC 7519)

    /// Without a signature, two parts must start with `eyJ`.
    static func endOfToken(_ bytes: [UInt8], at start: Int) -> Int? {
        guard bytes[start...].starts(with: "eyJ".utf8) else { return nil }
        let header = endOfPart(bytes, from: start)
        guard header < bytes.count, bytes[header] == UInt8(ascii: ".") else { return nil }
        let payload = endOfPart(bytes, from: header + 1)
        guard payload > header + 1 else { return nil }
        guard payload < bytes.count, bytes[payload] == UInt8(ascii: ".") else {
            return bytes[(header + 1)...].starts(with: "eyJ".utf8) ? payload : nil
        }
        // An encrypted token has five parts.
        var end = endOfPart(bytes, from: payload + 1)
        while end < bytes.count, bytes[end] == UInt8(ascii: "."), endOfPart(bytes, from: end + 1) > end + 1 {
            end = endOfPart(bytes, from: end + 1)
        }
        return end
    }

    static func endOfPart(_ bytes: [UInt8], from start: Int) -> Int {
        bytes[start...].firstIndex { !$0.isLetterOrDigit && !$0.isOne(of: "-_=") } ?? bytes.count
    }

    // MARK: Credentials after their scheme (RFC 6750, RFC 7617, RFC 4559, RFC 9449)

    /// Returns the credentials after a scheme that starts at `start`, ignoring case.
    static func credentials(_ bytes: [UInt8], at start: Int) -> Range<Int>? {
        guard start == 0 || !bytes[start - 1].isLetterOrDigit else { return nil }
        guard let scheme = schemes.first(where: { starts(bytes, at: start, with: $0) }) else { return nil }
        let spaces = bytes[(start + scheme.utf8CodeUnitCount)...].prefix { $0 == UInt8(ascii: " ") }
        let value = bytes[spaces.endIndex...].prefix { $0.isLetterOrDigit || $0.isOne(of: "-._~+/=") }
        guard !spaces.isEmpty, !value.isEmpty else { return nil }
        switch (bytes[start].lowercased, bytes[start + 1].lowercased) {
        // After "bearer", every word is a secret.
        case (UInt8(ascii: "b"), UInt8(ascii: "e")): return value.indices
        case (UInt8(ascii: "b"), _): return areBasic(value) ? value.indices : nil
        default: return value.dropFirst().contains(where: { !$0.isSmallLetter }) ? value.indices : nil
        }
    }

    /// Distinguishes base64 credentials, as in `Basic dXNlcjpwYXNz`, from words, as in `Basic T-shirt`.
    private static func areBasic(_ value: ArraySlice<UInt8>) -> Bool {
        if PlainWords.isName(value) {
            return hasColonInBase64(value) && value.dropFirst().contains { !$0.isSmallLetter }
        }
        guard value.count < 16 else { return true }
        return hasColonInBase64(value)
            || value.count >= 8 && value.contains { $0.isDigit } && value.contains { $0.isCapital }
    }

    /// Whether the bytes are base64 (RFC 4648, section 4) of a text with a colon.
    private static func hasColonInBase64(_ value: ArraySlice<UInt8>) -> Bool {
        let letters = value.prefix { $0 != UInt8(ascii: "=") }
        guard letters.count >= 4, letters.count % 4 != 1 else { return false }
        // Zeros, because decoders differ on padding.
        let zeros = Data(repeating: UInt8(ascii: "A"), count: (4 - letters.count % 4) % 4)
        guard let text = Data(base64Encoded: Data(letters) + zeros)?.prefix(letters.count * 3 / 4) else { return false }
        return text.contains(UInt8(ascii: ":")) && text.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    private static let schemes: [StaticString] = ["bearer", "basic", "ntlm", "dpop", "negotiate"]

    static func isDigest(_ bytes: [UInt8], at start: Int) -> Bool {
        guard start == 0 || !bytes[start - 1].isLetterOrDigit, starts(bytes, at: start, with: "digest ") else {
            return false
        }
        return bytes[(start + 7)...].prefix(16).drop { $0.isLetter }.first == UInt8(ascii: "=")
    }

    static func starts(_ bytes: [UInt8], at start: Int, with word: StaticString) -> Bool {
        guard start + word.utf8CodeUnitCount <= bytes.count else { return false }
        return word.withUTF8Buffer { word in word.indices.allSatisfy { bytes[start + $0].lowercased == word[$0] } }
    }

    // MARK: Card numbers (ISO/IEC 7812)

    static let cardLengths = 13...19

    /// The prefix determines the length. Single spaces or hyphens can separate groups, and the check digit must match.
    static func endOfCardNumber(_ bytes: [UInt8], at start: Int) -> Int? {
        guard bytes[start].isDigit, bytes[start] > UInt8(ascii: "1") else { return nil }
        if start > 0 {
            if bytes[start - 1].isLetterOrDigit { return nil }
            if start > 1, bytes[start - 1] == UInt8(ascii: "."), bytes[start - 2].isDigit { return nil }
        }
        // Both sums of the Luhn algorithm: with the digits at even or at odd positions doubled.
        var (count, evenDoubled, oddDoubled) = (0, 0, 0)
        // The sums for a barcode's check digit, and the first four digits.
        var (even, odd, head) = (0, 0, 0)
        var end: Int?
        var index = start
        while index < bytes.count, count < cardLengths.upperBound, bytes[index].isDigit {
            let digit = Int(bytes[index] - UInt8(ascii: "0"))
            let doubled = digit > 4 ? 2 * digit - 9 : 2 * digit
            evenDoubled += count.isMultiple(of: 2) ? doubled : digit
            oddDoubled += count.isMultiple(of: 2) ? digit : doubled
            even += count.isMultiple(of: 2) ? digit : 0
            odd += count.isMultiple(of: 2) ? 0 : digit
            if count < 4 { head = head * 10 + digit }
            count += 1
            index += 1
            let isEndOfGroup = index == bytes.count || !bytes[index].isLetterOrDigit
            // The algorithm doubles every second digit, starting with the second from the right.
            let sum = count.isMultiple(of: 2) ? evenDoubled : oddDoubled
            // Visa's old numbers are as long as barcodes (ISO/IEC 15420), whose check digits differ.
            let isBarcode = count == 13 && (even + 3 * odd).isMultiple(of: 10)
            if isEndOfGroup, cardLengths.contains(count), sum.isMultiple(of: 10), !isBarcode, isIssued(head, count) {
                end = index
            }
            if index + 1 < bytes.count, bytes[index] == UInt8(ascii: " ") || bytes[index] == UInt8(ascii: "-") {
                index += 1
            }
        }
        return end
    }

    private static func isIssued(_ head: Int, _ count: Int) -> Bool {
        switch head {
        // Mir, Mastercard, Visa
        case 2200...2204: (16...19).contains(count)
        case 2221...2720, 5100...5599: count == 16
        case 4000...4999: count == 13 || count == 16 || count == 19
        // Diners Club, American Express, JCB
        case 3000...3059, 3095, 3600...3699, 3800...3999: count == 14
        case 3400...3499, 3700...3799: count == 15
        case 3528...3589: (16...19).contains(count)
        // Maestro and cards of single countries
        case 5018, 5020, 5038, 5612, 5893, 6304, 6390, 6759, 6761...6763, 6767: (13...19).contains(count)
        case 5000...5099, 6000...6010, 6012...6099, 6270...6399, 8200...8299, 9792: count == 16
        // Discover, UnionPay
        case 6011, 6200...6299, 6440...6599, 8100...8199: (16...19).contains(count)
        default: false
        }
    }
}

struct KeyShape: Sendable {
    let prefix: [UInt8]
    let least: Int
    let others: [UInt8]

    private init(_ prefix: String, _ least: Int, _ others: String) {
        (self.prefix, self.least, self.others) = (Array(prefix.utf8), least, Array(others.utf8))
    }

    static let leastCount = 16

    static let byFirstLetter: [[KeyShape]] = {
        var groups = [[KeyShape]](repeating: [], count: 128)
        for (prefixes, least, others) in families {
            for prefix in prefixes.split(separator: " ") {
                let shape = KeyShape(String(prefix), least, others)
                groups[Int(shape.prefix[0] & 127)].append(shape)
            }
        }
        return groups
    }()

    private static let families: [(prefixes: String, least: Int, others: String)] = [
        // Waybill's own
        ("waybill_", 16, "-_.~+/="),
        // AWS
        ("AKIA ASIA ABIA ACCA", 12, ""),
        // GitHub, GitLab
        ("ghp_ gho_ ghu_ ghs_ ghr_", 12, "_"), ("github_pat_", 12, "_"),
        ("glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat-", 12, "-_."),
        // Slack
        ("xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-", 10, "-_.%"),
        // Stripe, Square, Shopify
        ("sk_live_ sk_test_ rk_live_ rk_test_", 8, "_"), ("whsec_", 12, "+/="), ("sq0atp- sq0csp-", 12, "-_"),
        ("shpat_ shpca_ shpss_ shppa_", 12, ""),
        // Google
        ("AIza", 20, "-_"), ("ya29.", 12, "-_."), ("GOCSPX-", 12, "-_"),
        // Models
        ("sk-proj- sk-ant- sk-svcacct- sk-admin- sk-or-", 12, "-_"), ("sk-", 32, ""), ("hf_ r8_", 24, ""),
        ("gsk_", 24, ""), ("xai- pplx-", 24, ""),
        // Mail and messages
        ("SG.", 24, "-_."), ("key-", 32, ""), ("xkeysib-", 24, "-"), ("SK", 32, ""),
        // Packages and builds
        ("npm_", 24, ""), ("pypi-", 24, "-_"), ("rubygems_", 24, ""), ("dckr_pat_", 16, "-_"), ("nfp_", 24, ""),
        // Clouds and operation
        ("dop_v1_ doo_v1_ dor_v1_", 24, ""), ("hvs. hvb. hvr.", 16, "-_"), ("dp.pt. dp.st. dp.ct.", 24, "-_."),
        ("dapi", 32, "-"), ("sbp_ sb_secret_", 16, "-_"), ("glsa_ glc_", 20, "-_="), ("NRAK-", 20, ""),
        ("tskey-", 12, "-_"), ("sntrys_ sntryu_", 24, "+/=_"), ("AGE-SECRET-KEY-1", 24, ""),
        // Work
        ("lin_api_ lin_oauth_ ntn_", 20, ""), ("PMAK-", 24, "-"), ("figd_", 20, "-_"),
        ("ATATT3 ATCTT3", 24, "-_="),
    ]
}

extension SecretShapes {
    static func isPartOfKey(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || byte.isOne(of: "_-.+/=") }

    static func endOfKey(_ bytes: [UInt8], at start: Int) -> Int? {
        guard bytes[start] < 128 else { return nil }
        for shape in KeyShape.byFirstLetter[Int(bytes[start])] where bytes[start...].starts(with: shape.prefix) {
            var end = start + shape.prefix.count
            var hasDigit = false
            // Gives up after 128 bytes without a digit, because many starts can share those bytes.
            while end < bytes.count, bytes[end].isLetterOrDigit || shape.others.contains(bytes[end]),
                hasDigit || end - start < 128
            {
                hasDigit = hasDigit || bytes[end].isDigit
                end += 1
            }
            // The full stop of a sentence is not part of the key.
            while end > start, bytes[end - 1] == UInt8(ascii: ".") { end -= 1 }
            if hasDigit, end - start >= shape.prefix.count + shape.least { return end }
        }
        return nil
    }

    /// Returns the end of an AWS secret key: 40 base64 letters that look random.
    static func endOfCloudSecret(_ bytes: [UInt8], at start: Int) -> Int? {
        guard start + 40 <= bytes.count else { return nil }
        var counts = (small: 0, capital: 0, digit: 0, other: 0)
        var changes = 0
        var last = -1
        for byte in bytes[start..<start + 40] {
            let kind: Int
            if byte.isSmallLetter {
                (kind, counts.small) = (0, counts.small + 1)
            } else if byte.isCapital {
                (kind, counts.capital) = (1, counts.capital + 1)
            } else if byte.isDigit {
                (kind, counts.digit) = (2, counts.digit + 1)
            } else if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "+") {
                (kind, counts.other) = (3, counts.other + 1)
            } else {
                return nil
            }
            changes += kind == last ? 0 : 1
            last = kind
        }
        let end = start + 40
        guard end == bytes.count || !isPartOfKey(bytes[end]) || bytes[end] == UInt8(ascii: ".") else { return nil }
        let isRandom = counts.small > 3 && counts.capital > 3 && counts.digit > 0 && counts.other < 8 && changes >= 16
        return isRandom && !names(bytes, before: start, checksums) ? end : nil
    }

    /// Returns the end of a bot's key after the colon at `start` (Telegram's `123456:AA...`).
    static func endOfBotKey(_ bytes: [UInt8], at start: Int) -> Int? {
        guard start > 5, bytes[start - 6..<start].allSatisfy(\.isDigit), bytes[start...].starts(with: ":AA".utf8) else {
            return nil
        }
        let end = endOfPart(bytes, from: start + 1)
        return end - start > 30 && end - start < 40 ? end : nil
    }

    // MARK: Private keys (RFC 7468)

    /// Returns the end of a private key in PEM, which is the end of the text if the closing line is missing.
    static func endOfPrivateKey(_ bytes: [UInt8], at start: Int) -> (end: Int, isClosed: Bool)? {
        guard bytes[start...].starts(with: "-----BEGIN ".utf8) else { return nil }
        let head = bytes[(start + 11)...].prefix(64)
        let label = head.prefix { $0 == UInt8(ascii: " ") || $0.isLetterOrDigit }
        guard String(decoding: label, as: UTF8.self).contains("PRIVATE KEY") else { return nil }
        return closing(bytes, from: label.endIndex).map { ($0, true) } ?? (bytes.count, false)
    }

    static func closing(_ bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while let mark = bytes[index...].firstIndex(of: UInt8(ascii: "-")) {
            guard bytes[mark...].starts(with: "-----END ".utf8) else {
                index = mark + 1
                continue
            }
            let label = bytes[(mark + 9)...].prefix(64).prefix { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "\n") }
            return label.endIndex + bytes[label.endIndex...].prefix(5).prefix { $0 == UInt8(ascii: "-") }.count
        }
        return nil
    }
}
