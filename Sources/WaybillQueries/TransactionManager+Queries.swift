public import Foundation
public import Waybill
public import WaybillCore
import WaybillStore

// Queries include everything recorded up to the call, and don't block recording.
extension TransactionManager {
    /// The transactions that match a filter, in its order: a page of them, or all as a sequence.
    ///
    /// ```swift
    /// for try await login in transactions.transactions(matching: TransactionFilter(useCase: Login.self)) { show(login) }
    /// ```
    ///
    /// - Parameter filter: The filter and the order. Default: all transactions, the newest first.
    public func transactions(matching filter: TransactionFilter = TransactionFilter()) -> MatchingTransactions {
        MatchingTransactions(manager: self, condition: .filter(filter))
    }

    /// The transactions that match a ``WaybillQueries/FilterExpression``, such as `outcome:failed took>2s`. An empty
    /// text matches all transactions.
    ///
    /// Reading them throws a ``WaybillQueries/FilterMistake`` for a malformed text or an unknown name.
    public func transactions(matching text: String) -> MatchingTransactions {
        MatchingTransactions(manager: self, condition: .text(text))
    }

    /// Reads a filter, with the names of the store and with times like `since:24h` relative to now.
    ///
    /// - Throws: ``WaybillQueries/FilterMistake``; ``WaybillCore/WaybillError`` if the store can't be read.
    public func filter(parsing text: String) async throws -> TransactionFilter { try await filter(text, .transactions) }

    private func filter<Filter: ListFilter>(_ text: String, _ subject: FilterExpression.Subject) async throws -> Filter
    {
        let expression = try FilterExpression(text, about: subject)
        let read = try await read { reader, now in
            (expression.names.isEmpty ? nil : try reader.names(including: expression.names), now)
        }
        guard let (names, now) = read else { return Filter([]) }
        return try expression.filter(names: names, now: now)
    }

    /// Returns a transaction with all events and exchanges in this store; `nil` if it is unknown.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` if the store can't be read.
    public func transaction(_ id: GUID) async throws(WaybillError) -> TransactionRecord? {
        try await read { reader, now in try reader.transaction(id, now: now) } ?? nil
    }

    /// Returns a page of the exchanges that match a filter, the newest first, including those outside transactions.
    ///
    /// - Parameters:
    ///   - filter: The filter. Default: all exchanges.
    ///   - limit: The most rows of the page, at least 1. Default: 50.
    ///   - cursor: `next` of the page before; `nil` for the first. New exchanges do not shift the pages.
    /// - Throws: ``WaybillCore/WaybillError`` if the store can't be read, or for an invalid cursor.
    public func exchanges(
        matching filter: ExchangeFilter = ExchangeFilter(), limit: Int = 50, after cursor: String? = nil
    ) async throws(WaybillError) -> RecordPage<ExchangeRecord> {
        try await read { reader, now in try reader.exchanges(matching: filter, limit: limit, after: cursor, now: now) }
            ?? RecordPage(rows: [], next: nil)
    }

    /// Reads a filter of exchanges, `host:api.example.com status:5xx`, with the names of the store.
    ///
    /// - Throws: As ``filter(parsing:)``.
    public func exchangeFilter(parsing text: String) async throws -> ExchangeFilter {
        try await filter(text, .exchanges)
    }

    /// Returns a network exchange; `nil` if it is unknown.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` if the store can't be read.
    public func exchange(_ id: FactID) async throws(WaybillError) -> ExchangeRecord? {
        try await read { reader, _ in try reader.exchange(id) } ?? nil
    }

    /// The numbers of open and failed transactions and of pending facts.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` if the store can't be read.
    public var counts: TransactionCounts {
        get async throws(WaybillError) {
            try await read { reader, now in try reader.counts(now: now) } ?? TransactionCounts()
        }
    }

    /// The changes of transactions. Changes by other processes, such as an app extension, arrive within about a second.
    ///
    /// ```swift
    /// let changes = transactions.changes
    /// show(try await transactions.transactions().page())
    /// for await _ in changes { show(try await transactions.transactions().page()) }
    /// ```
    public var changes: TransactionChanges {
        let changes = TransactionChanges(of: sources.changes)
        sources.current?.writer.watchOthers()
        return changes
    }

    /// Opens the store with everything recorded up to now; `nil` if recording is off and there is no store.
    package func store() async throws -> SQLiteStore? {
        guard let source = await sources.drainedSource() else { return nil }
        let settings = source.settings
        return try await source.writer.run { opened, _ in
            var store = try SQLiteStore(opened.place, clock: settings.options.clock)
            store.redactor = settings.redactor
            return store
        }
    }
}

extension TransactionManager {
    /// Answers a question about everything recorded up to now, without blocking recording.
    ///
    /// ## Usage
    ///
    /// ```swift
    /// let logins = TransactionFilter(useCase: Login.self)
    /// let question = DurationQuestion(
    ///     filter: logins, from: .event("requestSent"), to: .event("responseReceived"), segmentation: .attribute("variant"))
    /// print(try await transactions.answer(question).total.statistics)
    /// ```
    ///
    /// - Throws: ``WaybillCore/WaybillError``: `.notFound` for an unknown name, with the nearest one; `.setting` for an
    ///   incomplete question; `.store` without a readable store.
    public func answer<Asked: Question>(_ question: Asked) async throws(WaybillError) -> Asked.Answer {
        guard let answer = try await read({ reader, now in try reader.answer(question, now: now) }) else {
            throw WaybillError(.store, "Recording is off and nothing was recorded: there is nothing to ask about.")
        }
        return answer
    }
}

extension TransactionManager {
    /// Returns the quarantined facts with their reasons, by source and sequence, the oldest source first.
    ///
    /// - Parameter limit: The most facts. Default: 1,000.
    /// - Throws: ``WaybillCore/WaybillError`` if the store can't be read.
    public func quarantined(limit: Int = 1_000) async throws(WaybillError) -> [QuarantinedFact] {
        try await read { reader, _ in try reader.quarantined(limit: max(0, limit)) } ?? []
    }

    /// Makes quarantined facts pending again, for the next flush.
    ///
    /// - Parameter ids: The facts; `nil` for all. Facts that are not in quarantine are ignored.
    /// - Returns: The number of facts that are pending again.
    /// - Throws: ``WaybillCore/WaybillError`` if the store can't be written.
    @discardableResult
    public func resendQuarantined(_ ids: Set<FactID>? = nil) async throws(WaybillError) -> Int {
        guard let source = await sources.drainedSource() else { return 0 }
        defer { sources.changes.ring() }
        return try await source.writer.run { _, store in try store.releaseQuarantined(ids) }
    }

    /// Writes the quarantined facts into a folder, as sets for `waybill import`. They also stay in quarantine.
    ///
    /// All texts are redacted again. The files contain secrets of the sender: only this process's user can read them.
    ///
    /// - Parameter folder: The folder, which is created if necessary. Files have names as those of
    ///   ``Waybill/Delivery/files(in:)``.
    /// - Returns: The number of facts. With 0, there is no file.
    /// - Throws: ``WaybillCore/WaybillError`` if the store can't be read, or a file can't be written.
    @discardableResult
    public func exportQuarantined(to folder: URL) async throws(WaybillError) -> Int {
        guard let settings = sources.settings else { return 0 }
        let count = try await read { reader, _ in
            var count = 0
            try reader.export(.quarantine, redactor: settings.redactor, hasProofs: true) { set in
                try FileTransport.write(
                    OutgoingSet(id: set.id, body: set.encoded(), factCount: set.factCount), into: folder)
                count += set.factCount
            }
            return count
        }
        return count ?? 0
    }
}

/// The transactions of a manager that match a filter, in its order. It includes everything recorded before it is read.
///
/// As a sequence, it reads a page at a time. New transactions do not shift the pages.
public struct MatchingTransactions: AsyncSequence, Sendable {
    enum Condition: Sendable {
        case filter(TransactionFilter)
        case text(String)
    }

    let manager: TransactionManager
    let condition: Condition

    /// Returns a page.
    ///
    /// - Parameters:
    ///   - limit: The most rows of the page, at least 1. Default: 50.
    ///   - cursor: `next` of the page before; `nil` for the first.
    /// - Returns: The page. An empty first page of a text says why it is empty.
    /// - Throws: ``WaybillCore/WaybillError`` if the store can't be read, or for an invalid cursor;
    ///   ``WaybillQueries/FilterMistake`` for a text that is not a filter.
    public func page(limit: Int = 50, after cursor: String? = nil) async throws -> RecordPage<TransactionSummary> {
        try await page(of: filter(), limit: limit, after: cursor)
    }

    private func filter() async throws -> TransactionFilter {
        switch condition {
        case .filter(let filter): filter
        case .text(let text): try await manager.filter(parsing: text)
        }
    }

    private func page(
        of filter: TransactionFilter, limit: Int, after cursor: String?
    ) async throws(WaybillError) -> RecordPage<TransactionSummary> {
        try await manager.read { [condition] reader, now in
            var page = try reader.transactions(matching: filter, limit: limit, after: cursor, now: now)
            if case .text = condition, page.rows.isEmpty, cursor == nil {
                page.whyEmpty = try reader.whyEmpty(filter, now: now)
            }
            return page
        } ?? RecordPage(rows: [], next: nil)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(transactions: self) }

    /// An iterator over the transactions.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let transactions: MatchingTransactions
        private var filter: TransactionFilter?
        private var rows: ArraySlice<TransactionSummary> = []
        private var cursor: String?

        fileprivate init(transactions: MatchingTransactions) { self.transactions = transactions }

        /// Returns the next transaction; `nil` after the last. Throws as ``MatchingTransactions/page(limit:after:)``.
        public mutating func next() async throws -> TransactionSummary? {
            if rows.isEmpty, filter == nil || cursor != nil {
                let filter = if let filter { filter } else { try await transactions.filter() }
                let page = try await transactions.page(of: filter, limit: 50, after: cursor)
                (self.filter, rows, cursor) = (filter, page.rows[...], page.next)
            }
            return rows.popFirst()
        }
    }
}

/// The changes of transactions by this process and others. The sequence ends with the manager.
///
/// It watches from its creation on. Changes while its reader is busy are merged, into
/// ``WaybillCore/TransactionChange/reload`` if they are many. Ask the manager for one sequence per reader.
public struct TransactionChanges: AsyncSequence, Sendable {
    public typealias Failure = Never

    private let watcher: ChangeWatcher
    private let bell: AsyncStream<Void>

    init(of feed: ChangeFeed) { (watcher, bell) = feed.watch() }

    public func makeAsyncIterator() -> Iterator { Iterator(watcher: watcher, bell: bell) }

    /// An iterator over changes.
    public struct Iterator: AsyncIteratorProtocol {
        let watcher: ChangeWatcher
        let bell: AsyncStream<Void>

        /// Returns the changes since the last call; `nil` when the manager is gone or the task is cancelled.
        public mutating func next() async -> TransactionChange? { await next(isolation: nil) }

        /// Works as ``next()``, on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> TransactionChange? {
            while await bell.rings() {
                if let change = watcher.take() { return change }
            }
            return watcher.take()
        }
    }
}
