import WaybillCore

/// What a batch has changed, for those who watch.
extension Store {
    /// The transactions that facts of an own source belong to; nil for facts outside any.
    func change(by facts: [Fact], of source: GUID) throws(WaybillError) -> TransactionChange? {
        let parts = Set(facts.lazy.map(\.part)).subtracting([0])
        guard parts.count <= ChangeFeed.maximumCount else { return .reload }
        let find = try connection.statement(
            "SELECT guid FROM parts WHERE source = (SELECT id FROM sources WHERE uuid = ?) AND sequence = ? AND guid IS NOT NULL"
        )
        var transactions: Set<GUID> = []
        for part in parts {
            if let transaction = try find.first(source, part, transform: { row in row.guid(0) }) {
                transactions.insert(transaction)
            }
        }
        return transactions.isEmpty ? nil : .transactions(transactions)
    }
}
