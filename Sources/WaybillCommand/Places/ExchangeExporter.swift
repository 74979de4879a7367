#if Collector
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

/// Exports network exchanges: from a store at hand, or through a collector.
struct ExchangeExporter {
    /// From a collector they come newest first and are turned round in memory.
    static let collectorLimit = 50_000

    private let place: StoreOptions
    private let export: ExchangeExport

    init(_ place: StoreOptions, _ export: ExchangeExport) {
        self.place = place
        self.export = export
    }

    /// - Parameter file: nil for standard output.
    /// - Returns: nil for standard output.
    func write(_ query: ExchangeQuery, to file: URL?) async throws -> ExportSummary? {
        let reader = try await place.reader()
        guard let queries = reader as? StoreQueries else {
            let records = try await all(query, of: reader)
            return try write({ body in for record in records { try body(record, ExchangeBodies()) } }, to: file)
        }
        return try await queries.read(query) { reader, filter, now in try write(reader.exchanges(matching: filter, now: now), to: file) }
    }

    private func write(_ source: ExchangeExport.Source, to file: URL?) throws -> ExportSummary? {
        if let file { return try export.write(source, to: file) }
        try export.write(source, to: StandardOutput(isCompressed: false).write)
        return nil
    }

    /// The oldest first.
    private func all(_ query: ExchangeQuery, of reader: any TransactionReader) async throws -> [ExchangeRecord] {
        var query = query
        query.base.limit = "\(TransactionQuery.limits.upperBound)"
        var records: [ExchangeRecord] = []
        repeat {
            let page = try await reader.exchanges(query)
            records += page.rows
            query.base.cursor = page.next
        } while query.base.cursor != nil && records.count < Self.collectorLimit
        if query.base.cursor != nil {
            Terminal.warn("These are the newest \(records.count); there are more. Export the collector's folder.")
        }
        return records.reversed()
    }
}
#endif
