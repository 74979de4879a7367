import WaybillCore

/// Pieces of bodies that wait for the store; and how many bytes may wait, over all exchanges under way, so that memory
/// is bounded even where the disk is slow.
package final class WaitingBodies: Sendable {
    private struct State {
        var pieces: [BodyPiece] = []
        var byteCount = 0
        /// Bodies of which something was left out for want of room.
        var refusedCount: Int64 = 0
        var isAnnounced = false
    }

    /// Bytes that may wait.
    package static let usualLimit = 8 << 20

    private let limit: Int
    private let state = Locked(State())

    package init(limit: Int = usualLimit) { self.limit = limit }

    /// Takes room for bytes; false, and counted, where there is none.
    package func reserve(_ byteCount: Int) -> Bool {
        state.withLock { state in
            guard state.byteCount + byteCount <= limit else {
                state.refusedCount += 1
                return false
            }
            state.byteCount += byteCount
            return true
        }
    }

    /// Corrects what was reserved, when it is known how much is really kept.
    package func adjust(by byteCount: Int) { state.withLock { $0.byteCount += byteCount } }

    /// Times that there was no room.
    package var refusedCount: Int64 { state.withLock { $0.refusedCount } }

    /// Whether so much waits that it should be stored at once.
    var isPressing: Bool { byteCount > limit / 4 }

    /// Bytes that wait, or are about to.
    package var byteCount: Int { state.withLock { $0.byteCount } }

    /// Has a piece wait for whose bytes there is room.
    ///
    /// - Returns: Whether the writer has to be told that there is something to store.
    func add(_ piece: BodyPiece) -> Bool {
        state.withLock { state in
            state.pieces.append(piece)
            defer { state.isAnnounced = true }
            return !state.isAnnounced
        }
    }

    /// All pieces that wait.
    func take() -> [BodyPiece] {
        state.withLock { state in
            defer { (state.pieces, state.isAnnounced) = ([], false) }
            return state.pieces
        }
    }

    /// Has pieces wait again which could not be stored yet.
    func giveBack(_ pieces: [BodyPiece]) {
        guard !pieces.isEmpty else { return }
        state.withLock { $0.pieces = pieces + $0.pieces }
    }
}
