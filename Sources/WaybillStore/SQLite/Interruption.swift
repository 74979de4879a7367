package import WaybillCore

/// The time limit and cancellation of a connection's statements.
///
/// SQLite checks it every thousand virtual machine steps over all runs of a statement, which also catches many short
/// runs.
package final class Interruption: Sendable {
    private struct State {
        var isCancelled = false
        var error: (any Error)?
    }

    private let limit: Duration?
    private let deadline: Int64?
    private let clock: any TransactionClock
    private let state = Locked(State())

    /// Starts the time limit for all statements together; `nil` sets none.
    package init(after limit: Duration? = nil, by clock: any TransactionClock) {
        self.limit = limit
        self.clock = clock
        deadline = limit.map { clock.uptimeMicroseconds() + $0.microseconds }
    }

    package func cancel() { state.withLock { $0.isCancelled = true } }

    var isDue: Bool {
        state.withLock { state in
            if state.isCancelled {
                state.error = state.error ?? CancellationError()
            } else if let deadline, clock.uptimeMicroseconds() >= deadline {
                state.error = state.error ?? tookTooLong
            }
            return state.error != nil
        }
    }

    package var error: (any Error)? { state.withLock { $0.error } }

    private var tookTooLong: WaybillError {
        let seconds = (limit ?? .zero).bounded.components.seconds
        return WaybillError(
            .deadline,
            "This takes longer than the \(seconds) s that it may. Ask for less: a shorter time, fewer conditions, one use case."
        )
    }
}
