public import Foundation
public import Waybill
public import WaybillCore
public import WaybillQueries
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
    public func exchange(_ id: FactID, as format: ExchangeFormat) async throws -> String? {
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

extension TransactionManager {
    /// Writes one self-contained HTML file with what was recorded, to be handed on: see
    /// ``WaybillExport/TransactionReport``.
    ///
    /// Everything recorded until now is in it. Where nothing matches, the report says why it is empty: a person is
    /// about to send it. At most 2,000 transactions, the newest; where there are more, it says so.
    ///
    /// ```swift
    /// let file = try await transactions.report(last: .minutes(15))
    /// ```
    ///
    /// - Parameters:
    ///   - last: Only what began within this time until now; nil: whenever it began.
    ///   - filter: Which transactions; all by default.
    ///   - file: Where to, in place of what is there; nil: a file in the temporary folder, named after the app and the
    ///     time.
    /// - Returns: Where it is.
    /// - Throws: ``WaybillCore/WaybillError`` when recording is off, the store cannot be read, or the file cannot be
    ///   written; then there is no file.
    @discardableResult
    public func report(
        last: Duration? = nil, matching filter: TransactionFilter = TransactionFilter(), to file: URL? = nil
    ) async throws -> URL {
        let made = try await read { [filter] reader, now in
            var filter = filter
            if let last { filter.conditions.append(.sinceMicroseconds(now.subtracting(last.microseconds))) }
            return try TransactionReport(reader, matching: filter, limit: TransactionReport.limit, now: now)
        }
        guard var report = made, let settings = sources.settings else {
            throw WaybillError(.store, "Recording is off and nothing was recorded: there is nothing to report on.")
        }
        (report.additionalSecretNames, report.visibleNames) = (settings.additionalSecretNames, settings.visibleNames)
        let app = settings.describe(GUID()).app
        report.title = "Transactions of \(app)"
        let place = file ?? FileManager.default.temporaryDirectory.appending(path: report.fileName(app: app))
        try report.write(to: place)
        return place
    }
}

extension Duration {
    /// So many minutes of 60 seconds.
    public static func minutes(_ minutes: some BinaryInteger) -> Duration { .seconds(60) * minutes }

    /// So many hours of 60 minutes.
    public static func hours(_ hours: some BinaryInteger) -> Duration { .seconds(3600) * hours }
}
