#if Collector
import Hummingbird
import WaybillCore

/// Who may use a collector.
public enum Access: Sendable, Hashable {
    /// Who carries one of the tokens in the folder's file `tokens`, made by `waybill token add`.
    case tokens
    /// Every client that reaches the port may do everything to the project `waybill`. For loopback, and for routers
    /// that ask themselves.
    case open
}

/// Whose a request is.
package struct Bearer: Sendable {
    package var project: ProjectName
    /// nil where every request is let through.
    package var token: AccessToken?

    package init(project: ProjectName, token: AccessToken? = nil) {
        self.project = project
        self.token = token
    }
}

/// Tells from a request what its sender may do.
struct AccessControl: Sendable {
    private let watch: TokenWatch?
    private let rate: RateLimit
    private let sessions: Sessions
    private let clock: any TransactionClock

    init(_ access: Access, _ file: TokenFile, limits: CollectorLimits, clock: any TransactionClock) throws(WaybillError)
    {
        watch = access == .tokens ? try TokenWatch(file) : nil
        rate = RateLimit(perSecond: limits.requestsPerSecond)
        sessions = Sessions(lasting: limits.sessionTime)
        self.clock = clock
    }

    /// Whether every request is let through.
    var isOpen: Bool { watch == nil }

    /// The projects that there are tokens for.
    func projects() throws(WaybillError) -> Set<ProjectName> {
        guard let watch else { return [.standard] }
        return Set(try watch.tokens().map(\.project))
    }

    /// Whose a request is, by its token; throws the `Problem` that answers those that carry none.
    func bearer(of request: Request) throws -> Bearer { try bearer(fieldValue: request.headers[.authorization]) }

    /// As for a request whose `Authorization` field has this value; nil: it has none.
    func bearer(fieldValue: String?) throws -> Bearer {
        guard let watch else { return Bearer(project: .standard) }
        guard let field = fieldValue else { throw Problem.unauthorized(isTokenGiven: false) }
        guard let token = try watch.token(fieldValue: field) else { throw Problem.unauthorized(isTokenGiven: true) }
        return try bearer(of: token)
    }

    /// Whose a request is that carries the ID of a session; nil: none.
    func bearer(session: String?) throws -> Bearer {
        guard let watch else { return Bearer(project: .standard) }
        let found = session.flatMap { sessions.token(of: $0, now: clock.uptimeMicroseconds()) }
        // A token that was revoked, or has ended, takes its sessions with it.
        guard let found, let token = try watch.token(id: found) else {
            throw Problem.unauthorized(isTokenGiven: session != nil)
        }
        return try bearer(of: token)
    }

    private func bearer(of token: AccessToken) throws(Problem) -> Bearer {
        if let end = token.end, token.hasEnded(now: clock.wallMicroseconds()) { throw Problem.ended(end) }
        return Bearer(project: token.project, token: token)
    }

    /// Begins a session of a token's bearer: its ID, which only the bearer is told; nil where no token is asked for.
    func beginSession(of bearer: Bearer) -> String? {
        bearer.token.map { sessions.begin(for: $0.id, now: clock.uptimeMicroseconds()) }
    }

    /// Ends a session; any other text is none.
    func endSession(_ session: String) { sessions.end(session) }

    /// Lets a request through that may do what `role` may, and is not one too many; throws the `Problem` that answers
    /// all others.
    func admit(_ bearer: Bearer, as role: Role) throws {
        guard let token = bearer.token else { return }
        if let seconds = rate.secondsToWait(token.id, now: clock.uptimeMicroseconds()) {
            throw Problem.tooManyRequests(retryAfter: seconds)
        }
        guard token.role.includes(role) else { throw Problem.forbidden(token.role, for: role) }
    }
}
#endif
