/// Which names belong to secrets: of header fields, of query, form and JSON members, of attributes.
struct SensitiveNames: Sendable {
    /// What a name says of the value under it.
    enum Meaning: Sendable {
        case harmless
        /// A secret, in whatever way the name is used.
        case secret
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
        "resetcode", "logincode", "onetimecode", "smscode", "yourcode", "entercode", "cardcode",
        "securityanswer", "seedphrase", "recoveryphrase", "relaystate", "cardnumber", "ccnumber", "socialsecurity",
        "sourceproof", "installationproof",
    ]

    /// With what words no name may end, whatever digits follow: `X-Auth`, `userPin`, but neither `author` nor `spin`.
    static let endings = [
        "auth", "pass", "pw", "pin", "otp", "totp", "cvv", "cvc", "csc", "ssn", "sid", "sig", "session", "bearer",
        "dpop", "assertion",
    ]

    /// Whole names.
    static let wholes: [(name: String, meaning: Meaning)] = [
        ("ticket", .word), ("code", .code), ("key", .key), ("secwebsocketprotocol", .protocols),
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

        init() {
            for text in SensitiveNames.stems { Self.add(Stem(text, .anywhere, .secret), to: &stems) }
            for text in SensitiveNames.endings { Self.add(Stem(text, .asWords, .word), to: &ends) }
            for (text, meaning) in SensitiveNames.wholes { Self.add(Stem(text, .whole, meaning), to: &ends) }
            for text in SensitiveNames.segments { Self.add(Stem(text, .whole, .word), to: &segments) }
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
        case .secret, .word, .code, .key, .protocols: true
        }
    }

    /// Whether this value is a secret under this name.
    func hides(_ value: some Sequence<UInt8>, under name: some Sequence<UInt8>) -> Bool {
        hides(value, as: meaning(of: name))
    }

    func hides(_ value: some Sequence<UInt8>, as meaning: Meaning) -> Bool {
        switch meaning {
        case .harmless: false
        case .secret, .word: true
        case .code: !PlainWords.isErrorCode(value)
        case .key: !PlainWords.isName(value)
        case .protocols:
            !Array(value).split(separator: UInt8(ascii: ",")).allSatisfy { item in
                let item = item.drop { $0 == UInt8(ascii: " ") }
                return PlainWords.isName(item) && self.meaning(of: item) == .harmless
            }
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
        var hasStem = false
        for byte in name {
            defer { previous = byte }
            if Self.isIgnored(byte) { continue }
            let startsWord = Self.isIgnored(previous) || byte.isCapital && !previous.isCapital
            last.append(byte.lowercased)
            starts = starts << 1 | (startsWord ? 1 : 0)
            count += 1
            let group = Int(byte & 31)
            for stem in Self.table.stems[group] where stem.ends(last) && stem.count > least {
                hasStem = true
            }
            if !byte.isDigit { end = (last, starts, count, group) }
        }
        var meaning = hasStem ? Meaning.secret : .harmless
        if !hasStem, least == 0 {
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
        case .secret, .word, .code, .key, .protocols: true
        }
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
