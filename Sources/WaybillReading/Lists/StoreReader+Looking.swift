package import WaybillCore
package import WaybillStore

/// What a person who looks at lists and goes from one transaction to the next needs besides.
extension StoreReader {
    /// A number that is another one after every commit of another connection; means nothing to other readers.
    package func version() throws(WaybillError) -> Int64 { try connection.dataVersion() }

    /// How many events and exchanges of each transaction tell an error; those that have none are left out.
    package func errorCounts(of transactions: [GUID]) throws(WaybillError) -> [GUID: Int] {
        try read { () throws(WaybillError) in
            var counts: [GUID: Int] = [:]
            for transaction in transactions {
                let count: Int = try connection.integer(Self.errorCount, transaction)
                if count > 0 { counts[transaction] = count }
            }
            return counts
        }
    }

    private static let errorCount = """
        SELECT (SELECT count(*) FROM parts p CROSS JOIN events e ON e.source = p.source AND e.part = p.sequence \
        WHERE p.guid = ?1 AND e.detail IS NOT NULL AND json_valid(e.detail) AND json_extract(e.detail, '$.error_code') IS NOT NULL) \
        + (SELECT count(*) FROM parts p CROSS JOIN network_logs l ON l.source = p.source AND l.part = p.sequence \
        WHERE p.guid = ?1 AND (l.state = \(Fact.ExchangeState.failed.rawValue) OR l.status >= 400))
        """

    /// The transactions that the same source began just before and just after this one; nil where there is none. Of one
    /// whose beginner is not known, they are such, too.
    ///
    /// - Parameter wall: Now, in microseconds since 1970: decides what has timed out.
    package func neighbors(
        of transaction: GUID, now wall: Int64
    ) throws(WaybillError) -> (before: TransactionSummary?, after: TransactionSummary?) {
        try read { () throws(WaybillError) in
            let place = try connection.statement(
                "SELECT source, sequence, joined FROM parts WHERE guid = ? AND listed_us IS NOT NULL"
            )
            .first(transaction) { row in (source: row.int(0), sequence: row.int(1), joined: row.int(2)) }
            guard let place else { return (nil, nil) }
            func neighbor(_ condition: String) throws(WaybillError) -> TransactionSummary? {
                let leader = try connection.statement(
                    "SELECT sequence FROM parts WHERE source = ? AND listed_us IS NOT NULL AND joined = ? AND guid <> ? AND \(condition) LIMIT 1"
                ).first(place.source, place.joined, transaction, place.sequence) { row in row.int(0) }
                guard let leader else { return nil }
                return try summary(leader: leader, of: place.source, now: wall)
            }
            return (try neighbor("sequence < ? ORDER BY sequence DESC"), try neighbor("sequence > ? ORDER BY sequence"))
        }
    }
}
