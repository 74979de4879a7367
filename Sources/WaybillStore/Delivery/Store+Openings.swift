package import WaybillCore

/// For transports whose format names the transaction with each event.
extension Store {
    /// The openings of the parts that a set goes on with: those that are not in the set itself.
    ///
    /// - Returns: By the opening's own ID; without those that are no longer in the store.
    package func openings(before set: TransactionSet) throws(WaybillError) -> [Fact.ID: Fact.Opened] {
        var openings: [Fact.ID: Fact.Opened] = [:]
        for share in set.sources {
            for part in share.earlierParts {
                let fact = try connection.statement(
                    """
                    SELECT \(FactRowReader.openedColumns) FROM parts p JOIN sources s ON s.id = p.source \
                    WHERE s.uuid = ? AND p.sequence = ? AND p.guid IS NOT NULL
                    """
                ).first(share.source.id, part) { row in FactRowReader.opened(row) }
                if case .opened(let opened) = fact?.content {
                    openings[Fact.ID(source: share.source.id, sequence: part)] = opened
                }
            }
        }
        return openings
    }
}
