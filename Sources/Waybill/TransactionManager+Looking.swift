public import WaybillCore
public import WaybillReading
package import WaybillStore

// Looking at what was recorded; all of it includes what was recorded until the moment of asking, and holds up no
// recording.
extension TransactionManager {
    /// Transactions that pass a filter, in its order, a page at a time.
    ///
    /// - Parameters:
    ///   - filter: Which transactions, and in which order; all by default, the newest first.
    ///   - limit: Transactions a page holds at most, at least 1. Default: 50.
    ///   - cursor: `next` of the page before; nil for the first. What is recorded meanwhile does not shift the pages.
    /// - Returns: An empty page where nothing was recorded yet.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be read, or for a cursor that no page gave.
    public func list(
        matching filter: TransactionFilter = TransactionFilter(), limit: Int = 50, after cursor: String? = nil
    ) async throws -> RecordPage<TransactionSummary> {
        try await read { reader, now in try reader.transactions(matching: filter, limit: limit, after: cursor, now: now)
        }
            ?? RecordPage(rows: [], next: nil)
    }

    /// Transactions that pass a filter as people write it, a page at a time: `outcome:failed took>2s`; see
    /// ``WaybillReading/FilterExpression``.
    ///
    /// - Parameters:
    ///   - text: The filter; empty: all transactions, the newest first.
    ///   - limit: Transactions a page holds at most, at least 1. Default: 50.
    ///   - cursor: `next` of the page before; nil for the first.
    /// - Returns: A page that says why it is empty where it is.
    /// - Throws: ``WaybillReading/FilterMistake`` for a text that cannot be read, or a name that nothing here has;
    ///   ``WaybillCore/WaybillError`` as ``list(matching:limit:after:)``.
    public func find(_ text: String, limit: Int = 50, after cursor: String? = nil) async throws -> RecordPage<
        TransactionSummary
    > {
        let filter = try await filter(text)
        return try await read { reader, now in
            var page = try reader.transactions(matching: filter, limit: limit, after: cursor, now: now)
            if page.rows.isEmpty, cursor == nil { page.whyEmpty = try reader.whyEmpty(filter, now: now) }
            return page
        } ?? RecordPage(rows: [], next: nil)
    }

    /// The filter that a text means now, for reports, exports and answers: names are looked up among those recorded,
    /// and times like `since:24h` count back from now.
    ///
    /// - Throws: ``WaybillReading/FilterMistake`` for a text that cannot be read, or a name that nothing here has;
    ///   ``WaybillCore/WaybillError`` when the store cannot be read.
    public func filter(_ text: String) async throws -> TransactionFilter {
        let expression = try FilterExpression(text)
        return try await read { reader, now in
            try expression.filter(
                names: expression.names.isEmpty ? nil : reader.names(including: expression.names), now: now)
        }
            ?? TransactionFilter()
    }

    /// One transaction, with all the events and exchanges that this store knows of it, merged.
    ///
    /// - Returns: nil where nothing is known of it.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be read.
    public func transaction(_ id: GUID) async throws -> TransactionRecord? {
        try await read { reader, now in try reader.transaction(id, now: now) } ?? nil
    }

    /// Network exchanges that pass a filter, the newest first, a page at a time; also those outside any transaction.
    ///
    /// - Parameters:
    ///   - filter: Which exchanges; all by default.
    ///   - limit: Exchanges a page holds at most, at least 1. Default: 50.
    ///   - cursor: `next` of the page before; nil for the first. What is recorded meanwhile does not shift the pages.
    /// - Returns: An empty page where nothing was recorded yet.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be read, or for a cursor that no page gave.
    public func exchanges(
        matching filter: ExchangeFilter = ExchangeFilter(), limit: Int = 50, after cursor: String? = nil
    ) async throws -> RecordPage<ExchangeRecord> {
        try await read { reader, now in try reader.exchanges(matching: filter, limit: limit, after: cursor, now: now) }
            ?? RecordPage(rows: [], next: nil)
    }

    /// The filter of exchanges that a text means now, for lists, exports and answers:
    /// `host:api.example.com status:5xx took>1s`; see ``WaybillReading/FilterExpression``.
    ///
    /// - Throws: ``WaybillReading/FilterMistake`` for a text that cannot be read, or a name that nothing here has;
    ///   ``WaybillCore/WaybillError`` when the store cannot be read.
    public func exchangeFilter(_ text: String) async throws -> ExchangeFilter {
        let expression = try FilterExpression(text, about: .exchanges)
        return try await read { reader, now in
            try expression.filter(
                names: expression.names.isEmpty ? nil : reader.names(including: expression.names), now: now)
        }
            ?? ExchangeFilter()
    }

    /// One network exchange.
    ///
    /// - Returns: nil where nothing is known of it.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be read.
    public func exchange(_ id: Fact.ID) async throws -> ExchangeRecord? {
        try await read { reader, _ in try reader.exchange(id) } ?? nil
    }

    /// How many transactions are open and how many have failed, and how many facts wait for delivery: for a badge.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be read.
    public var summary: TransactionCounts {
        get async throws { try await read { reader, now in try reader.counts(now: now) } ?? TransactionCounts() }
    }

    /// What became of everything that was recorded into the store, by all its sources: so many facts are pending, were
    /// delivered, and were given up, and why.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be read.
    public func ledger() async throws -> Ledger {
        try await read { reader, _ in try reader.ownLedger() } ?? Ledger()
    }

    /// Which transactions have just changed, also by other processes that record into the same store, an app's
    /// extension say: of those it is told within about a second.
    ///
    /// ```swift
    /// let changes = transactions.changes
    /// show(try await transactions.list())
    /// for await _ in changes { show(try await transactions.list()) }
    /// ```
    public var changes: TransactionChanges {
        let changes = TransactionChanges(of: sources.changes)
        sources.current?.writer.watchOthers()
        return changes
    }

    /// The store with everything recorded until now, for what reads more than ``read(_:)``: opened for the one who
    /// asks.
    ///
    /// - Returns: nil where nothing was recorded and recording is off: then there is no store, and none is made.
    package func store() async throws -> SQLiteStore? {
        guard let source = await sources.drainedSource() else { return nil }
        let settings = source.settings
        return try await source.writer.run { opened, _ in
            var store = try SQLiteStore(opened.place, clock: settings.clock)
            store.redactor = settings.redactor
            return store
        }
    }

    /// Runs on the reading thread, on a store that holds everything recorded until now.
    ///
    /// - Parameter body: Given the reader, and now in microseconds since 1970.
    /// - Returns: nil where nothing was recorded and recording is off: then there is no store, and none is made.
    package func read<Result: Sendable>(_ body: @escaping @Sendable (StoreReader, Int64) throws -> Result) async throws
        -> Result?
    {
        try await sources.read(body)
    }
}
