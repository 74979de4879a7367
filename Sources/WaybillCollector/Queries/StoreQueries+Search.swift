#if Collector
import WaybillCore
package import WaybillReading
import WaybillStore

/// Lists for a person who waits: pages that say how far they got.
extension StoreQueries {
    /// A page of transactions, in the order that the query asks for, as far as patience goes.
    ///
    /// - Returns: Also how far that is; nil where the page is full or the list at its end.
    /// - Throws: `QueryFailure` for a parameter that cannot be read, `WaybillError` where the store cannot.
    package func transactions(
        _ query: TransactionQuery, patience: Patience
    ) async throws -> (page: RecordPage<TransactionSummary>, progress: SearchProgress?) {
        guard query.after == nil else { return (try await transactions(query), nil) }
        return try await read(query) { reader, filter, now in
            try QueryFailure.ofCursor {
                var (page, progress) = try reader.transactions(
                    matching: filter, limit: query.pageSize(), after: query.cursor, now: now, patience: patience)
                if page.rows.isEmpty, progress == nil, query.cursor == nil {
                    page.whyEmpty = try reader.whyEmpty(filter, now: now, patience: patience)
                }
                return (page, progress)
            }
        }
    }

    /// A page of exchanges, the newest first, as far as patience goes.
    ///
    /// - Returns: Also how far that is; nil where the page is full or the list at its end.
    /// - Throws: `QueryFailure` for a parameter that cannot be read, `WaybillError` where the store cannot.
    package func exchanges(
        _ query: ExchangeQuery, patience: Patience
    ) async throws -> (page: RecordPage<ExchangeRecord>, progress: SearchProgress?) {
        try await read(query) { reader, filter, now in
            try QueryFailure.ofCursor {
                var (page, progress) = try reader.exchanges(
                    matching: filter, limit: query.base.pageSize(), after: query.base.cursor, now: now, patience: patience)
                if page.rows.isEmpty, progress == nil, query.base.cursor == nil { page.whyEmpty = try reader.whyEmpty(filter) }
                return (page, progress)
            }
        }
    }
}

extension QueryFailure {
    fileprivate static func ofCursor<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as WaybillError where error.code == .format {
            throw QueryFailure.parameter("cursor", error.message)
        }
    }
}
#endif
