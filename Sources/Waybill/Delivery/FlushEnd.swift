import WaybillCore

/// Ends a flush before it is done: at its deadline, or because the system or the caller wants it to.
final class FlushEnd: Sendable {
    private struct State {
        var hasEnded = false
        var handler: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Ends it, once; before it has begun, as soon as it begins.
    func end() {
        let handler = state.withLock { state in
            state.hasEnded = true
            defer { state.handler = nil }
            return state.handler
        }
        handler?()
    }

    /// Has `body` called when it ends, or now.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.handler = body }
            return state.hasEnded
        }
        if hasEnded { body() }
    }
}
