import WaybillCore
import WaybillStore

/// Runs flushes one after the other, and remembers between them what they have learned.
final class Flusher: Sendable {
    private struct State {
        var delivery: Delivery?
        /// Counts deliveries: what a flush learns of one that was replaced meanwhile is no news.
        var generation = 0
        var gate = DeliveryGate()
        var latest: Task<FlushReport, Never>?
        var problem: WaybillError?
    }

    /// Told what happens.
    let events = DeliveryEvents()
    private let state: Locked<State>

    init(delivery: Delivery?) { state = Locked(State(delivery: delivery)) }

    var delivery: Delivery? {
        get { state.withLock { $0.delivery } }
        set {
            state.withLock { state in
                // A launch that comes to its first delivery late has nothing new: what the store remembers is of that one.
                state.gate = DeliveryGate(isForNewDelivery: state.delivery != nil || state.gate.isForNewDelivery)
                state.delivery = newValue
                state.generation += 1
            }
        }
    }

    /// What the last flush stumbled over; nil when it did not.
    var problem: WaybillError? { state.withLock { $0.problem } }

    /// Whether a flush that nobody asked for would do nothing; costs a lock and a look at the clock.
    func isHeld(at uptime: Int) -> Bool { state.withLock { $0.gate.hindrance(at: uptime, isAsked: false) != nil } }

    /// Starts a flush behind those that are under way: facts recorded until now are part of it.
    ///
    /// - Parameters:
    ///   - forerunners: Sources whose facts have to be in the store before.
    ///   - isAsked: Whether somebody asked for it, who need not wait for a pause of our own.
    func start(_ source: RunningSource, after forerunners: [RunningSource], isAsked: Bool) -> Task<FlushReport, Never> {
        state.withLock { state in
            let (earlier, delivery, generation) = (state.latest, state.delivery, state.generation)
            let task = Task {
                _ = await earlier?.value
                for source in forerunners { try? await source.writer.drain() }
                let gate = self.state.withLock { $0.generation == generation ? $0.gate : DeliveryGate() }
                var flush = Flush(of: source, over: delivery?.transport, gate: gate, isAsked: isAsked, events: events)
                let report = await flush.run()
                self.state.withLock { state in
                    // Why it was held is no news: what went wrong before is the problem still.
                    if !flush.wasHeld || state.problem == nil { state.problem = report.error }
                    if state.generation == generation { state.gate = flush.gate }
                }
                events.tell(.ended(report))
                return report
            }
            state.latest = task
            return task
        }
    }
}
