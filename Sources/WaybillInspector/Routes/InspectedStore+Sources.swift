import WaybillCore
import WaybillReading
import WaybillStore

/// The pages of the sources.
extension InspectedStore {
    /// Names of apps to choose from: beyond, there is the search.
    private static let appLimit = 200

    func sourcesPage(_ items: [(name: String, value: String)]) async throws -> InspectorResponse {
        let address = ListAddress(items)
        let apps = try await queries.read { reader in try reader.apps(limit: Self.appLimit) }
        let (page, _, _, status) = try await Self.page {
            var query = try SourceQuery(address.items)
            query.sort = query.sort ?? SourceFilter.Order.newest.rawValue
            return (try await queries.sources(query), nil)
        }
        let (ids, own) = (page.rows.map(\.id), page.rows.filter { $0.heardMicroseconds == nil }.map(\.id))
        let (clocks, seen) = try await queries.read { reader in
            var (clocks, seen): ([GUID: SourceClocks], [GUID: Int]) = ([:], [:])
            for id in ids { clocks[id] = try reader.clocks(of: id, others: 1) }
            for id in own { seen[id] = try reader.latestFact(of: id) }
            return (clocks, seen)
        }
        let redactor = Redactor()
        let redacted = RecordPage(rows: page.rows.map { redactor.record($0) }, next: page.next, whyEmpty: page.whyEmpty)
        let html = SourcesPage(
            redacted, clocks: clocks.mapValues(redactor.clocks), seen: seen, at: address, apps: apps.map(redactor.text), in: frame
        ).html
        return .page(html, status: status)
    }

    func sourcePage(_ key: String) async throws -> InspectorResponse {
        let redactor = Redactor()
        let found = try await queries.read(TransactionQuery()) { reader, _, now in
            let record = try reader.source(key: key)
            let details = SourcePage.Details(
                clocks: try reader.clocks(of: record.id, others: SourcePage.clockLimit).map(redactor.clocks),
                gaps: try reader.times(of: record.gaps.prefix(SourcePage.gapLimit), in: record.id),
                transactions: try reader.latestTransactions(of: record.id, limit: SourcePage.transactionLimit, now: now)
                    .map(redactor.summary),
                latestFact: try reader.latestFact(of: record.id), firstArrival: try reader.firstArrival(of: record.id))
            return (record: redactor.record(record), details: details)
        }
        return .page(SourcePage(found.record, found.details, in: frame).html)
    }
}

extension StoreReader {
    /// The source that a person means: by its ID, its support code, or the beginning of that.
    fileprivate func source(key: String) throws -> SourceRecord {
        let ids = try GUID(key).map { [$0] } ?? sources(withCode: key)
        guard ids.count < 2 else {
            throw QueryFailure.notFound("Several sources begin with “\(key)”: \(ids.prefix(5).map(\.description).joined(separator: ", ")).")
        }
        guard let id = ids.first, let record = try source(id) else { throw QueryFailure.notFound("There is no source “\(key)” here.") }
        return record
    }
}
