/// Which names belong to secrets: of header fields, of query, form and JSON members, of attributes.
struct SensitiveNames: Sendable {
    /// What no name may contain, in any case, with or without hyphens, underscores, dots and spaces: `X-Api-Key`,
    /// `refresh_token`, `newPassword`.
    static let stems = [
        "authorization", "cookie", "token", "password", "passwd", "passphrase", "passcode", "pwd", "secret", "apikey",
        "accesskey",
        "privatekey", "credential", "sessionid", "jwt", "sourceproof", "installationproof",
    ]

    /// The stems by the last five bits of their last letter, so that most letters of a name are compared with none.
    private static let stemsByLastLetter = stems.reduce(into: [[Stem]](repeating: [], count: 32)) { groups, text in
        let stem = Stem(text)
        groups[Int(stem.letters & 31)].append(stem)
    }

    /// Letters as a number, to be compared with the last letters of a name, without allocating; of more than 16 the
    /// last 16, which hide more rather than less.
    struct Stem {
        let letters: UInt128
        let mask: UInt128

        init(_ text: String) {
            let last = text.utf8.suffix(16)
            letters = last.reduce(0) { $0 << 8 | UInt128($1) }
            mask = UInt128.max >> UInt128(128 - 8 * last.count)
        }
    }

    /// Whole names that were added, normalized.
    private let additional: Set<[UInt8]>

    /// Whether nothing is a secret, nor anything of the shape of one.
    let isOff: Bool

    init(additional: [String] = [], isOff: Bool = false) {
        self.additional = Set(additional.map { Self.normalized($0.utf8) })
        self.isOff = isOff
    }

    func contains(_ name: some Sequence<UInt8>) -> Bool {
        if isOff { return false }
        let groups = Self.stemsByLastLetter
        var last: UInt128 = 0
        for byte in name where !Self.isIgnored(byte) {
            last = last << 8 | UInt128(byte.lowercased)
            for stem in groups[Int(byte & 31)] where last & stem.mask == stem.letters { return true }
        }
        return !additional.isEmpty && additional.contains(Self.normalized(name))
    }

    private static func normalized(_ name: some Sequence<UInt8>) -> [UInt8] {
        name.lazy.filter { !isIgnored($0) }.map(\.lowercased)
    }

    private static func isIgnored(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: " ")
    }
}
