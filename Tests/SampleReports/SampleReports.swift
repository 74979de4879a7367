import Foundation
import TestSupport
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillStore

/// Writes samples to look at:
///
/// - `SampleReports FOLDER STORE`: the reports that `make look` looks at, and a store of odd exchanges for `make exports`.
/// - `SampleReports FILE`: the store of ``SampleStore``. The environment sets `SEED`, a number, and `AT`, a time or `now`.
@main
struct SampleReports {
    static func main() async throws {
        if CommandLine.arguments.count == 2 { return try writeStore(to: CommandLine.arguments[1]) }
        guard CommandLine.arguments.count == 3 else { fail("Usage: SampleReports FOLDER STORE, or SampleReports FILE") }
        let folder = URL(filePath: CommandLine.arguments[1])
        let now = SystemClock().wallMicroseconds()

        let store = try StoreReader(ResolvedLocation(path: CommandLine.arguments[2]))
        var demo = try TransactionReport(store, matching: TransactionFilter(), limit: 120, now: now)
        demo.title = "Transactions of login-client"
        try demo.write(to: folder.appending(path: "demo.html"))

        try TransactionReport(records: HostileText.records).write(to: folder.appending(path: "hostile.html"))

        var shop = TransactionReport(records: try ShopRecords.all(), made: Date(microseconds: ShopRecords.made))
        shop.title = "Transactions of com.example.shop"
        shop.selection = "begun in the last 15 minutes"
        shop.timeZone = TimeZone(secondsFromGMT: 3600) ?? .gmt
        try shop.write(to: folder.appending(path: "shop.html"))

        try await SampleExchanges.write(to: folder.appending(path: "exchanges"))

        var bodies = try TransactionReport(
            StoreReader(ResolvedLocation(path: folder.appending(path: "exchanges").path)),
            matching: TransactionFilter(), limit: 10,
            now: now)
        bodies.title = "Exchanges of shop"
        try bodies.write(to: folder.appending(path: "exchanges.html"))

        var empty = TransactionReport(records: [])
        empty.selection = "failed, begun in the last 15 minutes"
        empty.notes = ["40 transactions failed, the newest on 2026-03-01 at 12:00:00 UTC, and none since."]
        try empty.write(to: folder.appending(path: "empty.html"))
    }

    private static func writeStore(to path: String) throws {
        let values = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
        guard let seed = Int(values["SEED"] ?? "1") else { fail("SEED is not a number. Use SEED=7, for example.") }
        let time = values["AT"].map { $0 == "now" ? SystemClock().wallMicroseconds() : TimeExpression.instant($0) }
        guard let time = time ?? LoginHistory.begun else {
            fail("AT is not a time. Use AT=2026-03-01T12:00:00Z, for example, or AT=now.")
        }
        guard !FileManager.default.fileExists(atPath: path) else {
            fail("\(path) exists. Delete it, or choose another.")
        }
        var sample = SampleStore(seed: seed, endingAt: time)
        try sample.write(to: .file(URL(filePath: path)))
        print("300 requests: \(sample.manyRequests)\n400 events: \(sample.manyEvents)")
    }

    private static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(64)
    }
}
