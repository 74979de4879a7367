#if Collector
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

/// Answers questions about recorded transactions: from a store at hand, or through a collector.
protocol TransactionReader: Sendable {
    /// A page of transactions, newest first.
    func transactions(_ query: TransactionQuery) async throws -> RecordPage<TransactionSummary>
    /// One transaction, by its ID or its support code.
    func transaction(_ key: String) async throws -> TransactionRecord
    /// A page of exchanges, newest first.
    func exchanges(_ query: ExchangeQuery) async throws -> RecordPage<ExchangeRecord>
    /// One exchange, by its ID or its code.
    func exchange(_ key: String) async throws -> ExchangeRecord
    /// What was kept of the bodies of an exchange; bodies are never at a collector.
    func bodies(of exchange: Fact.ID) async throws -> ExchangeBodies
    /// A page of the sources that are known, with their ledgers and gaps.
    func sources(_ query: SourceQuery) async throws -> RecordPage<SourceRecord>
    /// The answer to a question about many transactions: those that the parameters mean, as a list takes them; none: those that the question means.
    func answer(_ question: Query, where parameters: [(name: String, value: String)]) async throws -> Answer
    /// The newest transactions of a query as a page to hand on.
    func report(_ query: TransactionQuery) async throws -> TransactionReport
}

extension TransactionReader {
    /// Every source that is known, page after page.
    func sources() async throws -> [SourceRecord] {
        var query = SourceQuery()
        query.base.limit = "\(TransactionQuery.limits.upperBound)"
        var sources: [SourceRecord] = []
        repeat {
            let page = try await self.sources(query)
            sources += page.rows
            query.base.cursor = page.next
        } while query.base.cursor != nil
        return sources
    }
}

extension StoreQueries: TransactionReader {
    func bodies(of exchange: Fact.ID) async throws -> ExchangeBodies { try await read { reader in try reader.bodies(of: exchange) } }

    func report(_ query: TransactionQuery) async throws -> TransactionReport {
        try await read(query) { reader, filter, now in
            try TransactionReport(reader, matching: filter, limit: TransactionReport.limit, now: now)
        }
    }
}

extension CollectorClient {
    func bodies(of exchange: Fact.ID) async throws -> ExchangeBodies { ExchangeBodies() }

    func report(_ query: TransactionQuery) async throws -> TransactionReport {
        var query = query
        query.limit = "\(TransactionQuery.limits.upperBound)"
        var report = TransactionReport(records: [])
        repeat {
            let page = try await transactions(query)
            for row in page.rows.prefix(TransactionReport.limit - report.records.count) {
                report.records.append(try await transaction(row.id.description))
            }
            query.cursor = page.next
        } while query.cursor != nil && report.records.count < TransactionReport.limit
        if query.cursor != nil { report.notes.append(TransactionReport.thereAreMore) }
        if report.records.isEmpty { report.notes.append("Nothing of what the collector has matches.") }
        return report
    }
}
#endif
