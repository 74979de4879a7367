package import WaybillCore
package import WaybillStore

/// Numbers for a badge.
extension StoreReader {
    /// Counts over the whole store, by its indexes; transactions count when their beginner is known.
    ///
    /// - Parameter wall: Now, in microseconds since 1970: decides what has timed out.
    package func counts(now wall: Int64) throws(WaybillError) -> TransactionCounts {
        try read { () throws(WaybillError) in
            TransactionCounts(
                open: try connection.integer(
                    """
                    SELECT count(*) FROM parts p WHERE p.joined = 0 AND p.outcome = \(TransactionOutcome.open.rawValue) AND p.listed_us IS NOT NULL \
                    AND \(SQL.lastActivity(guid: "p.guid")) + p.timeout_us >= ?
                    """, wall),
                failed: try connection.integer(
                    "SELECT count(*) FROM parts WHERE joined = 0 AND outcome = \(TransactionOutcome.failed.rawValue) AND listed_us IS NOT NULL"
                ),
                pending: try connection.integer(SQL.pendingCount))
        }
    }
}
