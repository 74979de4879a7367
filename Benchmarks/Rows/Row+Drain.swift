import Foundation
import TestSupport
import WaybillCore
import WaybillStore

extension Row {
    /// Facts from the journal into the store, including indexes: transactions of 20 events, 50 at a time.
    static let drain = Row("drain", unit: "facts/s", against: "bare prepared inserts") {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = try JournalFiller(in: folder.appending(path: "ours"))
        let bare = try BareStore(folder: folder.appending(path: "bare"), isSynced: false)
        // As many as fit in the journal, whichever segment it has reached.
        let (batchCount, batchSize) = (6, 5_000)
        var interleaved = Interleaved()
        var sequence: Int64 = 0
        var batches: [[Fact]] = []
        let comparison = try Comparison.nanoseconds(operations: batchCount * batchSize) {
            let writer = source.writer
            try writer.runAndWait { _, store in try writer.scrubJournal(store) }
            try source.fill(batchCount * batchSize)
            batches = (0..<batchCount).map { _ in
                defer { sequence += Int64(batchSize) }
                return interleaved.batch(of: batchSize, after: sequence)
            }
        } of: {
            try source.writer.runAndWait { _, _ in }
            return batchCount
        } against: {
            for batch in batches { try bare.insert(batch) }
            return batchCount
        }
        return Comparison(value: 1e9 / comparison.value, baseline: 1e9 / comparison.baseline)
    }
}
