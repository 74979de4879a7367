package import WaybillCore

/// Ends the statements of a connection before they are done: when their time is up, or when nobody waits for them any
/// more.
///
/// SQLite asks it every thousand steps of its virtual machine, counted over all runs of a statement, so that many short
/// ones are ended as well as one that is long.
package final class Interruption: Sendable {
    private struct State {
        var isCanceled = false
        /// What the statements that were ended so far are answered with.
        var error: (any Error)?
    }

    private let limit: Duration?
    private let deadline: Int64?
    private let clock: any TransactionClock
    private let state = Locked(State())

    /// Begins to count now.
    ///
    /// - Parameter limit: How long statements may take, all together; nil: as long as they do.
    package init(after limit: Duration? = nil, by clock: any TransactionClock) {
        self.limit = limit
        self.clock = clock
        deadline = limit.map { clock.uptimeMicroseconds() + $0.microseconds }
    }

    /// Nobody waits any more.
    package func cancel() { state.withLock { $0.isCanceled = true } }

    /// Whether a statement has to end now.
    var isDue: Bool {
        state.withLock { state in
            if state.isCanceled {
                state.error = state.error ?? CancellationError()
            } else if let deadline, clock.uptimeMicroseconds() >= deadline {
                state.error = state.error ?? tookTooLong
            }
            return state.error != nil
        }
    }

    /// Why a statement was ended; nil where none was.
    package var error: (any Error)? { state.withLock { $0.error } }

    private var tookTooLong: WaybillError {
        let seconds = (limit ?? .zero).components.seconds
        return WaybillError(
            .deadline,
            "This takes longer than the \(seconds) s that it may. Ask for less: a shorter time, fewer conditions, one use case."
        )
    }
}
