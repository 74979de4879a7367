#if Collector
package import Foundation
package import WaybillCore
import WaybillExport

/// The file `tokens` in a collector's folder, with the hash of each token. Lines that begin with `#` are kept.
package struct TokenFile: Sendable {
    package let url: URL

    package init(folder: URL) { url = folder.appending(path: "tokens") }

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

    /// Returns the secret, which the file does not contain. `now` and `end` are in microseconds since 1970.
    package func add(
        role: Role, project: ProjectName, now: Int64 = SystemClock().wallMicroseconds(), end: Int64? = nil
    ) throws(WaybillError) -> (secret: BearerToken, token: AccessToken) {
        let secret = BearerToken.random()
        let made = Date(timeIntervalSince1970: Double(now) / 1_000_000).formatted(.iso8601.year().month().day())
        let id = SHA256.hex(ofHash: (0..<4).map { _ in UInt8.random(in: .min ... .max) })
        let token = AccessToken(secret, id: id, role: role, project: project, made: made, end: end)
        try change { lines in lines + [Substring(token.line)] }
        return (secret, token)
    }

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

/// The tokens in the file, which it reads again after each change.
final class TokenWatch: Sendable {
    private let file: TokenFile
    private let read: Locked<(version: Version?, tokens: [AccessToken])>

    init(_ file: TokenFile) throws(WaybillError) {
        self.file = file
        read = Locked((Version(of: file.url), try file.tokens()))
    }

    func tokens() throws(WaybillError) -> [AccessToken] {
        let version = Version(of: file.url)
        let known = read.withLock { $0.version == version ? $0.tokens : nil }
        if let known { return known }
        let tokens = try file.tokens()
        read.withLock { $0 = (version, tokens) }
        return tokens
    }

    func token(fieldValue: String) throws(WaybillError) -> AccessToken? {
        guard let offered = BearerToken(fieldValue: fieldValue) else { return nil }
        let digest = SHA256.hash(Array(offered.bytes))
        // All tokens are compared, because the time could reveal which one matched.
        return try tokens().filter { $0.isToken(of: digest) }.first
    }

    func token(id: String) throws(WaybillError) -> AccessToken? { try tokens().first { $0.id == id } }

    /// The properties that change when the file is replaced or edited.
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
