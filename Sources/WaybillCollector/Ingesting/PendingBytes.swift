#if Collector
import WaybillCore

/// The room for bodies that are being worked on: taken as bytes come in, given back with the answer, refused before
/// memory grows.
///
/// One token has at most half of it and one project three quarters, so that there is room for others however much they
/// send; but never less than one body of the largest size.
final class PendingBytes: Sendable {
    private let limit: Int
    private let limitOfToken: Int
    private let limitOfProject: Int
    private let taken = Locked(Taken())

    private struct Taken {
        var all = 0
        /// By name and by ID; only of those that have taken some.
        var projects: [ProjectName: Int] = [:]
        var tokens: [String: Int] = [:]

        mutating func add(_ count: Int, of bearer: AccessControl.Bearer) {
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

    /// - Parameter bodyByteCount: What one body takes at most; a share is no smaller, unless all of the room is.
    init(limit: Int, bodyByteCount: Int = 0) {
        self.limit = limit
        limitOfToken = min(limit, max(limit / 2, bodyByteCount))
        limitOfProject = min(limit, max(limit / 4 * 3, bodyByteCount))
    }

    /// How many bytes are taken.
    var count: Int { taken.withLock { $0.all } }

    /// Room for one request, none yet.
    func reservation(for bearer: AccessControl.Bearer) -> Reservation { Reservation(of: self, for: bearer) }

    private func take(_ byteCount: Int, for bearer: AccessControl.Bearer) -> Bool {
        taken.withLock { taken in
            guard taken.all + byteCount <= limit else { return false }
            if let token = bearer.token {
                guard (taken.tokens[token.id] ?? 0) + byteCount <= limitOfToken,
                    (taken.projects[bearer.project] ?? 0) + byteCount <= limitOfProject
                else { return false }
            }
            taken.add(byteCount, of: bearer)
            return true
        }
    }

    /// The room that one request has; given back when it is let go of.
    final class Reservation {
        private let room: PendingBytes
        private let bearer: AccessControl.Bearer
        private var count = 0

        fileprivate init(of room: PendingBytes, for bearer: AccessControl.Bearer) {
            self.room = room
            self.bearer = bearer
        }

        deinit { shrink(by: count) }

        /// Takes room for more bytes.
        ///
        /// - Throws: `Problem.overloaded` where there is none.
        func grow(by byteCount: Int) throws(Problem) {
            guard room.take(byteCount, for: bearer) else { throw Problem.overloaded }
            count += byteCount
        }

        /// Gives room back that is no longer needed.
        func shrink(by byteCount: Int) {
            count -= byteCount
            room.taken.withLock { $0.add(-byteCount, of: bearer) }
        }
    }
}
#endif
