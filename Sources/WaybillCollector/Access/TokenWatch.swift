#if Collector
import Foundation
import WaybillCore
import WaybillExport

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
