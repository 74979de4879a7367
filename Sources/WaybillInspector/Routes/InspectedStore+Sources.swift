import WaybillCore
import WaybillReading

/// The pages of the sources.
extension InspectedStore {
    /// Names of apps to choose from: beyond, there is the search.
    private static let appLimit = 200

    func sourcesPage(_ items: [(name: String, value: String)]) async throws -> InspectorResponse {
        let address = ListAddress(items)
        let apps = try await store.apps(limit: Self.appLimit)
        var (page, _, status) = try await Self.page {
            var query = try SourceQuery(address.items)
            query.sort = query.sort ?? SourceFilter.Order.newest.rawValue
            return try await store.sources(query)
        }
        let redactor = Redactor()
        let details = try await store.details(of: page.rows.map(\.id), upTo: SourceDetails.Limits(clocks: 1))
        page.rows = page.rows.map { redactor.record($0) }
        let html = SourcesPage(
            page, details: details.mapValues(redactor.details), at: address, apps: apps.map(redactor.text), in: frame
        ).html
        return .page(html, status: status)
    }

    func sourcePage(_ key: String) async throws -> InspectorResponse {
        let redactor = Redactor()
        let record = try await store.source(key)
        guard let details = try await store.details(of: [record.id], upTo: SourcePage.limits)[record.id] else {
            throw QueryFailure.notFound("There is no source “\(key)” here.")
        }
        return .page(SourcePage(redactor.record(record), redactor.details(details), in: frame).html)
    }
}
