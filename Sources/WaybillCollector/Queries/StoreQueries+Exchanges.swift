#if Collector
import WaybillCore
package import WaybillReading
package import WaybillStore

/// Questions about exchanges.
extension StoreQueries {
    /// A page of exchanges, newest first.
    ///
    /// - Throws: `QueryFailure` for a parameter that cannot be read, `WaybillError` where the store cannot.
    package func exchanges(_ query: ExchangeQuery) async throws -> RecordPage<ExchangeRecord> {
        try await read(query) { reader, filter, now in
            do {
                var page = try reader.exchanges(matching: filter, limit: query.base.pageSize(), after: query.base.cursor, now: now)
                if page.rows.isEmpty, query.base.cursor == nil { page.whyEmpty = try reader.whyEmpty(filter) }
                return page
            } catch let error as WaybillError where error.code == .format {
                throw QueryFailure.parameter("cursor", error.message)
            }
        }
    }

    /// One exchange, by its ID or its code.
    ///
    /// - Throws: `QueryFailure` where there is none, or more than one; `WaybillError` where the store cannot be read.
    package func exchange(_ key: String) async throws -> ExchangeRecord {
        try await read { reader in try reader.exchange(key: key) }
    }

    /// What `body` reads of the exchanges that a query means, on the store's thread.
    ///
    /// - Parameter body: Given the filter, and now in microseconds since 1970.
    package func read<Value: Sendable>(
        _ query: ExchangeQuery, _ body: @escaping @Sendable (StoreReader, ExchangeFilter, Int) throws -> Value
    ) async throws -> Value {
        try await read(TransactionQuery()) { reader, _, now in
            try body(reader, query.filter(names: query.hasNames ? reader.names() : [], now: now), now)
        }
    }
}

extension StoreReader {
    /// The exchange that a person means: `<source>:<sequence>`, the source by its ID, its support code, or the beginning of that.
    package func exchange(key: String) throws -> ExchangeRecord {
        guard let colon = key.lastIndex(of: ":"), let sequence = Fact.ID.sequence(key[key.index(after: colon)...]) else {
            throw QueryFailure.notFound("“\(key)” is no exchange: one is called like K7QD-3M2X:17, or by its source's whole ID.")
        }
        let source = key[..<colon]
        let sources = try GUID(source).map { [$0] } ?? sources(withCode: source)
        var found: [ExchangeRecord] = []
        for source in sources { if let record = try exchange(Fact.ID(source: source, sequence: sequence)) { found.append(record) } }
        switch found.count {
        case 0: throw QueryFailure.notFound("There is no exchange \(key) here.")
        case 1: return found[0]
        default: throw QueryFailure.ambiguousExchange(key, found.map(\.id))
        }
    }
}
#endif
