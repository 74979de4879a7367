import Foundation
import WaybillCore
import WaybillReading
import WaybillStore

/// An export as a store of its own, in one file: facts go through the front door, as a collector's do.
struct SQLiteExport {
    var redactor: Redactor

    /// Writes the file, in place of one of that name.
    ///
    /// - Parameter now: Microseconds since 1970, when the store in it has heard of everything.
    func run(_ scope: ExportScope, of reader: StoreReader, to file: URL, now: Int64) throws -> ExportSummary {
        // Holds the name and shows early whether it can be written.
        let partial = try PartialFile(file)
        let work = try partial.makeFolder()
        defer { withExtendedLifetime(partial) {} }
        let store = try Store(.folder(work))
        var factCount = 0
        try reader.export(scope, redactor: redactor) { set in
            factCount += try store.ingest(DecodedSet(set: set), receivedAt: now, isVouchedFor: true)
                .acceptedCount
        }
        guard factCount > 0 else { throw try reader.nothingToExport(scope) }
        let copy = work.appending(path: "copy.sqlite")
        try store.snapshot(to: copy)
        let byteCount = try partial.finish(with: copy)
        return ExportSummary(file: file, factCount: factCount, byteCount: byteCount)
    }
}
