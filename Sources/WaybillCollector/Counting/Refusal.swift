#if Collector
/// Why a request got a 401, 403, 429 or 503, for a reason other than what it asked: in one word, for `/metrics` and the
/// log.
enum Refusal: String, Sendable, CaseIterable {
    /// 401: it carries no token.
    case noToken = "no_token"
    /// 401: it carries something that is no token of the collector's.
    case unknownToken = "unknown_token"
    /// 401: its token has ended.
    case endedToken = "ended_token"
    /// 403: its token may not do that.
    case role
    /// 429: its token sends more requests than it may.
    case rate
    /// 503: there is no room for it.
    case overload
    /// 503: the store cannot be read or written.
    case store
    /// 503: the bytes of what was to be erased are still there.
    case unfinishedErasure = "unfinished_erasure"
}
#endif
