public import Foundation
public import Waybill
import WaybillCore
public import WaybillReading
import WaybillStore

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
            if let last { filter.sinceMicroseconds = max(filter.sinceMicroseconds ?? .min, now - last.microseconds) }
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
