#if Collector
import WaybillCore

/// The room for bodies that are being worked on: taken as bytes come in, given back with the answer, refused before
/// memory grows.
final class PendingBytes: Sendable {
    private let limit: Int
    private let taken = Locked(0)

    init(limit: Int) { self.limit = limit }

    /// How many bytes are taken.
    var count: Int { taken.withLock { $0 } }

    /// Room for one request, none yet.
    func reservation() -> Reservation { Reservation(of: self) }

    /// The room that one request has; given back when it is let go of.
    final class Reservation {
        private let room: PendingBytes
        private var count = 0

        fileprivate init(of room: PendingBytes) { self.room = room }

        deinit { room.taken.withLock { $0 -= count } }

        /// Takes room for more bytes.
        ///
        /// - Throws: `Problem.overloaded` where there is none.
        func grow(by byteCount: Int) throws(Problem) {
            let isTaken = room.taken.withLock { taken in
                guard taken + byteCount <= room.limit else { return false }
                taken += byteCount
                return true
            }
            guard isTaken else { throw Problem.overloaded }
            count += byteCount
        }
    }
}
#endif
