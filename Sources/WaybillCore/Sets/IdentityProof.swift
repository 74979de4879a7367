/// A secret by which a source, or an installation, shows that it is the one that it says it is.
///
/// Their IDs are no secret: a source's travels in the header field. So a collector binds a hash of the secret to the ID
/// when it first hears of it, and takes nothing under that ID any more that comes without the secret. Sets carry it,
/// and no export, page or log does.
public struct IdentityProof: Hashable, Sendable {
    /// How many characters one has.
    package static let lengths = 32...128

    /// As sets carry it.
    package let text: String

    /// Makes a new one of 256 random bits, of the system's.
    public init() {
        text = (0..<4).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Takes one that was made elsewhere; nil where it has fewer than 32 or more than 128 characters.
    public init?(_ text: String) {
        guard Self.lengths.contains(text.unicodeScalars.count) else { return nil }
        self.text = text
    }

    /// What the receiver of a set keeps of it: its SHA-256, 32 bytes.
    public var digest: [UInt8] { SHA256.hash(Array(text.utf8)) }
}

/// Words in place of the secret, so that a set can be printed.
extension IdentityProof: CustomStringConvertible, CustomReflectable {
    /// Never the secret itself.
    public var description: String { "(a secret)" }

    /// Without the secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
