#if Collector
import Foundation
import TestSupport
import Waybill
import WaybillCollector
import WaybillCore
import WaybillStore

extension Row {
    /// 100,000 events in 5,000 transactions, from a device's store over HTTP into a collector's: read, encoded,
    /// compressed, sent, decoded, stored, answered and booked, in one process.
    static let flush = Row("flush", unit: "ms/100,000 events", against: "its limit") {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await RunningServer(
            Collector(folder: folder.appending(path: "collector"), access: .open).router())
        guard let url = URL(string: "http://127.0.0.1:\(server.port)") else { throw URLError(.badURL) }

        var values: [Double] = []
        for round in 0..<5 {
            let transactions = TransactionManager(
                store: .directory(folder.appending(path: "device-\(round)")), delivery: .collector(url)
            ) { options in
                options.app = "bench"
                options.memoryCapacity = 200_000
                options.diagnostics = { _ in }
            }
            for _ in 0..<5_000 {
                let transaction = transactions.begin(useCase: 1)
                for code in 0..<18 { transaction.log(code) }
                transaction.finish(.succeeded)
            }
            try await transactions.sync()
            let start = ContinuousClock.now
            let report = await transactions.flush()
            values.append((ContinuousClock.now - start) / .milliseconds(1))
            guard report == FlushReport(delivered: 100_000) else {
                throw report.error ?? WaybillError(.transport, "Not everything was delivered: \(report).")
            }
        }
        return Comparison(value: values.median, baseline: 500)
    }
}
#endif
