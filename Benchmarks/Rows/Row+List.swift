import Foundation
import TestSupport
import Waybill
import WaybillCore
import WaybillQueries
import WaybillStore

extension Row {
    /// A page of 50 transactions from a store of a million events, read by the manager that records into it.
    static let list = Row("list", unit: "ms/page", against: "limit") {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let transactions = TransactionManager(store: .directory(folder))
        do {
            let source = SourceIdentity(id: GUID(), app: "bench", appVersion: "1", device: "", os: "", osVersion: "")
            let store = try Store(.folder(folder))
            try store.register(source)
            for batch in Interleaved.batches(220, of: 5_000) {  // of 22 facts, 20 are events
                try store.append(RecordedBatch(source: source.id, facts: batch))
            }
            try store.checkpoint()
        }
        let failed = TransactionFilter([.outcome([.succeeded])])
        var milliseconds: [Double] = []
        for filter in [TransactionFilter(), failed] {
            var next: String?
            for _ in 0..<20 {
                let start = ContinuousClock.now
                let page = try await transactions.transactions(matching: filter).page(after: next)
                milliseconds.append((ContinuousClock.now - start) / .milliseconds(1))
                precondition(page.rows.count == 50, "the figure would be of something else")
                next = page.next
            }
        }
        return Comparison(value: milliseconds.median, baseline: 5)
    }
}
