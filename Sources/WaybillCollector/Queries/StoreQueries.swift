#if Collector
package import WaybillCore
package import WaybillReading
package import WaybillStore

/// The questions that a collector and the command line answer from a store, on a thread of their own.
package struct StoreQueries: Sendable {
    private let thread: StoreThread<StoreReader>
    let clock: any TransactionClock

    /// Opens the store to read it.
    ///
    /// - Throws: where it is missing, no store, or made by a newer version.
    package init(_ place: ResolvedLocation, clock: any TransactionClock) throws(WaybillError) {
        self.clock = clock
        thread = try StoreThread(label: "waybill.reader") { () throws(WaybillError) in try StoreReader(place) }
    }

    /// A page of transactions, in the order that the query asks for.
    ///
    /// - Throws: `QueryFailure` for a parameter that cannot be read, `WaybillError` where the store cannot.
    package func transactions(_ query: TransactionQuery) async throws -> RecordPage<TransactionSummary> {
        try await read(query) { reader, filter, now in
            if query.after != nil { return try reader.changes(query, filter, now: now) }
            do {
                var page = try reader.transactions(matching: filter, limit: query.pageSize(), after: query.cursor, now: now)
                if page.rows.isEmpty, query.cursor == nil { page.whyEmpty = try reader.whyEmpty(filter, now: now) }
                return page
            } catch let error as WaybillError where error.code == .format {
                throw QueryFailure.parameter("cursor", error.message)
            }
        }
    }

    /// What `body` reads, on the store's thread.
    package func read<Value: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Value) async throws -> Value {
        try await thread.run { reader in try body(reader) }
    }

    /// The facts of the transactions that a query means, of all pages; everything where it names no condition.
    package func exportScope(_ query: TransactionQuery) async throws -> ExportScope {
        try await read(query) { _, filter, now in
            var filter = filter
            filter.order = .newest
            return filter == TransactionFilter() ? .everything : .transactions(filter, now: now)
        }
    }

    /// What `body` reads of the transactions that a query means, on the store's thread.
    ///
    /// - Parameter body: Given the filter, and now in microseconds since 1970.
    package func read<Value: Sendable>(
        _ query: TransactionQuery, _ body: @escaping @Sendable (StoreReader, TransactionFilter, Int) throws -> Value
    ) async throws -> Value {
        let now = clock.wallMicroseconds()
        return try await thread.run { reader in
            try body(reader, query.filter(names: query.hasNames ? reader.names() : [], now: now), now)
        }
    }

    /// One transaction, by its ID or its support code, merged from all sources.
    ///
    /// - Throws: `QueryFailure` where there is none, or more than one; `WaybillError` where the store cannot be read.
    package func transaction(_ key: String) async throws -> TransactionRecord {
        let now = clock.wallMicroseconds()
        return try await thread.run { reader in
            let id = try reader.id(of: key)
            guard let record = try reader.transaction(id, now: now) else {
                throw QueryFailure.notFound("There is no transaction \(id) here.")
            }
            return record
        }
    }

    /// The transactions that are meant by IDs or support codes.
    ///
    /// - Throws: `QueryFailure` for what is neither, or a code that none or several have.
    package func ids(of keys: [String]) async throws -> [GUID] {
        try await thread.run { reader in try keys.map { try reader.id(of: $0) } }
    }

    /// The codes that have several names.
    package func nameConflicts() async throws(WaybillError) -> [NameConflict] {
        try await thread.run { reader throws(WaybillError) in try reader.nameConflicts() }
    }

    /// A page of sources, with their ledgers and gaps, in the order that the query asks for.
    ///
    /// - Throws: `QueryFailure` for a parameter that cannot be read, `WaybillError` where the store cannot.
    package func sources(_ query: SourceQuery) async throws -> RecordPage<SourceRecord> {
        try await read { reader in
            let filter = try query.filter()
            do {
                var page = try reader.sources(matching: filter, limit: query.base.pageSize(), after: query.base.cursor)
                if page.rows.isEmpty, query.base.cursor == nil { page.whyEmpty = try reader.whyEmpty(filter) }
                return page
            } catch let error as WaybillError where error.code == .format {
                throw QueryFailure.parameter("cursor", error.message)
            }
        }
    }

    /// Counts everything again and compares.
    package func verification() async throws(WaybillError) -> StoreVerification {
        try await thread.run { reader throws(WaybillError) in try reader.verify() }
    }

    /// What the reader has to say about the files, e.g. that a WAL is missing.
    package func warnings() async -> [String] { await thread.run { reader in reader.warnings } }
}

extension StoreReader {
    fileprivate func changes(_ query: TransactionQuery, _ filter: TransactionFilter, now: Int) throws -> RecordPage<TransactionSummary> {
        let (position, limit) = (try query.position(), try query.pageSize())
        do throws(WaybillError) {
            return try changes(after: position, matching: filter, limit: limit, after: query.cursor, now: now)
        } catch {
            guard error.code == .format else { throw error }
            throw QueryFailure.parameter(query.cursor == nil ? "after" : "cursor", error.message)
        }
    }

    /// The transaction that a person means by an ID or a support code.
    fileprivate func id(of key: String) throws -> GUID {
        if let id = GUID(key) { return id }
        guard let code = SupportCode(key) else {
            throw QueryFailure.notFound("“\(key)” is neither an ID of 36 characters nor a support code of 8.")
        }
        let transactions = try transactionIDs(with: code)
        switch transactions.count {
        case 0: throw QueryFailure.notFound("There is no transaction with the support code \(code) here.")
        case 1: return transactions[0]
        default: throw QueryFailure.ambiguous(code, transactions)
        }
    }
}
#endif
