import WaybillCore

/// Bodies on their way into the store, behind the facts that they belong to.
extension SourceWriter {
    /// Has a piece of a body stored, redacted already and with room reserved for it; never waits.
    package func keep(_ piece: BodyPiece) {
        let isFirst = bodies.add(piece)
        if bodies.isPressing { scheduleDrain(batchIsFull: true) } else if isFirst { scheduleDrain(batchIsFull: false) }
    }

    /// Writes what waits. What cannot be written goes on waiting, and is left out at last for want of room.
    func drainBodies(into opened: StoreSession) {
        let pieces = bodies.take()
        guard !pieces.isEmpty else { return }
        do throws(WaybillError) {
            let store = try opened.opened()
            let early = try store.append(pieces, of: source, limit: bodyLimit)
            bodies.adjust(by: early.reduce(0) { $0 + $1.bytes.count } - pieces.reduce(0) { $0 + $1.bytes.count })
            bodies.giveBack(early)
            state.withLock { $0.bodyProblem = nil }
        } catch {
            opened.notice(error)
            bodies.giveBack(pieces)
            state.withLock { $0.bodyProblem = error }
            scheduleRetry()
        }
    }
}
