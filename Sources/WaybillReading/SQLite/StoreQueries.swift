/// What the inspector calls it, until it is turned to ``BrowsableStore``; then all of this goes.
package typealias StoreQueries = SQLiteStore

extension SQLiteStore {
    package func transactions(
        _ query: TransactionQuery, patience: Patience
    ) async throws -> (page: RecordPage<TransactionSummary>, progress: SearchProgress?) {
        let page = try await transactions(query, within: .milliseconds(200))
        return (page, page.progress)
    }

    package func exchanges(
        _ query: ExchangeQuery, patience: Patience
    ) async throws -> (page: RecordPage<ExchangeRecord>, progress: SearchProgress?) {
        let page = try await exchanges(query, within: .milliseconds(200))
        return (page, page.progress)
    }
}
