import WaybillCore
import WaybillReading

/// The pages of the sources.
extension InspectedStore {
    /// Names of apps to choose from: beyond, there is the search.
    private static let appLimit = 200

    func sourcesPage(_ items: [(name: String, value: String)]) async throws -> InspectorResponse {
        let address = ListAddress(items)
        let apps = try await store.apps(limit: Self.appLimit)
        let (page, _, status) = try await self.page {
            var request = try ListRequest(address.items, about: .sources)
            request[.sort] = request[.sort] ?? SourceFilter.Order.newest.rawValue
            return try await store.sources(request)
        }
        let details = try await store.details(of: page.value.rows.map(\.id), upTo: SourceDetails.Limits(clocks: 1))
        let html = SourcesPage(
            page, details: redactor.redacted(details), at: address, apps: redactor.redacted(apps), in: frame
        ).html
        return .page(html, status: status)
    }

    func sourcePage(_ key: String) async throws -> InspectorResponse {
        let record = try await store.source(key)
        guard let details = try await store.details(of: [record.id], upTo: SourcePage.limits)[record.id] else {
            throw QueryFailure.notFound("There is no source “\(key)” here.")
        }
        return .page(SourcePage(redactor.redacted(record), redactor.redacted(details), in: frame).html)
    }
}
