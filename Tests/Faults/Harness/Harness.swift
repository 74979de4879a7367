#if Collector
import Foundation
import TestSupport
import WaybillCore
import WaybillStore

/// Clients' stores, a collector with its store, and all facts that the clients reported as journaled.
final class Harness: Sendable {
    /// The folders of the clients' stores.
    let clients: [URL]
    let collector: CollectorProcess
    private let directory: TemporaryDirectory
    private let state = Locked(State())

    private struct State {
        var journaled: [Int] = []
        var workerCount = 0
    }

    /// How many fact numbers each worker reserves.
    private static let numbersPerWorker = 10_000_000

    /// - Parameter client: The folder of a client's store.
    convenience init(client: URL) throws { try self.init(TemporaryDirectory(), [client]) }

    /// - Parameter clientCount: The number of clients' stores.
    convenience init(clientCount: Int = 1) throws {
        let directory = try TemporaryDirectory()
        try self.init(
            directory,
            (0..<clientCount).map { directory.url.appending(path: "client-\($0)", directoryHint: .isDirectory) })
    }

    private init(_ directory: TemporaryDirectory, _ clients: [URL]) throws {
        self.directory = directory
        self.clients = clients
        collector = try CollectorProcess(
            folder: directory.url.appending(path: "collector", directoryHint: .isDirectory))
    }

    /// The folder of the first client's store.
    var client: URL { clients[0] }

    /// Starts a worker on a client's store, with a separate range of numbers.
    func worker(
        _ options: String..., of client: Int = 0, by prefix: [String] = [], deliversTo isReachable: Bool = true
    ) throws -> WorkerProcess {
        try worker(options, of: client, by: prefix, deliversTo: isReachable)
    }

    /// As ``worker(_:of:by:deliversTo:)``.
    func worker(
        _ options: [String], of client: Int = 0, by prefix: [String] = [], deliversTo isReachable: Bool = true
    ) throws -> WorkerProcess {
        let index = state.withLock { state in
            state.workerCount += 1
            return state.workerCount
        }
        let delivery = isReachable ? ["--collector", collector.address.absoluteString] : []
        return try WorkerProcess(
            ["--folder", clients[client].path(), "--first", String(index * Self.numbersPerWorker)] + delivery + options,
            by: prefix)
    }

    /// Kills a worker and keeps the facts that it reported as journaled.
    func kill(_ worker: WorkerProcess) {
        worker.kill()
        state.withLock { $0.journaled += worker.journaled }
    }

    /// Lets workers stop recording and deliver everything, and keeps the facts that they reported as journaled.
    func finish(_ workers: WorkerProcess...) throws { try finish(workers) }

    /// As ``finish(_:)``: no worker finishes before all have stopped recording.
    func finish(_ workers: [WorkerProcess]) throws {
        for worker in workers { try worker.askToEnd() }
        for worker in workers {
            defer { kill(worker) }
            try worker.wait(for: "end", seconds: 180)
        }
    }

    /// Recovers and delivers leftover facts with a last worker for each client, ends the collector, and counts.
    ///
    /// - Parameters:
    ///   - runs: How often the case was tried on this harness.
    ///   - mayDrop: Whether journaled facts that are booked as dropped may be missing, because something was damaged.
    func count(runs: Int = 1, mayDrop: Bool = false) throws -> FaultCounts {
        try finish(clients.indices.map { try worker("--facts", "0", of: $0) })
        collector.stop()
        return try recount(runs: runs, mayDrop: mayDrop)
    }

    /// Counts again, after ``count(runs:mayDrop:)``.
    func recount(runs: Int = 1, mayDrop: Bool = false) throws -> FaultCounts {
        var accounts = try Accounts(clients: clients, collector: collector.folder, mayDrop: mayDrop)
        var counts = accounts.counts(journaled: state.withLock { $0.journaled }, mayDrop: mayDrop)
        counts.runs = runs
        return counts
    }
}
#endif
