#if Collector
import WaybillCore

/// The login sessions of the inspector. They exist in memory alone, and a new session can end the token's oldest.
final class Sessions: Sendable {
    private struct Session {
        var token: String
        /// The expiry, by a monotonic clock.
        var endMicroseconds: Int64
    }

    private static let countPerToken = 32
    private let microseconds: Int64
    private let sessions = Locked<[[UInt8]: Session]>([:])

    init(lasting time: Duration) { microseconds = time.microseconds }

    /// Includes expired sessions that were not looked up since.
    var count: Int { sessions.withLock { $0.count } }

    /// - Parameter now: Microseconds of a monotonic clock.
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

    func token(of id: String, now: Int64) -> String? {
        let hash = Self.hash(id)
        return sessions.withLock { sessions in
            guard let session = sessions[hash] else { return nil }
            if session.endMicroseconds > now { return session.token }
            sessions[hash] = nil
            return nil
        }
    }

    func end(_ id: String) {
        let hash = Self.hash(id)
        sessions.withLock { $0[hash] = nil }
    }

    /// Sessions are looked up by hash, because the time of a lookup could reveal parts of an ID.
    private static func hash(_ id: String) -> [UInt8] { SHA256.hash(Array(id.utf8)) }
}

/// A limit on the requests of each identity: a steady rate, with bursts of two seconds' worth.
/// It uses the generic cell rate algorithm (ITU-T I.371), which stores one time per identity.
final class RateLimit: Sendable {
    private struct Due {
        var times: [String: Int64] = [:]
        /// A host may have millions of users, so old times are removed at this count.
        var limit = 10_000
    }

    private let interval: Int64
    private let tolerance: Int64 = 2_000_000
    private let due = Locked(Due())

    init(perSecond: Int) {
        interval = 1_000_000 / Int64(max(1, perSecond))
    }

    /// Returns `nil` and counts the request, or returns the seconds to wait and does not count it.
    func secondsToWait(_ key: String, now: Int64) -> Int? {
        due.withLock { due in
            let next = max(due.times[key] ?? now, now)
            let early = next - now - tolerance + interval
            if early > 0 { return Int((early + 999_999) / 1_000_000) }
            due.times[key] = next + interval
            if due.times.count > due.limit {
                // A time that has passed says the same as none.
                due.times = due.times.filter { $0.value > now }
                due.limit = max(10_000, 2 * due.times.count)
            }
            return nil
        }
    }

    var count: Int { due.withLock { $0.times.count } }
}

/// A resource that all clients share: bytes of bodies in progress, or connections.
/// An identity gets at most half of it, and a project three quarters. A share always suffices for one request.
package final class SharedBudget: Sendable {
    private let limit: Int
    private let limitOfIdentity: Int
    private let limitOfProject: Int
    private let taken = Locked(Taken())

    private struct Taken {
        var all = 0
        var projects: [ProjectName: Int] = [:]
        var identities: [String: Int] = [:]

        mutating func add(_ count: Int, of identity: Access.Identity) {
            all += count
            guard let key = identity.key else { return }
            Self.add(count, to: &projects[identity.projectName])
            Self.add(count, to: &identities[key])
        }

        private static func add(_ count: Int, to entry: inout Int?) {
            let sum = (entry ?? 0) + count
            entry = sum == 0 ? nil : sum
        }
    }

    /// - Parameter largest: The most that one request needs. No share is smaller, unless `limit` is.
    package init(limit: Int, largest: Int = 1) {
        self.limit = limit
        limitOfIdentity = min(limit, max(limit / 2, largest))
        limitOfProject = min(limit, max(limit - limit / 4, largest))
    }

    var count: Int { taken.withLock { $0.all } }

    package func reservation(for identity: Access.Identity) -> Reservation { Reservation(of: self, for: identity) }

    private func take(_ more: Int, for identity: Access.Identity) -> Bool {
        taken.withLock { taken in
            guard taken.all + more <= limit else { return false }
            if let key = identity.key {
                guard (taken.identities[key] ?? 0) + more <= limitOfIdentity,
                    (taken.projects[identity.projectName] ?? 0) + more <= limitOfProject
                else { return false }
            }
            taken.add(more, of: identity)
            return true
        }
    }

    /// The part of the budget that one request holds while this object is alive.
    package final class Reservation {
        private let room: SharedBudget
        private let identity: Access.Identity
        private var count = 0

        fileprivate init(of room: SharedBudget, for identity: Access.Identity) {
            self.room = room
            self.identity = identity
        }

        deinit { shrink(by: count) }

        /// - Throws: `Problem.overloaded` if the budget or the identity's share is exhausted.
        package func grow(by more: Int) throws(Problem) {
            guard room.take(more, for: identity) else { throw Problem.overloaded }
            count += more
        }

        func shrink(by less: Int) {
            count -= less
            room.taken.withLock { $0.add(-less, of: identity) }
        }
    }
}
#endif
