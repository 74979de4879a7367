#if Collector
import Foundation
import Waybill
import WaybillCollector
import WaybillCore

#if canImport(CDispatch)
import CDispatch  // where `timespec` is defined, once Dispatch is among the imports of any file
import TestSupport
#endif

/// The CPU seconds for a million facts, from `log` to the collector's commit, which affect batteries and bills. Each
/// side is a process, and all its threads count.
extension Row {
    static let processors: [Row] = [
        Row("cpu.client", unit: "CPU s/M facts", against: "bare prepared inserts") {
            let delivery = try await ProcessorSeconds.delivering()
            return Comparison(value: delivery.client, baseline: try ProcessorSeconds.inserting(isSynced: false))
        },
        Row("cpu.collector", unit: "CPU s/M facts", against: "bare synced inserts") {
            let delivery = try await ProcessorSeconds.delivering()
            return Comparison(value: delivery.collector, baseline: try ProcessorSeconds.inserting(isSynced: true))
        },
    ]
}

/// CPU seconds for a million facts.
enum ProcessorSeconds {
    private static let rounds = 10
    private static let transactionsPerRound = 1_000
    private static let factsPerTransaction = 20
    private static let factCount = rounds * transactionsPerRound * factsPerTransaction

    /// Records and flushes in this process, to a collector in another process.
    static func delivering() async throws -> (client: Double, collector: Double) {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let child = try BenchChild(["--collector", folder.appending(path: "collector").path(percentEncoded: false)])
        guard let url = URL(string: "http://127.0.0.1:\(child.told())") else { throw URLError(.badURL) }
        let transactions = TransactionManager(
            store: .directory(folder.appending(path: "device")), delivery: .collector(url)
        ) { options in
            options.app = "bench"
            options.memoryCapacity = 200_000  // until the journal is made
            options.diagnostics = { _ in }
        }
        try await transactions.sync()
        func used() throws -> (client: Double, collector: Double) { (ofThisProcess, Double(try child.ask()) ?? 0) }
        let before = try used()
        for _ in 0..<rounds {
            for _ in 0..<transactionsPerRound {
                let transaction = transactions.begin(useCase: 1)
                for code in 0..<(factsPerTransaction - 2) { transaction.log(code) }
                transaction.finish(.succeeded)
            }
            try await transactions.sync()
        }
        let report = await transactions.flush()
        guard report == FlushReport(delivered: factCount) else {
            throw report.error ?? WaybillError(.transport, "Not everything was delivered: \(report).")
        }
        let after = try used()
        return ((after.client - before.client) / millions, (after.collector - before.collector) / millions)
    }

    /// Measures the minimum that SQLite has to do for as many facts.
    static func inserting(isSynced: Bool) throws -> Double {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try BareStore(folder: folder, isSynced: isSynced)
        let batches = Interleaved.batches(factCount / 2_000, of: 2_000)
        let before = ofThisProcess
        for batch in batches { try store.insert(batch) }
        return (ofThisProcess - before) / millions
    }

    /// In the child: runs a collector on a free port, and answers each line with its CPU time: `--collector FOLDER`.
    static func collect(_ folder: String) async throws {
        let server = try await RunningServer(Collector(folder: URL(filePath: folder), access: .open).router())
        BenchChild.tell(server.port)
        while readLine() != nil { BenchChild.tell(ofThisProcess) }
        withExtendedLifetime(server) {}
    }

    private static let millions = Double(factCount) / 1_000_000

    static var ofThisProcess: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
#endif
