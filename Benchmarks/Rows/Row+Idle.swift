import Foundation
import TestSupport
import Waybill
import WaybillCore
import WaybillStore

extension Row {
    /// How often any thread of an app runs while nothing is recorded, with a store in use and delivery on. A thread
    /// that does not run wakes no processor and makes no system call. On Linux, libdispatch checks its threads each
    /// second, once it has been used.
    static let idle = Row("idle", unit: "wake-ups/minute", against: "the app without Waybill") {
        let apps = try ["recording", "bare"].map { try BenchChild(["--idle", $0]) }
        guard apps.allSatisfy({ $0.told() == IdleApp.ready }) else {
            throw WaybillError(.store, "The app that is to be idle did not begin.")
        }
        let seconds = 20
        let before = try apps.map { try runCount(of: $0.id) }
        try await Task.sleep(for: .seconds(seconds))
        let runs = try zip(apps, before).map { Double(try runCount(of: $0.id) - $1) * 60 / Double(seconds) }
        return Comparison(value: runs[0], baseline: runs[1])
    }

    /// Returns how often a process's threads have run until they had nothing to do, from Linux's `/proc`. It does not
    /// count how often other threads took the processor from them.
    private static func runCount(of process: Int32) throws -> Int {
        let tasks = URL(filePath: "/proc/\(process)/task")
        return try FileManager.default.contentsOfDirectory(atPath: tasks.path(percentEncoded: false)).reduce(0) {
            let status = try String(contentsOf: tasks.appending(path: "\($1)/status"), encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return $0 + (line?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 0)
        }
    }
}

/// An app that has done something and is now idle: `Benchmarks --idle recording|bare`.
enum IdleApp {
    static let ready = "idle"

    /// Accepts everything, and keeps nothing.
    private struct AcceptingTransport: FlushTransport {
        func send(_ set: OutgoingSet) async throws -> Receipt { Receipt(set: set.id, acceptedCount: set.factCount) }
    }

    static func run(_ kind: String) async throws {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let transactions =
            kind == "bare"
            ? nil : TransactionManager(store: .directory(folder), delivery: .transport(AcceptingTransport()))
        if let transactions {
            transactions.startDelivery()
            transactions.perform(Login.self) { $0.log(.initiated) }
            try await transactions.sync()
            _ = await transactions.flush()
        }
        // The last facts are synced and leave the journal within five seconds. Threads with nothing more to do end
        // after another five. Delivery runs a last time after 30, and finds nothing left.
        try await Task.sleep(for: .seconds(40))
        BenchChild.tell(ready)
        _ = readLine()
        withExtendedLifetime(transactions) {}
    }
}
