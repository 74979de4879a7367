import Foundation
import TestSupport
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillStore

/// Writes the reports that `make look` looks at, and a store of odd exchanges for `make exports`, into a folder:
/// `SampleReports FOLDER STORE`.
@main
struct SampleReports {
    static func main() async throws {
        guard CommandLine.arguments.count == 3 else {
            FileHandle.standardError.write(Data("Usage: SampleReports FOLDER STORE\n".utf8))
            exit(64)
        }
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
}
