struct SensitiveNames: Sendable {
    enum Meaning: Sendable {
        case harmless
        /// A secret in every use of the name.
        case secret
        /// A number is the secrets' count, as in `tokens: 1532`, and not hidden.
        case secrets
        /// A property of a secret, such as its count or kind. Numbers and plain words are not hidden.
        case remark
        /// A secret if it names a value; elsewhere an ordinary word: `auth`, `session`.
        case word
        /// An authorization code. Error codes such as `404` and `NOT_FOUND` are not hidden.
        case code
        /// Names such as `city` and `firstName` are not hidden.
        case key
        /// WebSocket subprotocols. Browsers send tokens there, because they can't set header fields.
        case protocols
    }

    /// Parts of secret names, ignoring case and separators: `X-Api-Key`, `refresh_token`, `newPassword`.
    static let stems = [
        "authorization", "cookie", "token", "passw", "passphrase", "passcode", "pwd", "secret", "credential", "jwt",
        "signature", "saml", "csrf", "xsrf", "hmac", "mnemonic", "connectionstring", "onetimepass",
        "sessionid", "sessid", "sessionkey", "sessionstate", "sessiondata",
        "apikey", "accesskey", "privatekey", "authkey", "subscriptionkey", "functionskey", "masterkey", "accountkey",
        "consumerkey", "customerkey", "sharedkey", "encryptionkey", "signingkey", "licensekey", "servicekey", "appkey",
        "clientkey", "serverkey", "writekey", "deploykey", "sshkey", "adminkey", "recoverykey",
        "codeverifier", "oauthverifier", "devicecode", "usercode", "authcode", "verificationcode", "securitycode",
        "recoverycode", "backupcode", "confirmationcode", "activationcode", "invitecode", "invitationcode",
        "resetcode", "logincode", "mfacode", "otpcode", "onetimecode", "smscode", "yourcode", "entercode", "cardcode",
        "passkey", "securityanswer", "seedphrase", "recoveryphrase", "relaystate", "cardnumber", "ccnumber",
        "socialsecurity",
        "sourceproof", "installationproof",
    ]

    /// Endings of secret names, before any digits: `X-Auth` and `userPin`, but not `author` or `spin`.
    static let endings = [
        "auth", "pass", "pw", "pin", "otp", "totp", "cvv", "cvc", "csc", "ssn", "sid", "sig", "session", "bearer",
        "dpop", "assertion", "mfa",
    ]

    /// Last words that describe a secret without revealing it: `tokenCount`, `password_length`.
    static let remarks = [
        "count", "counts", "length", "len", "size", "limit", "max", "min", "total", "budget", "usage", "used", "index",
        "position", "age", "ttl", "expiry", "expires", "expiration", "lifetime", "duration", "timeout", "seconds",
        "attempts", "retries", "tries", "strength", "score", "version", "at", "in", "type", "kind", "status", "policy",
        "algorithm", "alg", "format", "mode", "source", "field", "label", "placeholder", "method", "provider", "class",
        "action", "reason", "error", "required", "enabled", "present", "valid",
    ]

    static let plurals = ["tokens", "passwords", "cookies", "secrets"]

    /// Continuations that give a stem another meaning: `secretary`, `tokenizer`, `passwordless`.
    private static let otherWords = Set(
        ["ary", "ari", "ion", "ive", "iz", "ise", "isin", "isat", "less", "ordless"].map { ending in
            ending.utf8.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        })

    static let wholes: [(name: String, meaning: Meaning)] = [
        ("ticket", .word), ("code", .code), ("key", .key), ("reset", .key), ("magic", .key), ("invite", .key),
        ("secwebsocketprotocol", .protocols),
    ]

    /// Path segments before a secret, besides the secret names.
    static let segments = [
        "reset", "magic", "magiclink", "invite", "invites", "invitation", "invitations", "verify", "verifyemail",
        "confirm", "confirmemail", "confirmation", "activate", "activation", "recover", "recovery", "unsubscribe",
        "sessions", "webhook", "webhooks", "webhookb", "incomingwebhook",
    ]

    /// A class, because a struct of arrays would be retained array by array.
    private final class Table: Sendable {
        let stems = grouped(SensitiveNames.stems.map { Stem($0, .anywhere, .secret) })
        let ends = grouped(
            SensitiveNames.endings.map { Stem($0, .asWords, .word) },
            SensitiveNames.wholes.map { Stem($0.name, .whole, $0.meaning) },
            SensitiveNames.segments.map { Stem($0, .segment, .word) },
            SensitiveNames.remarks.map { Stem($0, .remark, .remark) },
            SensitiveNames.plurals.map { Stem($0, .anywhere, .secrets) })
        /// For each last letter, a bit for each letter before it in any of `stems`. Most pairs of letters end none.
        private let pairs: [UInt32]

        init() {
            pairs = stems.map { group in group.reduce(0) { $0 | Self.bit(before: $1.letters) } }
        }

        @inline(__always)
        func mayEnd(_ name: LastLetters) -> Bool { pairs[Int(name.low & 31)] & Self.bit(before: name) != 0 }

        @inline(__always)
        private static func bit(before letters: LastLetters) -> UInt32 { 1 << UInt32(letters.low >> 8 & 31) }

        private static func grouped(_ stems: [Stem]...) -> [[Stem]] {
            (0..<32).map { group in stems.joined().filter { Int($0.letters.low & 31) == group } }
        }
    }

    private static let table = Table()

    /// A pattern for the last letters of a name. Only its last 16 letters count, so a longer one hides more.
    struct Stem: Sendable {
        enum Place { case anywhere, asWords, whole, segment, remark }

        let letters: LastLetters
        let mask: LastLetters
        let count: Int
        let place: Place
        let meaning: Meaning

        init(_ text: String, _ place: Place = .anywhere, _ meaning: Meaning = .secret) {
            let last = text.utf8.suffix(16)
            letters = LastLetters(last)
            mask = LastLetters(last.map { _ in .max })
            (count, self.place, self.meaning) = (text.utf8.count, place, meaning)
        }

        @inline(__always)
        func ends(_ name: LastLetters) -> Bool { name.equals(letters, where: mask) }
    }

    private let additional: Set<[UInt8]>

    private let visible: Set<[UInt8]>

    let isOff: Bool

    init(additional: [String] = [], visible: [String] = [], isOff: Bool = false) {
        self.additional = Set(additional.map { Self.normalized($0.utf8) })
        self.visible = Set(visible.map { Self.normalized($0.utf8) })
        self.isOff = isOff
    }

    func contains(_ name: some Sequence<UInt8>) -> Bool { meaning(of: name) != .harmless }

    func hides(_ value: some Sequence<UInt8>, under name: some Sequence<UInt8>) -> Bool {
        hides(value, as: meaning(of: name))
    }

    func hides(_ value: some Sequence<UInt8>, as meaning: Meaning) -> Bool {
        switch meaning {
        case .harmless: false
        case .secret: !PlainWords.isNothing(value)
        case .word: !PlainWords.isNothing(value) && !PlainWords.isSaid(value)
        case .secrets: !PlainWords.isNothing(value) && !PlainWords.isNumber(value, upTo: 18)
        case .remark: !PlainWords.isNothing(value) && !PlainWords.isQuantity(value) && !PlainWords.isName(value)
        case .code: !PlainWords.isNothing(value) && !PlainWords.isErrorCode(value)
        case .key:
            !PlainWords.isNothing(value) && !PlainWords.isName(value) && !PlainWords.isNumber(value, upTo: 4)
        case .protocols:
            !Array(value).split(separator: UInt8(ascii: ",")).allSatisfy { item in
                let item = item.drop { $0 == UInt8(ascii: " ") }
                return PlainWords.isName(item) && self.meaning(of: item) == .harmless
            }
        }
    }

    /// Whether a number is a secret under a name with this meaning. One-time codes have six to eight digits.
    func hides(number digits: String, as meaning: Meaning) -> Bool {
        switch meaning {
        case .code: (6...8).contains(digits.utf8.count) && digits.utf8.allSatisfy(\.isDigit)
        case .harmless, .key: false
        case .secret, .secrets, .remark, .word, .protocols: hides(digits.utf8, as: meaning)
        }
    }

    /// If `least` is positive, only stems with more letters count. `isSegment` marks a path segment before a value.
    func meaning(of name: some Sequence<UInt8>, longerThan least: Int = 0, isSegment: Bool = false) -> Meaning {
        name.withBytes { bytes in meaning(of: bytes, longerThan: least, isSegment: isSegment) }
    }

    private func meaning(of name: UnsafeBufferPointer<UInt8>, longerThan least: Int, isSegment: Bool) -> Meaning {
        if isOff { return .harmless }
        let table = Self.table
        var last = LastLetters()
        // Each bit stands for a letter, the lowest for the last. It is set at the beginning of a word.
        var starts: UInt64 = 0
        var count = 0
        var end = (last: last, starts: starts, count: 0, group: 0)
        var previous = UInt8(ascii: " ")
        var (stemEnd, earlierEnd) = (0, 0)
        var tail: UInt64?
        for byte in name {
            defer { previous = byte }
            if Self.isIgnored(byte) { continue }
            let startsWord = Self.isIgnored(previous) || byte.isCapital && !previous.isCapital
            last.append(byte.lowercased)
            starts = starts << 1 | (startsWord ? 1 : 0)
            count += 1
            let group = Int(byte & 31)
            if let letters = tail {
                let letters = letters << 8 | UInt64(byte.lowercased)
                tail = startsWord || letters >> 56 != 0 ? nil : letters
                if tail != nil, Self.otherWords.contains(letters) { (stemEnd, tail) = (earlierEnd, nil) }
            }
            if table.mayEnd(last) {
                for stem in table.stems[group] where stem.ends(last) && stem.count > least {
                    if stemEnd < count { (earlierEnd, stemEnd) = (stemEnd, count) }
                    tail = 0
                }
            }
            if !byte.isDigit { end = (last, starts, count, group) }
        }
        var meaning = stemEnd > 0 ? Meaning.secret : .harmless
        if least == 0 {
            for stem in table.ends[end.group] where stem.ends(end.last) {
                let start = end.count - stem.count
                let startsWord = end.starts >> UInt64(stem.count - 1) & 1 == 1
                let fits =
                    switch stem.place {
                    case .anywhere: true
                    case .asWords: stemEnd == 0 && startsWord
                    case .whole: stemEnd == 0 && start == 0
                    case .segment: isSegment && meaning == .harmless && start == 0
                    case .remark: stemEnd > 0 && (start == stemEnd || start > stemEnd && startsWord)
                    }
                if fits { meaning = stem.meaning }
            }
        }
        guard !additional.isEmpty || !visible.isEmpty else { return meaning }
        let normalized = Self.normalized(name)
        if additional.contains(normalized) { return .secret }
        return visible.contains(normalized) ? .harmless : meaning
    }

    func precedesSecret(_ segment: some Sequence<UInt8>) -> Bool {
        meaning(of: segment, isSegment: true) != .harmless
    }

    /// Whether a path segment is a secret, given the previous one. A collection's numbers are IDs: `/sessions/42`.
    static func isSecret(_ value: some Collection<UInt8>, behind segment: some Collection<UInt8>) -> Bool {
        if PlainWords.isSegment(value) { return false }
        let name = segment.map(\.lowercased)
        let isCollection = name.last == UInt8(ascii: "s") || name.elementsEqual("session".utf8)
        return !(isCollection && !isHook(name) && PlainWords.isNumber(value, upTo: 9))
    }

    /// Whether the whole rest of a path is secret, because a webhook's address allows writing there.
    static func isHook(_ segment: some Sequence<UInt8>) -> Bool {
        let name = segment.map(\.lowercased)
        return ["webhook", "webhooks", "webhookb2", "incomingwebhook"].contains { name.elementsEqual($0.utf8) }
    }

    func isVisible(_ name: some Sequence<UInt8>) -> Bool {
        guard !visible.isEmpty else { return false }
        let normalized = Self.normalized(name)
        return visible.contains(normalized) && !additional.contains(normalized)
    }

    private static func normalized(_ name: some Sequence<UInt8>) -> [UInt8] {
        name.lazy.filter { !isIgnored($0) }.map(\.lowercased)
    }

    private static func isIgnored(_ byte: UInt8) -> Bool { byte < 0x80 && !byte.isLetterOrDigit }
}

struct LastLetters: Hashable, Sendable {
    // `UInt128` requires iOS 18.
    private(set) var high: UInt64 = 0
    private(set) var low: UInt64 = 0

    init() {}

    init(_ letters: some Sequence<UInt8>) { for letter in letters { append(letter) } }

    @inline(__always)
    mutating func append(_ letter: UInt8) {
        high = high << 8 | low >> 56
        low = low << 8 | UInt64(letter)
    }

    @inline(__always)
    func equals(_ other: LastLetters, where mask: LastLetters) -> Bool {
        (high ^ other.high) & mask.high | (low ^ other.low) & mask.low == 0
    }
}
