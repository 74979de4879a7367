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

/// How many requests each token may send: a steady rate, and two seconds' worth at once.
///
/// The generic cell rate algorithm (ITU-T I.371): all it keeps of a token is the time at which the requests so far
/// would have come at the steady rate.
final class RateLimit: Sendable {
    private let interval: Int64
    private let tolerance: Int64 = 2_000_000
    private let due = Locked<[String: Int64]>([:])

    init(perSecond: Int) {
        interval = 1_000_000 / Int64(max(1, perSecond))
    }

    /// Counts a request of a token; nil: it may go on; else after how many whole seconds it may come again, and it does
    /// not count.
    ///
    /// - Parameter now: Microseconds of a clock that never goes back.
    func secondsToWait(_ token: String, now: Int64) -> Int? {
        due.withLock { due in
            let next = max(due[token] ?? now, now)
            let early = next - now - tolerance + interval
            if early > 0 { return Int((early + 999_999) / 1_000_000) }
            due[token] = next + interval
            return nil
        }
    }
}

/// What a collector has only so much of: bytes of bodies that are being worked on, and connections that are.
///
/// One token has at most half of it and one project three quarters, so that there is room for others however much they
/// send; but never less than the largest piece that one request may need.
package final class SharedBudget: Sendable {
    private let limit: Int
    private let limitOfToken: Int
    private let limitOfProject: Int
    private let taken = Locked(Taken())

    private struct Taken {
        var all = 0
        /// By name and by ID; only of those that have taken some.
        var projects: [ProjectName: Int] = [:]
        var tokens: [String: Int] = [:]

        mutating func add(_ count: Int, of bearer: Bearer) {
            all += count
            guard let token = bearer.token else { return }
            Self.add(count, to: &projects[bearer.project])
            Self.add(count, to: &tokens[token.id])
        }

        private static func add(_ count: Int, to entry: inout Int?) {
            let sum = (entry ?? 0) + count
            entry = sum == 0 ? nil : sum
        }
    }

    /// - Parameters:
    ///   - limit: All of it.
    ///   - largest: What one request takes at most; a share is no smaller, unless all of the room is.
    package init(limit: Int, largest: Int = 1) {
        self.limit = limit
        limitOfToken = min(limit, max(limit / 2, largest))
        limitOfProject = min(limit, max(limit - limit / 4, largest))
    }

    /// How much is taken.
    var count: Int { taken.withLock { $0.all } }

    /// Room for one request, none yet.
    package func reservation(for bearer: Bearer) -> Reservation { Reservation(of: self, for: bearer) }

    private func take(_ more: Int, for bearer: Bearer) -> Bool {
        taken.withLock { taken in
            guard taken.all + more <= limit else { return false }
            if let token = bearer.token {
                guard (taken.tokens[token.id] ?? 0) + more <= limitOfToken,
                    (taken.projects[bearer.project] ?? 0) + more <= limitOfProject
                else { return false }
            }
            taken.add(more, of: bearer)
            return true
        }
    }

    /// The room that one request has; given back when it is let go of.
    package final class Reservation {
        private let room: SharedBudget
        private let bearer: Bearer
        private var count = 0

        fileprivate init(of room: SharedBudget, for bearer: Bearer) {
            self.room = room
            self.bearer = bearer
        }

        deinit { shrink(by: count) }

        /// Takes more.
        ///
        /// - Throws: `Problem.overloaded` where there is no more, or no more for its bearer.
        package func grow(by more: Int) throws(Problem) {
            guard room.take(more, for: bearer) else { throw Problem.overloaded }
            count += more
        }

        /// Gives back what is no longer needed.
        func shrink(by less: Int) {
            count -= less
            room.taken.withLock { $0.add(-less, of: bearer) }
        }
    }
}
#endif
