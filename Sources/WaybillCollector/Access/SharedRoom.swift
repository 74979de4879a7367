#if Collector
import WaybillCore

/// What a collector has only so much of: bytes of bodies that are being worked on, and connections that are.
///
/// One token has at most half of it and one project three quarters, so that there is room for others however much they
/// send; but never less than the largest piece that one request may need.
package final class SharedRoom: Sendable {
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
        private let room: SharedRoom
        private let bearer: Bearer
        private var count = 0

        fileprivate init(of room: SharedRoom, for bearer: Bearer) {
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
