import Foundation
import TestSupport
import WaybillCore
import WaybillQueries
import WaybillStore

extension Row {
    /// Opening a store whose folder has 100,000 facts in the journals of three dead processes.
    static let recover = Row("recover", unit: "ms/100,000 facts", against: "bare prepared inserts") {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let dead = try (0..<3).map { _ in try JournalFiller(in: folder.appending(path: "dead")) }
        // The first fact exists already.
        for (filler, count) in zip(dead, [33_333, 33_333, 33_334]) { try filler.fill(count - 1) }
        let batches = Interleaved.batches(20, of: 5_000)

        var round = folder
        // Nanoseconds divided by a million operations are milliseconds.
        return try Comparison.nanoseconds(operations: 1_000_000, rounds: 7) {
            round = folder.appending(path: "round-\(GUID())")
            try copyJournals(from: folder.appending(path: "dead"), to: round.appending(path: "ours"))
        } of: {
            let source = SourceIdentity(id: GUID(), app: "bench", appVersion: "1", device: "", os: "", osVersion: "")
            let writer = SourceWriter(
                source: source, place: .folder(round.appending(path: "ours")), clock: SystemClock(), capacity: 16,
                writesByItself: false)
            let recorded = try writer.runAndWait { opened, _ in
                try opened.reader().sources().reduce(0) { $0 + $1.ledger.recorded }
            }
            guard recorded == 100_000 else { throw WaybillError(.store, "Of 100000 facts \(recorded) were recovered.") }
            return Int(recorded)
        } against: {
            let bare = try BareStore(folder: round.appending(path: "bare"), isSynced: false)
            for batch in batches { try bare.insert(batch) }
            return batches.count
        }
    }
}

/// Copies what killed processes leave behind: journals without a lock.
private func copyJournals(from folder: URL, to other: URL) throws {
    let files = FileManager.default
    try files.createDirectory(at: other, withIntermediateDirectories: true)
    for name in try files.contentsOfDirectory(atPath: folder.path) where name.hasPrefix("journal-") {
        try files.copyItem(at: folder.appending(path: name), to: other.appending(path: name))
    }
}
