/// A short code for a transaction that people can read out over the telephone: `K7QD-3M2X`.
///
/// The last 40 bits of the GUID, which are random, in Crockford's base 32: no I, L, O or U; when read, `i` and `l`
/// count as 1 and `o` as 0. Two of a million transactions share a code with a chance of about one in three; a search by
/// code returns all that match.
public struct SupportCode: Hashable, Sendable, CustomStringConvertible {
    package let tail: UInt64

    /// The code of a transaction.
    public init(_ transaction: GUID) { tail = transaction.low & 0xFF_FFFF_FFFF }

    /// Reads eight characters of the alphabet, in either case, with or without the hyphen; nil for anything else.
    public init?(_ text: some StringProtocol) {
        var tail: UInt64 = 0
        var count = 0
        for scalar in text.uppercased().unicodeScalars where scalar != "-" && scalar != " " {
            let canonical: Unicode.Scalar =
                switch scalar {
                case "I", "L": "1"
                case "O": "0"
                default: scalar
                }
            guard let digit = Self.alphabet.firstIndex(of: canonical), count < 8 else { return nil }
            tail = tail << 5 | UInt64(digit)
            count += 1
        }
        guard count == 8 else { return nil }
        self.tail = tail
    }

    /// Two groups of four characters, in capitals: `K7QD-3M2X`.
    public var description: String {
        var text = ""
        for index in (0..<8).reversed() {
            text.unicodeScalars.append(Self.alphabet[Int(tail >> UInt64(5 * index) & 31)])
            if index == 4 { text += "-" }
        }
        return text
    }

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".unicodeScalars)
}

extension GUID {
    /// The short code that people can read out; see ``SupportCode``.
    public var supportCode: SupportCode { SupportCode(self) }
}
