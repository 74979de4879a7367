/// Which names belong to secrets: of header fields, of query, form and JSON members, of attributes.
struct SensitiveNames: Sendable {
    /// What a name says of the value under it.
    enum Meaning: Sendable {
        case harmless
        /// A secret, in whatever way the name is used.
        case secret
        /// Several secrets, unless the value is a number: how many there are, as in `tokens: 1532`.
        case secrets
        /// What is said about a secret, such as its count or kind, unless the value is neither a number nor plain words.
        case remark
        /// A secret where it names a value; elsewhere a word like others: `auth`, `session`.
        case word
        /// What an authorization is exchanged for, unless it reads as the code of an error: `404`, `NOT_FOUND`.
        case code
        /// A key, unless it reads as the name of something: `city`, `firstName`.
        case key
        /// What a WebSocket is asked to speak, and where browsers put a token for want of a header field.
        case protocols
    }

    /// What no name may contain, in any case, with or without hyphens, underscores, dots and spaces: `X-Api-Key`,
    /// `refresh_token`, `newPassword`.
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

    /// With what words no name may end, whatever digits follow: `X-Auth`, `userPin`, but neither `author` nor `spin`.
    static let endings = [
        "auth", "pass", "pw", "pin", "otp", "totp", "cvv", "cvc", "csc", "ssn", "sid", "sig", "session", "bearer",
        "dpop", "assertion", "mfa",
    ]

    /// Words at the end of a name that say something about a secret without telling it: `tokenCount`, `password_length`.
    static let remarks = [
        "count", "counts", "length", "len", "size", "limit", "max", "min", "total", "budget", "usage", "used", "index",
        "position", "age", "ttl", "expiry", "expires", "expiration", "lifetime", "duration", "timeout", "seconds",
        "attempts", "retries", "tries", "strength", "score", "version", "at", "in", "type", "kind", "status", "policy",
        "algorithm", "alg", "format", "mode", "source", "field", "label", "placeholder", "method", "provider", "class",
        "action", "reason", "error", "required", "enabled", "present", "valid",
    ]

    /// Names of several secrets, and of how many there are.
    static let plurals = ["tokens", "passwords", "cookies", "secrets"]

    /// How words go on that begin like a secret and mean something else: `secretary`, `tokenizer`, `passwordless`.
    private static let otherWords = Set(
        ["ary", "ari", "ion", "ive", "iz", "ise", "isin", "isat", "less", "ordless"].map { ending in
            ending.utf8.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        })

    /// Whole names.
    static let wholes: [(name: String, meaning: Meaning)] = [
        ("ticket", .word), ("code", .code), ("key", .key), ("reset", .key), ("magic", .key), ("invite", .key),
        ("secwebsocketprotocol", .protocols),
    ]

    /// Segments of a path behind which a secret stands, besides those that are called as one.
    static let segments = [
        "reset", "magic", "magiclink", "invite", "invites", "invitation", "invitations", "verify", "verifyemail",
        "confirm", "confirmemail", "confirmation", "activate", "activation", "recover", "recovery", "unsubscribe",
        "sessions", "webhook", "webhooks", "webhookb", "incomingwebhook",
    ]

    /// All that are looked for, by the last five bits of their last letter, so that most letters of a name are compared
    /// with none.
    private struct Table: Sendable {
        var stems = [[Stem]](repeating: [], count: 32)
        var ends = [[Stem]](repeating: [], count: 32)
        var segments = [[Stem]](repeating: [], count: 32)
        var remarks = [[Stem]](repeating: [], count: 32)
        var plurals = [[Stem]](repeating: [], count: 32)

        init() {
            for text in SensitiveNames.stems { Self.add(Stem(text, .anywhere, .secret), to: &stems) }
            for text in SensitiveNames.endings { Self.add(Stem(text, .asWords, .word), to: &ends) }
            for (text, meaning) in SensitiveNames.wholes { Self.add(Stem(text, .whole, meaning), to: &ends) }
            for text in SensitiveNames.segments { Self.add(Stem(text, .whole, .word), to: &segments) }
            for text in SensitiveNames.remarks { Self.add(Stem(text, .asWords, .remark), to: &remarks) }
            for text in SensitiveNames.plurals { Self.add(Stem(text, .anywhere, .secrets), to: &plurals) }
        }

        private static func add(_ stem: Stem, to groups: inout [[Stem]]) {
            groups[Int(stem.letters.low & 31)].append(stem)
        }
    }

    private static let table = Table()

    /// Letters to be compared with the last ones of a name; of more than 16 the last 16, which hide more rather than
    /// less.
    struct Stem: Sendable {
        enum Place { case anywhere, asWords, whole }

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

        /// Whether a name with these last letters ends with it.
        @inline(__always)
        func ends(_ name: LastLetters) -> Bool { name.equals(letters, where: mask) }
    }

    /// Whole names that were added, normalized.
    private let additional: Set<[UInt8]>

    /// Whole names that are none of a secret, normalized.
    private let visible: Set<[UInt8]>

    /// Whether nothing is a secret, nor anything of the shape of one.
    let isOff: Bool

    init(additional: [String] = [], visible: [String] = [], isOff: Bool = false) {
        self.additional = Set(additional.map { Self.normalized($0.utf8) })
        self.visible = Set(visible.map { Self.normalized($0.utf8) })
        self.isOff = isOff
    }

    /// Whether what stands under this name is a secret, whatever it is.
    func contains(_ name: some Sequence<UInt8>) -> Bool {
        switch meaning(of: name) {
        case .harmless: false
        case .secret, .secrets, .remark, .word, .code, .key, .protocols: true
        }
    }

    /// Whether this value is a secret under this name.
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

    /// Whether a number is a secret under a name with this meaning. Codes that people type once have six to eight digits.
    func hides(number digits: String, as meaning: Meaning) -> Bool {
        switch meaning {
        case .code: (6...8).contains(digits.utf8.count) && digits.utf8.allSatisfy(\.isDigit)
        case .harmless, .key: false
        case .secret, .secrets, .remark, .word, .protocols: hides(digits.utf8, as: meaning)
        }
    }

    /// What a name says of the value under it.
    ///
    /// - Parameters:
    ///   - least: Nothing but stems counts, and of these those that have more letters; 0: everything counts.
    ///   - isSegment: Whether it is a segment of a path, and the value the next one.
    func meaning(of name: some Sequence<UInt8>, longerThan least: Int = 0, isSegment: Bool = false) -> Meaning {
        if isOff { return .harmless }
        var last = LastLetters()
        // The lowest bit stands for the last letter, and is set where a word begins there.
        var starts: UInt64 = 0
        var count = 0
        // The same without the digits at the end.
        var end = (last: last, starts: starts, count: 0, group: 0)
        var previous = UInt8(ascii: " ")
        // Where the last stem ends, and the one before it; 0: there is none.
        var (stemEnd, earlierEnd) = (0, 0)
        // The letters behind the last stem, as long as its word goes on.
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
            for stem in Self.table.stems[group] where stem.ends(last) && stem.count > least {
                if stemEnd < count { (earlierEnd, stemEnd) = (stemEnd, count) }
                tail = 0
            }
            if !byte.isDigit { end = (last, starts, count, group) }
        }
        var meaning = stemEnd > 0 ? Meaning.secret : .harmless
        if stemEnd > 0, least == 0 {
            for stem in Self.table.remarks[end.group] where stem.ends(end.last) {
                let start = end.count - stem.count
                if start == stemEnd || start > stemEnd && end.starts >> UInt64(stem.count - 1) & 1 == 1 {
                    meaning = stem.meaning
                }
            }
            for stem in Self.table.plurals[end.group] where stem.ends(end.last) { meaning = stem.meaning }
        } else if least == 0 {
            for stem in Self.table.ends[end.group] where stem.ends(end.last) {
                let fits =
                    switch stem.place {
                    case .anywhere: true
                    case .asWords: end.starts >> UInt64(stem.count - 1) & 1 == 1
                    case .whole: end.count == stem.count
                    }
                if fits { meaning = stem.meaning }
            }
            if isSegment, meaning == .harmless {
                for stem in Self.table.segments[end.group]
                where stem.ends(end.last) && end.count == stem.count { meaning = stem.meaning }
            }
        }
        guard !additional.isEmpty || !visible.isEmpty else { return meaning }
        let normalized = Self.normalized(name)
        if additional.contains(normalized) { return .secret }
        return visible.contains(normalized) ? .harmless : meaning
    }

    /// Whether a secret stands in a path behind this segment.
    func precedesSecret(_ segment: some Sequence<UInt8>) -> Bool {
        switch meaning(of: segment, isSegment: true) {
        case .harmless: false
        case .secret, .secrets, .remark, .word, .code, .key, .protocols: true
        }
    }

    /// Whether a segment of a path is a secret behind another one that says so. The numbers of a collection are IDs:
    /// `/sessions/42`.
    static func isSecret(_ value: some Collection<UInt8>, behind segment: some Collection<UInt8>) -> Bool {
        if PlainWords.isSegment(value) { return false }
        let name = segment.map(\.lowercased)
        let isCollection = name.last == UInt8(ascii: "s") || name.elementsEqual("session".utf8)
        return !(isCollection && !isHook(name) && PlainWords.isNumber(value, upTo: 9))
    }

    /// Whether all that follows this segment of a path is a secret: the address of a webhook is all that it takes to
    /// write there.
    static func isHook(_ segment: some Sequence<UInt8>) -> Bool {
        let name = segment.map(\.lowercased)
        return ["webhook", "webhooks", "webhookb2", "incomingwebhook"].contains { name.elementsEqual($0.utf8) }
    }

    /// Whether an app said that this name is none of a secret.
    func isVisible(_ name: some Sequence<UInt8>) -> Bool {
        guard !visible.isEmpty else { return false }
        let normalized = Self.normalized(name)
        return visible.contains(normalized) && !additional.contains(normalized)
    }

    private static func normalized(_ name: some Sequence<UInt8>) -> [UInt8] {
        name.lazy.filter { !isIgnored($0) }.map(\.lowercased)
    }

    /// Hyphens, underscores, dots, spaces, brackets and whatever else is no letter.
    private static func isIgnored(_ byte: UInt8) -> Bool { byte < 0x80 && !byte.isLetterOrDigit }
}

/// The last 16 letters of a name, as bytes, to be compared without allocating.
struct LastLetters: Hashable, Sendable {
    // `UInt128` is not on iOS before 18.
    private(set) var high: UInt64 = 0
    private(set) var low: UInt64 = 0

    init() {}

    init(_ letters: some Sequence<UInt8>) { for letter in letters { append(letter) } }

    @inline(__always)
    mutating func append(_ letter: UInt8) {
        high = high << 8 | low >> 56
        low = low << 8 | UInt64(letter)
    }

    /// Whether they are the same where a mask has ones.
    @inline(__always)
    func equals(_ other: LastLetters, where mask: LastLetters) -> Bool {
        (high ^ other.high) & mask.high | (low ^ other.low) & mask.low == 0
    }
}
