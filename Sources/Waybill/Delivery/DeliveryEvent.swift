public import WaybillCore

/// Something that happened to delivery; see ``TransactionManager/deliveryEvents``.
public enum DeliveryEvent: Sendable, Hashable {
    /// Verdicts on a set were booked: facts that were delivered, and facts that went into quarantine.
    case settled(set: GUID, delivered: Int, quarantined: Int)
    /// A set was not taken; nothing goes out by itself before so much time has passed.
    case failed(WaybillError, retryAfter: Duration)
    /// The other side wants to be left alone for so long.
    case quieted(Duration)
    /// Sets hold so many facts at most from now on, since one was too large.
    case lessened(factCount: Int)
    /// Nothing goes out until ``TransactionManager/delivery`` is set anew.
    case stopped(WaybillError)
    /// `canFlush` said no.
    case heldBack
    /// A flush has ended.
    case ended(FlushReport)
}

/// Hands events to all listeners.
final class DeliveryEvents: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: AsyncStream<DeliveryEvent>.Continuation] = [:]
    }

    private let state = Locked(State())

    /// A stream of its own for each listener, from now on. One that does not keep up misses the oldest: delivery waits
    /// for no listener.
    func stream() -> AsyncStream<DeliveryEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DeliveryEvent.self, bufferingPolicy: .bufferingNewest(100))
        let number = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        // Set without the lock held: it may be called at once.
        continuation.onTermination = { [weak self] _ in self?.forget(number) }
        return stream
    }

    func tell(_ event: DeliveryEvent) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.yield(event) }
    }

    deinit { for listener in state.withLock({ $0.listeners.values.map(\.self) }) { listener.finish() } }

    private func forget(_ number: Int) {
        // Let go outside the lock, as its termination may come back here.
        _ = state.withLock { $0.listeners.removeValue(forKey: number) }
    }
}
