import Foundation
import TestSupport
import Waybill
import WaybillCore
import WaybillStore

extension Row {
    /// An event while the writer has to share the caller's processor, as on a busy machine; against the same with all
    /// processors.
    static let logOneCore = Row("log.oneCore", unit: "ns/event", against: "log on all processors") {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let count = 10_000
        let transactions = TransactionManager(store: .directory(folder))
        let login = transactions.begin(Login.self)
        try await transactions.sync()
        func nanoseconds() -> Double {
            Comparison.nanoseconds(
                operations: count, before: { try? transactions.sources.source?.writer.runAndWait { _, _ in } }
            ) {
                record(count, in: login)
            } against: {
                0
            }.value
        }
        let free = nanoseconds()
        let pinned = try onOneProcessor(nanoseconds)
        login.finish()
        try await transactions.sync()
        return Comparison(value: pinned, baseline: free)
    }

    /// Runs all threads of this process, and the threads that they start, on the first processor. This uses `taskset`
    /// of util-linux, since macOS has nothing like it.
    private static func onOneProcessor<Value>(_ body: () throws -> Value) throws -> Value {
        // Counted first, because some ways of counting omit processors that the process may not use.
        let all = "0-\(ProcessInfo.processInfo.processorCount - 1)"
        try run(on: "0")
        defer { try? run(on: all) }
        return try body()
    }

    private static func run(on processors: String) throws {
        let taskset = Process()
        taskset.executableURL = URL(filePath: "/usr/bin/taskset")
        taskset.arguments = ["--all-tasks", "--pid", "--cpu-list", processors, "\(getpid())"]
        taskset.standardOutput = FileHandle.nullDevice
        try taskset.run()
        taskset.waitUntilExit()
        guard taskset.terminationStatus == 0 else {
            throw WaybillError(.store, "The threads of this process cannot be kept on one processor: see above.")
        }
    }
}
