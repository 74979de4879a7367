public import Foundation
public import Waybill
public import WaybillCore
public import WaybillReading
import WaybillStore

extension TransactionManager {
    /// Writes the exchanges recorded until now into one file, the oldest first. Recording goes on meanwhile.
    ///
    /// Every text is redacted once more on its way out. The file appears whole or not at all. Bodies are in it where
    /// they were kept.
    ///
    /// ## Usage
    ///
    /// ```swift
    /// try await transactions.export(as: .har, to: URL.temporaryDirectory.appending(path: "exchanges.har"))
    /// ```
    ///
    /// - Parameters:
    ///   - format: `.har`, `.curl`, `.text` or `.json`.
    ///   - filter: Which exchanges; all by default.
    ///   - file: Where to; a file that is there is replaced. Where the name ends with `.gz`, it is compressed.
    /// - Throws: ``WaybillCore/WaybillError``: `.setting` when the file cannot be written, `.notFound` when nothing
    ///   matches; `.store` when recording is off or the store cannot be read. Then there is no file.
    @discardableResult
    public func export(
        as format: ExchangeFormat, matching filter: ExchangeFilter = ExchangeFilter(), to file: URL
    ) async throws -> ExportSummary {
        guard let settings = sources.settings else { throw Self.nothingToExport }
        let export = ExchangeExport(as: format, isCompressed: file.endsInGzip, redactor: settings.redactor)
        let summary = try await read { reader, now in
            try export.write(reader.exchanges(matching: filter, now: now), to: file)
        }
        guard let summary else { throw Self.nothingToExport }
        return summary
    }

    /// One exchange as text to copy or to share: the whole document that ``export(as:matching:to:)`` would write of it
    /// alone.
    ///
    /// - Returns: nil where nothing is known of it, and for what the format cannot say: a request that was received is
    ///   no cURL command.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be read.
    public func exchange(_ id: Fact.ID, as format: ExchangeFormat) async throws -> String? {
        guard let settings = sources.settings else { return nil }
        let text = try await read { reader, _ -> String? in
            guard let record = try reader.exchange(id) else { return nil }
            var writer = ExchangeWriter(as: format, redactor: settings.redactor)
            let bytes = writer.next(record, bodies: try reader.bodies(of: record.id))
            guard !bytes.isEmpty else { return nil }
            return String(decoding: writer.beginning + bytes + writer.end, as: UTF8.self)
        }
        return text ?? nil
    }
}
