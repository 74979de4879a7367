public import Foundation
public import Waybill
import WaybillCore
public import WaybillReading
import WaybillStore

extension TransactionManager {
    /// Writes what was recorded until now into one file that other tools read. Recording goes on meanwhile.
    ///
    /// Every text is redacted once more on its way out. The file appears whole or not at all.
    ///
    /// ## Usage
    ///
    /// ```swift
    /// try await transactions.export(as: .ndjson, to: URL.temporaryDirectory.appending(path: "facts.ndjson.gz"))
    /// ```
    ///
    /// - Parameters:
    ///   - format: One row a fact (`.ndjson`, `.csv`), or a store of its own (`.sqlite`).
    ///   - filter: Which transactions; by default everything, also exchanges outside any transaction.
    ///   - file: Where to; a file that is there is replaced. Where the name ends with `.gz`, text is compressed.
    ///   - isCompressed: Whether text is compressed, regardless of the name; nil: by the name.
    /// - Throws: ``WaybillCore/WaybillError``: `.setting` when the file cannot be written, `.notFound` when nothing
    ///   matches, which says why; `.store` when recording is off or the store cannot be read. Then there is no file.
    @discardableResult
    public func export(
        as format: ExportFormat, matching filter: TransactionFilter = TransactionFilter(), to file: URL,
        isCompressed: Bool? = nil
    ) async throws -> ExportSummary {
        guard let settings = sources.settings else { throw Self.nothingToExport }
        let export = try FileExport(as: format, to: file, isCompressed: isCompressed, redactor: settings.redactor)
        let summary = try await read { reader, now in
            try export.run(
                filter == TransactionFilter() ? .everything : .transactions(filter, now: now), of: reader, to: file,
                now: now)
        }
        guard let summary else { throw Self.nothingToExport }
        return summary
    }

    static var nothingToExport: WaybillError {
        WaybillError(.store, "Recording is off and nothing was recorded: there is nothing to export.")
    }
}
