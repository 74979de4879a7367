import Foundation
import WaybillCore
import WaybillStore

/// Leases sets, sends them, books the verdicts: one flush at a time.
final class Flusher: Sendable {
    private struct State {
        var delivery: Delivery?
        var latest: Task<FlushReport, Never>?
        var problem: WaybillError?
    }

    /// How long a set may be under way before its facts may be sent again.
    private static let leaseMicroseconds = 120_000_000

    private let state: Locked<State>

    init(delivery: Delivery?) { state = Locked(State(delivery: delivery)) }

    var delivery: Delivery? {
        get { state.withLock { $0.delivery } }
        set { state.withLock { $0.delivery = newValue } }
    }

    /// What the last flush stumbled over; nil when it did not.
    var problem: WaybillError? { state.withLock { $0.problem } }

    /// Starts a flush behind those that are under way: facts recorded until now are part of it.
    ///
    /// - Parameter forerunners: Sources whose facts have to be in the store before.
    func start(_ source: RunningSource, after forerunners: [RunningSource]) -> Task<FlushReport, Never> {
        state.withLock { state in
            let (earlier, delivery) = (state.latest, state.delivery)
            let task = Task {
                _ = await earlier?.value
                for source in forerunners { try? await source.writer.drain() }
                let report = await Self.flush(source, over: delivery?.transport)
                self.state.withLock { $0.problem = report.error }
                return report
            }
            state.latest = task
            return task
        }
    }

    private static func flush(_ source: RunningSource, over transport: (any FlushTransport)?) async -> FlushReport {
        var report = FlushReport()
        do {
            // What is recorded while the flush runs is for the next one, or a busy app would never see the end of this one.
            var remaining = try await source.writer.run { _, store in try store.pendingCount() }
            if let transport {
                repeat {
                    guard let set = try await lease(source) else { break }
                    let receipt = try await send(set, over: transport, of: source)
                    guard
                        try await source.writer.run({ [wall = source.settings.clock.wallMicroseconds()] _, store in
                            try store.settle(set.id, rejections: receipt.rejections, at: wall)
                        })
                    else {
                        throw WaybillError(.transport, "The set's lease ended before its verdicts came; its facts will be sent again.")
                    }
                    report.delivered += set.factCount - receipt.rejections.count
                    report.rejected += receipt.rejections.count
                    remaining -= set.factCount
                } while remaining > 0 && !Task.isCancelled
                if report.delivered + report.rejected > 0 {
                    try await source.writer.run { opened, _ in _ = opened.retain(wasSettled: true) }
                }
            }
        } catch {
            report.error = error as? WaybillError ?? WaybillError(.transport, "The set could not be sent.", cause: "\(type(of: error))")
        }
        report.pending = (try? await source.writer.run { _, store in try store.pendingCount() }) ?? 0
        return report
    }

    private static func lease(_ source: RunningSource) async throws -> OutgoingSet? {
        let (owner, now) = (source.id, source.settings.clock.uptimeMicroseconds())
        return try await source.writer.run { opened, store in
            let set = try store.lease(
                owner: owner, now: now, expiresIn: leaseMicroseconds, limit: LeaseLimit(), isAlive: { opened.isAlive($0) })
            return set.map { OutgoingSet(id: $0.id, body: $0.encoded(), factCount: $0.factCount) }
        }
    }

    /// Sends a set; when that fails, its facts are free to be sent again at once.
    private static func send(_ set: OutgoingSet, over transport: any FlushTransport, of source: RunningSource) async throws -> Receipt {
        do {
            return try await transport.send(set)
        } catch {
            try await source.writer.run { _, store in try store.release(set.id) }
            throw error
        }
    }
}
