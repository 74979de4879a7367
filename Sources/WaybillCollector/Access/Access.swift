#if Collector
import Hummingbird
import WaybillCore

/// Who may use a collector.
public enum Access: Sendable, Hashable {
    /// Who carries one of the tokens in the folder's file `tokens`, made by `waybill token add`.
    case tokens
    /// Everybody who reaches the port may do everything to the project `waybill`. For loopback, and for routers that ask themselves.
    case open
}

/// Tells from a request what its sender may do.
struct AccessControl: Sendable {
    private let watch: TokenWatch?
    private let rate: RateLimit
    private let clock: any TransactionClock

    /// What a request was let through as.
    struct Pass: Sendable {
        var project: ProjectName
        /// The token's; nil where everybody is let through.
        var token: String?
    }

    init(_ access: Access, _ file: TokenFile, requestsPerSecond: Int, clock: any TransactionClock) throws(WaybillError) {
        watch = access == .tokens ? try TokenWatch(file) : nil
        rate = RateLimit(perSecond: requestsPerSecond)
        self.clock = clock
    }

    /// Whether everybody is let through.
    var isOpen: Bool { watch == nil }

    /// The projects that there are tokens for.
    func projects() throws(WaybillError) -> Set<ProjectName> {
        guard let watch else { return [.standard] }
        return Set(try watch.tokens().map(\.project))
    }

    /// Lets a request through that may do what `role` may; throws the `Problem` that answers all others.
    func admit(_ request: Request, as role: Role) throws -> Pass { try admit(fieldValue: request.headers[.authorization], as: role) }

    /// As for a request whose `Authorization` field has this value; nil: it has none.
    func admit(fieldValue: String?, as role: Role) throws -> Pass {
        guard let watch else { return Pass(project: .standard) }
        guard let field = fieldValue else { throw Problem.unauthorized(isTokenGiven: false) }
        guard let token = try watch.token(fieldValue: field) else { throw Problem.unauthorized(isTokenGiven: true) }
        if let seconds = rate.secondsToWait(token.id, now: clock.uptimeMicroseconds()) {
            throw Problem.tooManyRequests(retryAfter: seconds)
        }
        guard token.role.includes(role) else { throw Problem.forbidden(token.role, for: role) }
        return Pass(project: token.project, token: token.id)
    }
}
#endif
