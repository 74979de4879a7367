/// A kind of key or token that its issuer marks with a prefix.
struct KeyShape: Sendable {
    let prefix: [UInt8]
    /// How many letters, digits and whatever else is allowed follow at least; one of them is a digit.
    let least: Int
    /// What may follow besides letters and digits.
    let others: [UInt8]

    private init(_ prefix: String, _ least: Int, _ others: String) {
        (self.prefix, self.least, self.others) = (Array(prefix.utf8), least, Array(others.utf8))
    }

    /// The shortest of all.
    static let leastCount = 16

    /// By their first letter.
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
    /// Whether a byte may be part of a key, or between parts of it.
    static func isPartOfKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "/"),
            UInt8(ascii: "="):
            true
        default: byte.isLetterOrDigit
        }
    }

    /// Where a key that starts at `start` ends; nil where there is none. No letter or digit stands before it.
    static func endOfKey(_ bytes: [UInt8], at start: Int) -> Int? {
        guard bytes[start] < 128 else { return nil }
        for shape in KeyShape.byFirstLetter[Int(bytes[start])] where bytes[start...].starts(with: shape.prefix) {
            var end = start + shape.prefix.count
            var hasDigit = false
            // Without a digit it is not looked at to its end, which many beginnings may have in common.
            while end < bytes.count, bytes[end].isLetterOrDigit || shape.others.contains(bytes[end]),
                hasDigit || end - start < 128
            {
                hasDigit = hasDigit || bytes[end].isDigit
                end += 1
            }
            // The end of a sentence is not the key's.
            while end > start, bytes[end - 1] == UInt8(ascii: ".") { end -= 1 }
            if hasDigit, end - start >= shape.prefix.count + shape.least { return end }
        }
        return nil
    }

    /// Where a secret key of AWS that starts at `start` ends: 40 letters of base64 that change between capitals, small
    /// letters and digits as only what was drawn at random does; nil where there is none.
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

    /// Where the letters of a bot's key end behind the colon at `start` (Telegram's `123456:AA...`); nil where there
    /// are none.
    static func endOfBotKey(_ bytes: [UInt8], at start: Int) -> Int? {
        guard start > 5, bytes[start - 6..<start].allSatisfy(\.isDigit), bytes[start...].starts(with: ":AA".utf8) else {
            return nil
        }
        let end = endOfPart(bytes, from: start + 1)
        return end - start > 30 && end - start < 40 ? end : nil
    }

    // MARK: Private keys (RFC 7468)

    /// Where a private key in PEM that starts at `start` ends: behind its last line, or where there is none at the end
    /// of the text; nil where none starts.
    static func endOfPrivateKey(_ bytes: [UInt8], at start: Int) -> (end: Int, isClosed: Bool)? {
        guard bytes[start...].starts(with: "-----BEGIN ".utf8) else { return nil }
        let head = bytes[(start + 11)...].prefix(64)
        let label = head.prefix { $0 == UInt8(ascii: " ") || $0.isLetterOrDigit }
        guard contains(label, "PRIVATE KEY") else { return nil }
        return closing(bytes, from: label.endIndex).map { ($0, true) } ?? (bytes.count, false)
    }

    /// Behind the last line of a key in PEM, in what follows its first line; nil: not here.
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

    private static func contains(_ bytes: ArraySlice<UInt8>, _ word: StaticString) -> Bool {
        bytes.indices.contains { index in
            word.withUTF8Buffer { bytes[index...].starts(with: $0) }
        }
    }
}
