#if Collector
import Foundation
import TestSupport
import WaybillCore
import WaybillStore

/// A client's store, a collector with its own, and all that was called journaled between them.
final class Station: Sendable {
    let client: URL
    let collector: CollectorProcess
    private let directory: TemporaryDirectory
    private let state = Locked(State())

    private struct State {
        var journaled: [Int] = []
        var workerCount = 0
    }

    /// Numbers that a worker has for itself.
    private static let numbersPerWorker = 10_000_000

    /// - Parameter client: The folder of the client's store; nil: a new one beside the collector's.
    init(client: URL? = nil) throws {
        directory = try TemporaryDirectory()
        self.client = client ?? directory.url.appending(path: "client", directoryHint: .isDirectory)
        collector = try CollectorProcess(folder: directory.url.appending(path: "collector", directoryHint: .isDirectory))
    }

    /// Starts a worker on the client's store, with numbers of its own.
    func worker(_ options: String..., by prefix: [String] = [], deliversTo isReachable: Bool = true) throws -> WorkerProcess {
        let index = state.withLock { state in
            state.workerCount += 1
            return state.workerCount
        }
        let delivery = isReachable ? ["--collector", collector.address.absoluteString] : []
        return try WorkerProcess(
            ["--folder", client.path(), "--first", String(index * Self.numbersPerWorker)] + delivery + options, by: prefix)
    }

    /// Kills a worker and keeps what it had called journaled.
    func kill(_ worker: WorkerProcess) {
        worker.kill()
        state.withLock { $0.journaled += worker.journaled }
    }

    /// Has workers stop recording and deliver everything, and keeps what they had called journaled.
    func finish(_ workers: WorkerProcess...) throws { try finish(workers) }

    /// As ``finish(_:)``: none of them is done before all have stopped recording.
    func finish(_ workers: [WorkerProcess]) throws {
        for worker in workers { try worker.askToEnd() }
        for worker in workers {
            defer { kill(worker) }
            try worker.wait(for: "end", seconds: 60)
        }
    }

    /// Has a last worker recover and deliver what others left behind, ends the collector, and counts.
    ///
    /// - Parameters:
    ///   - runs: How often the case was tried on this station.
    ///   - mayDrop: Whether journaled facts may be missing that are booked as dropped: where something was damaged.
    func count(runs: Int = 1, mayDrop: Bool = false) throws -> FaultCounts {
        try finish(worker("--facts", "0"))
        collector.stop()
        var accounts = try Accounts(client: client, collector: collector.folder, mayDrop: mayDrop)
        var counts = accounts.counts(journaled: state.withLock { $0.journaled }, mayDrop: mayDrop)
        counts.runs = runs
        return counts
    }
}
#endif
