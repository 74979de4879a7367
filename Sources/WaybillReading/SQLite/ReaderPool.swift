import WaybillCore
package import WaybillStore

/// Readers of one store, each on a thread of its own, so that one that is slow does not hold up the others.
///
/// Who finds none free waits, in the order of coming.
final class ReaderPool: Sendable {
    typealias Thread = StoreThread<Late<StoreReader>>

    private struct State {
        var free: [Thread]
        var waiting: [CheckedContinuation<Thread, Never>] = []
    }

    private let state: Locked<State>

    /// Makes threads; each opens its reader when it is first needed.
    init(_ place: ResolvedLocation, label: String, count: Int) {
        let threads = (0..<count).map { _ in
            StoreThread(label: label) { Late { () throws(WaybillError) in try StoreReader(place) } }
        }
        state = Locked(State(free: threads))
    }

    /// Opens a reader now; blocks until it is done.
    func open() throws(WaybillError) {
        let thread = state.withLock { $0.free.last }
        _ = try thread?.sync { reader throws(WaybillError) in try reader.opened() }
    }

    /// Runs `body` on the first thread that is free.
    ///
    /// - Parameter limit: How long it may take, and before that wait for its turn; nil: as long as it does.
    /// - Throws: `.deadline` where it took longer, `.store` where it waited longer, `CancellationError` where the task
    ///   was canceled: `body` is ended then, or does not begin.
    func run<Value: Sendable>(
        within limit: Duration?, by clock: any TransactionClock,
        _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) async throws -> Value {
        let begun = clock.uptimeMicroseconds()
        let thread = await take()
        defer { give(thread) }
        try Task.checkCancellation()
        if let limit, clock.uptimeMicroseconds() - begun > limit.microseconds {
            throw WaybillError(.store, "The store was busy with other questions for too long. Try again.")
        }
        return try await thread.run(until: Interruption(after: limit, by: clock)) { reader, interruption in
            let reader = try reader.opened()
            return try reader.reading(until: interruption) { try body(reader) }
        }
    }

    private func take() async -> Thread {
        await withCheckedContinuation { continuation in
            let thread = state.withLock { state in
                if state.free.isEmpty { state.waiting.append(continuation) }
                return state.free.popLast()
            }
            if let thread { continuation.resume(returning: thread) }
        }
    }

    private func give(_ thread: Thread) {
        let next = state.withLock { state in
            if state.waiting.isEmpty { state.free.append(thread) }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        next?.resume(returning: thread)
    }
}

extension StoreThread {
    /// Runs `body`, and cancels the interruption that it is given when the task is canceled.
    package func run<Value: Sendable>(
        until interruption: Interruption,
        _ body: @escaping @Sendable (Resource, Interruption) throws -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await run { (resource) throws in try body(resource, interruption) }
        } onCancel: {
            interruption.cancel()
        }
    }
}
