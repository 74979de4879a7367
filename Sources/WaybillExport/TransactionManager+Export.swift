public import Foundation
public import Waybill
public import WaybillCore
public import WaybillQueries
import WaybillStore

extension TransactionManager {
    /// Writes all facts recorded so far to one file, atomically, and redacts every text again. Recording continues.
    ///
    /// ## Usage
    ///
    /// ```swift
    /// try await transactions.export(as: .ndjson, to: URL.temporaryDirectory.appending(path: "facts.ndjson.gz"))
    /// ```
    ///
    /// - Parameters:
    ///   - format: One row per fact (`.ndjson`, `.csv`), OpenTelemetry spans (`.otlp`), a trace
    ///     (`.perfetto`), or an SQLite store (`.sqlite`).
    ///   - filter: The transactions. The default exports everything, including exchanges outside transactions.
    ///   - file: The destination. An existing file is replaced.
    ///   - isCompressed: Whether to compress text with gzip; `nil` compresses if the file name ends with `.gz`.
    /// - Throws: ``WaybillCore/WaybillError``: `.setting` if the file can't be written or compressed, `.notFound` if
    ///   nothing matches, `.store` if recording is off or the store can't be read. No file is written then.
    @discardableResult
    public func export(
        as format: ExportFormat, matching filter: TransactionFilter = TransactionFilter(), to file: URL,
        isCompressed: Bool? = nil
    ) async throws(WaybillError) -> ExportSummary {
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
    /// Writes all exchanges recorded so far to one file, oldest first, atomically, with stored bodies.
    ///
    /// Every text is redacted again. Recording continues.
    ///
    /// ## Usage
    ///
    /// ```swift
    /// try await transactions.export(as: .har, to: URL.temporaryDirectory.appending(path: "exchanges.har"))
    /// ```
    ///
    /// - Parameters:
    ///   - format: `.har`, `.curl`, `.rules`, `.text` or `.json`.
    ///   - filter: The exchanges; all by default.
    ///   - file: The destination. An existing file is replaced. A name that ends with `.gz` selects compression.
    /// - Throws: ``WaybillCore/WaybillError``: `.setting` if the file can't be written, `.notFound` if nothing matches,
    ///   `.store` if recording is off or the store can't be read. No file is written then.
    @discardableResult
    public func export(
        as format: ExchangeFormat, matching filter: ExchangeFilter = ExchangeFilter(), to file: URL
    ) async throws(WaybillError) -> ExportSummary {
        guard let settings = sources.settings else { throw Self.nothingToExport }
        let export = ExchangeExport(as: format, redactor: settings.redactor)
        let summary = try await read { reader, now in
            try export.write(reader.exchanges(matching: filter, now: now), to: file)
        }
        guard let summary else { throw Self.nothingToExport }
        return summary
    }

    /// Returns one exchange as text to copy or share: the document that ``export(as:matching:to:)`` would write.
    ///
    /// - Returns: `nil` if the exchange is unknown, or if the format can't express it. For example, a received request
    ///   has no cURL command.
    /// - Throws: ``WaybillCore/WaybillError`` if the store can't be read.
    public func exchange(_ id: FactID, as format: ExchangeFormat) async throws(WaybillError) -> String? {
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
    /// Writes a self-contained HTML file to share: a ``WaybillExport/TransactionReport`` of the newest 2,000
    /// transactions.
    ///
    /// If nothing matches, or if there are more transactions, the report says so.
    ///
    /// ```swift
    /// let file = try await transactions.report(last: .seconds(900))
    /// ```
    ///
    /// - Parameters:
    ///   - last: Includes only transactions that began within this time before now; `nil` includes all.
    ///   - filter: The transactions; all by default.
    ///   - file: The destination. An existing file is replaced. `nil` creates a file in the temporary folder, named
    ///     after the app and the time.
    /// - Returns: The location of the file.
    /// - Throws: ``WaybillCore/WaybillError`` if recording is off, the store can't be read, or the file can't be
    ///   written. No file is written then.
    @discardableResult
    public func report(
        last: Duration? = nil, matching filter: TransactionFilter = TransactionFilter(), to file: URL? = nil
    ) async throws(WaybillError) -> URL {
        let made = try await read { [filter] reader, now in
            var filter = filter
            if let last { filter.conditions.append(.sinceMicroseconds(now.subtracting(last.microseconds))) }
            return try TransactionReport(reader, matching: filter, limit: TransactionReport.limit, now: now)
        }
        guard var report = made, let settings = sources.settings else {
            throw WaybillError(.store, "Recording is off and nothing was recorded: there is nothing to report on.")
        }
        let app = settings.describe(GUID()).app
        report.title = "Transactions of \(app)"
        let place = file ?? FileManager.default.temporaryDirectory.appending(path: report.fileName(app: app))
        try WholeFile.write(to: place) { report.html(redactedBy: settings.redactor) }
        return place
    }
}
