public import Foundation
public import Waybill
public import WaybillCore
public import WaybillStore

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
    /// ``WaybillQueries/FilterExpression``.
    ///
    /// - Parameters:
    ///   - text: The filter; empty: all transactions, the newest first.
    ///   - limit: Transactions a page holds at most, at least 1. Default: 50.
    ///   - cursor: `next` of the page before; nil for the first.
    /// - Returns: A page that says why it is empty where it is.
    /// - Throws: ``WaybillQueries/FilterMistake`` for a text that cannot be read, or a name that nothing here has;
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
    /// - Throws: ``WaybillQueries/FilterMistake`` for a text that cannot be read, or a name that nothing here has;
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
    /// `host:api.example.com status:5xx took>1s`; see ``WaybillQueries/FilterExpression``.
    ///
    /// - Throws: ``WaybillQueries/FilterMistake`` for a text that cannot be read, or a name that nothing here has;
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
    public func exchange(_ id: FactID) async throws -> ExchangeRecord? {
        try await read { reader, _ in try reader.exchange(id) } ?? nil
    }

    /// How many transactions are open and how many have failed, and how many facts wait for delivery: for a badge.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be read.
    public var summary: TransactionCounts {
        get async throws { try await read { reader, now in try reader.counts(now: now) } ?? TransactionCounts() }
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
}

extension TransactionManager {
    /// Answers a question about everything that was recorded until now. Recording goes on meanwhile.
    ///
    /// ## Usage
    ///
    /// ```swift
    /// let logins = TransactionFilter([.useCase(Login.code)])
    /// let question = DurationQuestion(
    ///     filter: logins, from: .event("requestSent"), to: .event("responseReceived"), segmentation: .attribute("variant"))
    /// print(try await transactions.answer(question).total.statistics)
    /// ```
    ///
    /// - Throws: ``WaybillCore/WaybillError``: `.notFound` for a name that nothing here has, with the nearest one;
    ///   `.setting` for a question that lacks something; `.store` when recording is off and nothing was recorded, or
    ///   the store cannot be read.
    public func answer<Asked: Question>(_ question: Asked) async throws -> Asked.Answer {
        guard let answer = try await read({ reader, now in try reader.answer(question, now: now) }) else {
            throw WaybillError(.store, "Recording is off and nothing was recorded: there is nothing to ask about.")
        }
        return answer
    }
}

// What a collector rejected is kept, and can be looked at, sent again or handed on.
extension TransactionManager {
    /// The facts in quarantine, with the reasons.
    ///
    /// - Parameter limit: How many at most. Default: 1,000.
    /// - Returns: By source, oldest first, and in order of sequence; empty where nothing was rejected.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be read.
    public func quarantined(limit: Int = 1_000) async throws -> [QuarantinedFact] {
        try await read { reader, _ in try reader.quarantined(limit: max(0, limit)) } ?? []
    }

    /// Makes facts pending again that were rejected: the next flush sends them, to a collector that may judge otherwise
    /// by now.
    ///
    /// - Parameter ids: Which; nil: all. Those that are not in quarantine, or no longer in the store, are left alone.
    /// - Returns: How many are pending again.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be written.
    @discardableResult
    public func sendQuarantinedAgain(_ ids: Set<FactID>? = nil) async throws -> Int {
        guard let source = await sources.drainedSource() else { return 0 }
        defer { sources.changes.ring() }
        return try await source.writer.run { _, store in try store.releaseQuarantined(ids) }
    }

    /// Writes the facts in quarantine into a folder, as sets that `waybill import` takes; they stay in quarantine, too.
    ///
    /// Every text is redacted once more on its way out. As every set, they have the secrets by which the collector knows
    /// who speaks; only the user who runs the process may read them.
    ///
    /// - Parameter folder: Made where it is missing; a file is named as those of ``FileTransport``.
    /// - Returns: How many facts; where it is 0, there is no file.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be read, or a file cannot be written.
    @discardableResult
    public func exportQuarantined(to folder: URL) async throws -> Int {
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

/// What is being recorded, by this process and others, as it reaches the store; ends with the manager.
///
/// Watches from the moment it was asked for, so that nothing is missed between a first list and the first change. What
/// happens while its reader is busy comes as one change, and where that are many transactions, as
/// ``WaybillStore/TransactionChange/reload``: recording waits for no reader. Each reader asks the manager for its own.
public struct TransactionChanges: AsyncSequence, Sendable {
    public typealias Failure = Never

    private let watcher: ChangeWatcher
    private let bell: AsyncStream<Void>

    init(of feed: ChangeFeed) { (watcher, bell) = feed.watch() }

    public func makeAsyncIterator() -> Iterator { Iterator(watcher: watcher, bell: bell) }

    /// Waits for changes.
    public struct Iterator: AsyncIteratorProtocol {
        let watcher: ChangeWatcher
        let bell: AsyncStream<Void>

        /// What has changed since the last call; nil when the manager has gone or the task was canceled.
        public mutating func next() async -> TransactionChange? { await next(isolation: nil) }

        /// As ``next()``, on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> TransactionChange? {
            while await bell.rings() {
                if let change = watcher.take() { return change }
            }
            return watcher.take()
        }
    }
}
