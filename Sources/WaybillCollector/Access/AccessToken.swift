#if Collector
import WaybillCore

/// A token as a collector knows it: what its bearer may do, and the token's hash in place of the token.
///
/// The hash is SHA-256 and not a slow one: a slow hash makes guessing expensive where people choose secrets. A token is
/// 256 random bits, which cannot be guessed, and it is checked with every request.
package struct AccessToken: Sendable, Hashable {
    /// Names it in lists and logs, and grants nothing: 8 hexadecimal digits.
    package let id: String
    package let role: Role
    package let project: ProjectName
    /// The day on which it was made, as `2026-03-01`, in UTC.
    package let made: String
    private let hash: [UInt8]

    /// What a line of the file holds, in this order.
    static let columns = ["id", "role", "project", "made", "SHA-256 of the token"]

    init(_ token: BearerToken, id: String, role: Role, project: ProjectName, made: String) {
        (self.id, self.role, self.project, self.made) = (id, role, project, made)
        hash = SHA256.hash(Array(token.bytes))
    }

    /// Reads a line of the file; nil for what is none.
    init?(line: Substring) {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.count == Self.columns.count, let role = Role(rawValue: words[1]),
            let project = ProjectName(words[2]),
            let hash = Self.bytes(ofHex: words[4]), hash.count == SHA256.byteCount
        else { return nil }
        (id, self.role, self.project, made, self.hash) = (words[0], role, project, words[3], hash)
    }

    /// The line of the file.
    var line: String {
        [id, role.rawValue, project.description, made, hash.map(Self.hex).joined()].joined(separator: "\t")
    }

    /// Whether it is the one of that digest; takes as long for a near miss as for a far one.
    func isToken(of digest: [UInt8]) -> Bool {
        digest.count == hash.count && zip(digest, hash).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    private static func bytes(ofHex text: String) -> [UInt8]? {
        let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8((digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0)) }
    }
}
#endif
