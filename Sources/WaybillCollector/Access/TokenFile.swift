#if Collector
package import Foundation
package import WaybillCore
import WaybillExport

/// The file `tokens` in a collector's folder: a line for each token, for people to read; tokens themselves are not in
/// it.
///
/// It is changed as a whole, synced, and has mode 0600. Lines that begin with `#` are left as they are.
package struct TokenFile: Sendable {
    /// Where it lies.
    package let url: URL

    /// The file of the collector that has its folder there.
    package init(folder: URL) { url = folder.appending(path: "tokens") }

    /// All tokens, in the order in which they were added; none where there is no file.
    ///
    /// - Throws: `setting` where it cannot be read, somebody else may have put it there, or a line is none.
    package func tokens() throws(WaybillError) -> [AccessToken] {
        var tokens: [AccessToken] = []
        for (index, line) in try lines().enumerated() where !Self.isRemark(line) {
            guard let token = AccessToken(line: line) else {
                throw WaybillError(
                    .setting,
                    "Line \(index + 1) of the token file \(path) is none. Make tokens with `waybill token add`.")
            }
            tokens.append(token)
        }
        return tokens
    }

    /// Makes a token of 256 random bits and adds its line.
    ///
    /// - Parameters:
    ///   - now: Microseconds since 1970.
    ///   - end: When it opens nothing any more, in microseconds since 1970. Default: never.
    /// - Returns: The token, which cannot be had again, and what the file says of it.
    package func add(
        role: Role, project: ProjectName, now: Int64 = SystemClock().wallMicroseconds(), end: Int64? = nil
    ) throws(WaybillError) -> (secret: BearerToken, token: AccessToken) {
        let secret = BearerToken.random()
        let made = Date(timeIntervalSince1970: Double(now) / 1_000_000).formatted(.iso8601.year().month().day())
        let id = (0..<4).map { _ in AccessToken.hex(UInt8.random(in: .min ... .max)) }.joined()
        let token = AccessToken(secret, id: id, role: role, project: project, made: made, end: end)
        try change { lines in lines + [Substring(token.line)] }
        return (secret, token)
    }

    /// Takes a token away, by its ID.
    ///
    /// - Throws: `notFound` where there is none of that ID.
    package func revoke(_ id: String) throws(WaybillError) {
        try change { lines throws(WaybillError) in
            let others = lines.filter { Self.isRemark($0) || AccessToken(line: $0)?.id != id }
            guard others.count < lines.count else {
                throw WaybillError(.notFound, "There is no token \(id) in \(path).")
            }
            return others
        }
    }

    private static let head = "# " + AccessToken.columns.joined(separator: "\t")

    private static func isRemark(_ line: Substring) -> Bool { line.allSatisfy(\.isWhitespace) || line.hasPrefix("#") }

    private func change(_ body: ([Substring]) throws(WaybillError) -> [Substring]) throws(WaybillError) {
        let folder = url.deletingLastPathComponent()
        try WholeFile.checkFolder(folder)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw WaybillError(.setting, "The folder \(folder.path) cannot be made.", cause: error.localizedDescription)
        }
        try WholeFile.write(to: url) { () throws(WaybillError) in
            let found = try lines()
            let lines = try body(found.isEmpty ? [Substring(Self.head)] : found)
            return Array((lines.joined(separator: "\n") + "\n").utf8)
        }
    }

    private func lines() throws(WaybillError) -> [Substring] {
        try WholeFile.checkFolder(url.deletingLastPathComponent())
        guard let bytes = try WholeFile.read(url) else { return [] }
        guard let text = String(bytes: bytes, encoding: .utf8) else {
            throw WaybillError(.setting, "The token file \(path) is no text. Make tokens with `waybill token add`.")
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.last?.isEmpty == true ? lines.dropLast() : lines
    }

    private var path: String { url.path(percentEncoded: false) }
}

/// The tokens as the file has them at the moment: a token that is revoked opens nothing from the next request on,
/// without a restart.
final class TokenWatch: Sendable {
    private let file: TokenFile
    private let read: Locked<(version: Version?, tokens: [AccessToken])>

    /// - Throws: where the file cannot be read.
    init(_ file: TokenFile) throws(WaybillError) {
        self.file = file
        read = Locked((Version(of: file.url), try file.tokens()))
    }

    /// All of them.
    func tokens() throws(WaybillError) -> [AccessToken] {
        let version = Version(of: file.url)
        let known = read.withLock { $0.version == version ? $0.tokens : nil }
        if let known { return known }
        let tokens = try file.tokens()
        read.withLock { $0 = (version, tokens) }
        return tokens
    }

    /// The token that an `Authorization` field carries; nil: none that is known.
    func token(fieldValue: String) throws(WaybillError) -> AccessToken? {
        guard let offered = BearerToken(fieldValue: fieldValue) else { return nil }
        let digest = SHA256.hash(Array(offered.bytes))
        // Every one is looked at, so that the time does not tell which it was.
        return try tokens().filter { $0.isToken(of: digest) }.first
    }

    /// The token of that ID; nil: there is none any more.
    func token(id: String) throws(WaybillError) -> AccessToken? { try tokens().first { $0.id == id } }

    /// What changes when the file does: it is replaced as a whole, or edited by hand.
    private struct Version: Equatable {
        var file: UInt64
        var byteCount: Int64
        var seconds: Int64
        var nanoseconds: Int64

        init?(of url: URL) {
            var status = stat()
            guard stat(url.path(percentEncoded: false), &status) == 0 else { return nil }
            #if canImport(Darwin)
            let modified = status.st_mtimespec
            #else
            let modified = status.st_mtim
            #endif
            (file, byteCount) = (UInt64(status.st_ino), Int64(status.st_size))
            (seconds, nanoseconds) = (Int64(modified.tv_sec), Int64(modified.tv_nsec))
        }
    }
}
#endif
