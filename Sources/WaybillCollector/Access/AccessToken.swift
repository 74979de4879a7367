#if Collector
import Foundation
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
    /// When it opens nothing any more, as `2026-12-31T00:00:00Z`; nil: it has no end.
    package let end: String?
    private let endMicroseconds: Int64?
    private let hash: [UInt8]

    /// What a line of the file holds, in this order; the last one is missing where there is no end.
    static let columns = ["id", "role", "project", "made", "SHA-256 of the token", "end"]

    /// - Parameter end: Microseconds since 1970, of which whole seconds count; nil: without an end.
    init(_ token: BearerToken, id: String, role: Role, project: ProjectName, made: String, end: Int64? = nil) {
        (self.id, self.role, self.project, self.made) = (id, role, project, made)
        self.end = end.map { Date(microseconds: $0).formatted(.iso8601) }
        endMicroseconds = self.end.flatMap(Self.microseconds)
        hash = SHA256.hash(Array(token.bytes))
    }

    /// Reads a line of the file; nil for what is none.
    init?(line: Substring) {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        guard (Self.columns.count - 1...Self.columns.count).contains(words.count), let role = Role(rawValue: words[1]),
            let project = ProjectName(words[2]),
            let hash = Self.bytes(ofHex: words[4]), hash.count == SHA256.byteCount
        else { return nil }
        (id, self.role, self.project, made, self.hash) = (words[0], role, project, words[3], hash)
        end = words.count == Self.columns.count ? words.last : nil
        endMicroseconds = end.flatMap(Self.microseconds)
        // Taken for one without an end, it would open what it should not.
        guard (end == nil) == (endMicroseconds == nil) else { return nil }
    }

    /// The line of the file.
    var line: String {
        ([id, role.rawValue, project.description, made, hash.map(Self.hex).joined()] + (end.map { [$0] } ?? []))
            .joined(separator: "\t")
    }

    /// Whether it opens nothing any more.
    ///
    /// - Parameter now: Microseconds since 1970.
    package func hasEnded(now: Int64) -> Bool { endMicroseconds.map { $0 <= now } ?? false }

    private static func microseconds(_ end: String) -> Int64? {
        (try? Date(end, strategy: .iso8601)).map { Int64($0.timeIntervalSince1970) * 1_000_000 }
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
