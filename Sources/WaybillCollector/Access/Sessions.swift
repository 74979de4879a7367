#if Collector
import WaybillCore

/// Who is logged in to the inspector: random IDs, of which only the hashes are kept, in memory alone.
///
/// A session ends with its time, with its token, when somebody logs out, and when the collector does. A token has a
/// bounded number of them; one more ends its oldest.
final class Sessions: Sendable {
    private struct Session {
        /// The ID of the token that it was begun with.
        var token: String
        /// By a clock that never goes back.
        var endMicroseconds: Int64
    }

    private static let countPerToken = 32
    private let microseconds: Int64
    private let sessions = Locked<[[UInt8]: Session]>([:])

    /// - Parameter time: How long one lasts.
    init(lasting time: Duration) { microseconds = time.microseconds }

    /// How many there are, those included that have ended and were not asked for since.
    var count: Int { sessions.withLock { $0.count } }

    /// Begins one: its ID, which cannot be had again.
    ///
    /// - Parameter now: Microseconds of a clock that never goes back.
    func begin(for token: String, now: Int64) -> String {
        let id = BearerToken.random().text
        let end = now + microseconds
        sessions.withLock { sessions in
            sessions = sessions.filter { $0.value.endMicroseconds > now }
            let others = sessions.filter { $0.value.token == token }
            if others.count >= Self.countPerToken,
                let oldest = others.min(by: { $0.value.endMicroseconds < $1.value.endMicroseconds })
            {
                sessions[oldest.key] = nil
            }
            sessions[Self.hash(id)] = Session(token: token, endMicroseconds: end)
        }
        return id
    }

    /// The ID of the token that a session was begun with; nil: there is none of that ID, or it has ended.
    func token(of id: String, now: Int64) -> String? {
        let hash = Self.hash(id)
        return sessions.withLock { sessions in
            guard let session = sessions[hash] else { return nil }
            if session.endMicroseconds > now { return session.token }
            sessions[hash] = nil
            return nil
        }
    }

    /// Ends one; any other text is none.
    func end(_ id: String) {
        let hash = Self.hash(id)
        sessions.withLock { $0[hash] = nil }
    }

    /// What is looked up is a hash, so that the time that it takes tells nothing of an ID.
    private static func hash(_ id: String) -> [UInt8] { SHA256.hash(Array(id.utf8)) }
}
#endif
