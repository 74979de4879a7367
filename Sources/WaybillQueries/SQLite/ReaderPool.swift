import WaybillCore
package import WaybillStore

/// One asker can use all readers but one. The next turn goes to the waiting asker with the fewest running reads.
final class ReaderPool: Sendable {
    typealias Thread = StoreThread<LazyResource<StoreReader>>

    private struct State {
        var free: [Thread]
        var atWork: [String?: Int] = [:]
        var waiting: [(asker: String?, turn: CheckedContinuation<Thread, Never>)] = []

        mutating func take(for asker: String?, share: Int) -> Thread? {
            guard atWork[asker, default: 0] < share, let thread = free.popLast() else { return nil }
            atWork[asker, default: 0] += 1
            return thread
        }

        mutating func give(_ thread: Thread, of asker: String?) {
            free.append(thread)
            let count = atWork[asker, default: 0] - 1
            atWork[asker] = count > 0 ? count : nil
        }

        var next: Int? {
            func count(_ index: Int) -> Int { atWork[waiting[index].asker, default: 0] }
            return waiting.indices.min { count($0) < count($1) }
        }
    }

    private let state: Locked<State>
    private let share: Int

    init(_ place: ResolvedLocation, label: String, count: Int) {
        let threads = (0..<count).map { _ in
            // The system kills a suspended process that has file locks, as an open reader does.
            StoreThread(
                label: label, ends: { if place.isShared { $0.forget() } },
                make: { LazyResource { () throws(WaybillError) in try StoreReader(place) } })
        }
        share = max(1, count - 1)
        state = Locked(State(free: threads))
    }

    func open() throws(WaybillError) {
        let thread = state.withLock { $0.free.last }
        _ = try thread?.sync { reader throws(WaybillError) in try reader.opened() }
    }

    /// `limit` bounds the wait (`.store`), and then the run (`.deadline`). Cancellation also interrupts `body`.
    func run<Value: Sendable>(
        for asker: String?, within limit: Duration?, by clock: any TransactionClock,
        _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) async throws -> Value {
        let begun = clock.uptimeMicroseconds()
        let thread = await take(for: asker)
        defer { give(thread, of: asker) }
        try Task.checkCancellation()
        if let limit, clock.uptimeMicroseconds() - begun > limit.microseconds {
            throw WaybillError(.store, "The store was busy with other questions for too long. Try again.")
        }
        return try await thread.run(until: Interruption(after: limit, by: clock)) { reader, interruption in
            let reader = try reader.opened()
            return try reader.reading(until: interruption) { try body(reader) }
        }
    }

    private func take(for asker: String?) async -> Thread {
        await withCheckedContinuation { turn in
            let thread = state.withLock { state in
                let thread = state.take(for: asker, share: share)
                if thread == nil { state.waiting.append((asker, turn)) }
                return thread
            }
            if let thread { turn.resume(returning: thread) }
        }
    }

    private func give(_ thread: Thread, of asker: String?) {
        let (next, free) = state.withLock { state in
            state.give(thread, of: asker)
            guard let index = state.next, let free = state.take(for: state.waiting[index].asker, share: share) else {
                return (nil as CheckedContinuation<Thread, Never>?, thread)
            }
            return (state.waiting.remove(at: index).turn, free)
        }
        next?.resume(returning: free)
    }
}

extension StoreThread {
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
