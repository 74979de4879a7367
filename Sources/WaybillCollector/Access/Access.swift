#if Collector
public import Foundation
public import HTTPTypes
package import Hummingbird
import ServiceLifecycle
public import WaybillCore
import WaybillInspector
import WaybillSpans

/// The clients that may use a collector.
public enum Access: Sendable {
    /// Clients with a token from the file `tokens` in the folder. Create tokens with `waybill token add`.
    case tokens
    /// Every client may do everything to the project `waybill`. Use it on loopback, or in a router that authenticates.
    case open
    /// The clients that a closure identifies, e.g. by your own sessions, API keys or OAuth tokens.
    ///
    /// The collector calls the closure once for each request, before it reads the body, on the request's task. So
    /// task-local values of your middleware are visible. A cancelled request or a shutdown cancels the closure. The
    /// collector calls it neither for `/v1/health`, `/v1/ready` and the inspector's assets, nor for requests from pages
    /// of other sites, which it refuses: your cookies could be among their header fields.
    ///
    /// Throw ``Refusal`` to refuse the client. After any other error the client gets a general sentence with 503, and
    /// the error is in the log.
    ///
    /// ```swift
    /// let access = Access.authorizing { request in
    ///     guard let user = await sessions.user(of: request.headerFields[.cookie]) else {
    ///         throw Access.Refusal("Log in at /login first.")
    ///     }
    ///     return try Access.Identity(name: user.id, project: user.team, role: .read)
    /// }
    /// ```
    case authorizing(@Sendable (_ request: HTTPRequest) async throws -> Identity)
}

struct AccessControl: Sendable {
    private let access: Access
    private let tokens: TokenWatch?
    private let folder: URL
    private let rate: RateLimit
    private let sessions: Sessions
    private let clock: any TransactionClock

    init(_ access: Access, in folder: URL, limits: CollectorLimits, clock: any TransactionClock) throws(WaybillError) {
        self.access = access
        tokens = if case .tokens = access { try TokenWatch(TokenFile(folder: folder)) } else { nil }
        self.folder = folder
        rate = RateLimit(perSecond: limits.requestsPerSecond)
        sessions = Sessions(lasting: limits.sessionDuration)
        self.clock = clock
    }

    /// Whether clients show tokens, which no browser sends on its own.
    var hasTokens: Bool { tokens != nil }

    /// Whether the host identifies its users, so the inspector has no login.
    var isOfHost: Bool { if case .authorizing = access { true } else { false } }

    /// The projects to open at once. Only the host knows its projects, so those are the ones with a store.
    func projects() throws(WaybillError) -> Set<ProjectName> {
        switch access {
        case .open: [.standard]
        case .tokens: Set(try tokens?.tokens().map(\.project) ?? [])
        case .authorizing: ProjectName.stored(in: folder)
        }
    }

    func identity(of request: HTTPRequest) async throws -> Access.Identity {
        guard case .authorizing(let identify) = access else {
            return try identity(fieldValue: request.headerFields[.authorization])
        }
        do {
            // A shutdown must not wait for the closure, because the request has stored no facts yet.
            return try await cancelWhenGracefulShutdown { try await identify(request) }
        } catch let refusal as Access.Refusal {
            throw Problem(refusal)
        } catch {
            throw Task.isCancelled || error is CancellationError ? CancellationError() : Access.Failure(cause: error)
        }
    }

    func identity(of request: InspectorRequest) async throws -> Access.Identity {
        isOfHost ? try await identity(of: HTTPRequest(request)) : try identity(session: request.session)
    }

    func identity(fieldValue: String?) throws -> Access.Identity {
        guard let tokens else { return .anyone }
        guard let field = fieldValue else { throw Problem.unauthorized(isTokenGiven: false) }
        guard let token = try tokens.token(fieldValue: field) else { throw Problem.unauthorized(isTokenGiven: true) }
        return try identity(of: token)
    }

    func identity(session: String?) throws -> Access.Identity {
        guard let tokens else { return .anyone }
        let found = session.flatMap { sessions.token(of: $0, now: clock.uptimeMicroseconds()) }
        // The sessions of a revoked or expired token are invalid.
        guard let found, let token = try tokens.token(id: found) else {
            throw Problem.unauthorized(isTokenGiven: session != nil)
        }
        return try identity(of: token)
    }

    private func identity(of token: AccessToken) throws(Problem) -> Access.Identity {
        if let end = token.end, token.hasEnded(now: clock.wallMicroseconds()) { throw Problem.ended(end) }
        return Access.Identity(token)
    }

    /// Returns the identity without waiting; `nil` if it is unknown, or only the host knows it.
    func knownIdentity(of request: HTTPRequest) -> Access.Identity? {
        switch access {
        case .open: return .anyone
        case .authorizing: return nil
        case .tokens:
            let fields = request.headerFields
            if let field = fields[.authorization], let found = try? identity(fieldValue: field) { return found }
            let session = fields[.cookie].flatMap { InspectorRequest(path: "", fields: ["cookie": $0]).session }
            return session.flatMap { try? identity(session: $0) }
        }
    }

    /// Returns the ID of a new session; `nil` if the collector asks for no token.
    func beginSession(of identity: Access.Identity) -> String? {
        hasTokens ? sessions.begin(for: identity.name, now: clock.uptimeMicroseconds()) : nil
    }

    func endSession(_ session: String) { sessions.end(session) }

    func admit(_ identity: Access.Identity, as role: Role) throws {
        if let key = identity.key, let seconds = rate.secondsToWait(key, now: clock.uptimeMicroseconds()) {
            throw Problem.tooManyRequests(isToken: hasTokens, retryAfter: seconds)
        }
        guard identity.role.includes(role) else {
            throw Problem.forbidden(identity.role, for: role, isToken: hasTokens)
        }
    }
}

/// A token as a collector stores it. A fast hash (SHA-256) is enough, because nobody can guess 256 random bits.
package struct AccessToken: Sendable, Hashable {
    /// 8 hexadecimal digits for lists and logs.
    package let id: String
    package let role: Role
    package let project: ProjectName
    /// The day of creation in UTC, as `2026-03-01`.
    package let made: String
    /// The time of expiry, as `2026-12-31T00:00:00Z`; `nil` if the token does not expire.
    package let end: String?
    private let endMicroseconds: Int64?
    private let hash: [UInt8]

    static let columns = ["id", "role", "project", "made", "SHA-256 of the token", "end"]

    /// - Parameter end: Microseconds since 1970, rounded down to a whole second; `nil` for no expiry.
    init(_ token: BearerToken, id: String, role: Role, project: ProjectName, made: String, end: Int64? = nil) {
        (self.id, self.role, self.project, self.made) = (id, role, project, made)
        self.end = end.map { Date(microseconds: $0).formatted(.iso8601) }
        endMicroseconds = self.end.flatMap(Self.microseconds)
        hash = SHA256.hash(Array(token.bytes))
    }

    init?(line: Substring) {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        guard (Self.columns.count - 1...Self.columns.count).contains(words.count), let role = Role(rawValue: words[1]),
            let project = ProjectName(words[2]),
            let hash = words[4].utf8.hexadecimalBytes, hash.count == SHA256.byteCount
        else { return nil }
        (id, self.role, self.project, made, self.hash) = (words[0], role, project, words[3], hash)
        end = words.count == Self.columns.count ? words.last : nil
        endMicroseconds = end.flatMap(Self.microseconds)
        // Without this check, a token with an invalid end would never expire.
        guard (end == nil) == (endMicroseconds == nil) else { return nil }
    }

    var line: String {
        ([id, role.rawValue, project.description, made, SHA256.hex(ofHash: hash)] + (end.map { [$0] } ?? []))
            .joined(separator: "\t")
    }

    package func hasEnded(now: Int64) -> Bool { endMicroseconds.map { $0 <= now } ?? false }

    private static func microseconds(_ end: String) -> Int64? {
        (try? Date(end, strategy: .iso8601)).map { Int64($0.timeIntervalSince1970) * 1_000_000 }
    }

    /// Compares the digest in constant time.
    func isToken(of digest: [UInt8]) -> Bool {
        digest.count == hash.count && zip(digest, hash).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// The secret that clients send as `Authorization: Bearer ...` (RFC 6750), or in version 0.0.1 as `scheme name="..."`.
public struct BearerToken: Sendable {
    let bytes: [UInt8]

    /// Creates a token from the text that clients send.
    ///
    /// - Throws: `setting` if it is shorter than 16 characters, or has others than RFC 6750, section 2.1, allows.
    public init(_ text: String) throws(WaybillError) {
        guard text.utf8.count >= 16, text.utf8.allSatisfy({ $0.isLetterOrDigit || "-._~+/=".utf8.contains($0) }) else {
            throw WaybillError(.setting, "A token has at least 16 characters, letters, digits and -._~+/= only.")
        }
        bytes = Array(text.utf8)
    }

    /// Reads a token from a file that contains nothing else. White space around it is ignored.
    ///
    /// - Throws: `setting` if the file can't be read or contains no token.
    public init(contentsOf file: URL) throws(WaybillError) {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            throw WaybillError(.setting, "The token file \(file.path) cannot be read.")
        }
        try self.init(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package var fieldValue: String { "Bearer \(text)" }

    init?(fieldValue: String) {
        let words = fieldValue.split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return nil }
        let text = words[0].lowercased() == "bearer" ? words[1] : Self.onlyParameter(words[1])
        guard let text, let token = try? BearerToken(String(text)) else { return nil }
        self = token
    }

    /// The value of `name="..."`. The name is ignored, because each installation of version 0.0.1 chose its own.
    private static func onlyParameter(_ text: Substring) -> Substring? {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else { return nil }
        let value = text[text.index(after: equals)...]
        guard value.count > 2, value.hasPrefix("\""), value.hasSuffix("\"") else { return nil }
        return value.dropFirst().dropLast()
    }

    /// A new token of 256 random bits. Secret scanners can recognize its prefix.
    static func random() -> BearerToken {
        let random = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
        // The URL-safe alphabet of RFC 4648, section 5.
        let text = random.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
        return BearerToken(bytes: Array("waybill_\(text)".utf8))
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }
}

extension BearerToken: CustomStringConvertible {
    /// A placeholder, never the token itself.
    public var description: String { "[redacted]" }
}

extension BearerToken: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Refuses requests for other hosts, on a server without tokens. It prevents DNS rebinding, which can't change `Host`.
package struct LoopbackHostMiddleware<Context: RequestContext>: RouterMiddleware {
    package init() {}

    package func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard InspectorRequest.isLoopback(host: request.head.authority ?? "") else {
            throw Problem(.forbidden, "This is shown to this machine alone: ask for 127.0.0.1 or localhost.")
        }
        return try await next(request, context)
    }
}
#endif
