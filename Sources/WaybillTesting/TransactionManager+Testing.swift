public import Waybill
public import WaybillCore
public import WaybillQueries
import WaybillStore

extension TransactionManager {
    /// Creates a manager for tests, with an in-memory store, a manual clock and no background thread.
    ///
    /// ```swift
    /// let tx = TransactionManager.testing()
    /// let model = LoginModel(transactions: tx)
    /// await model.logIn()
    /// #expect(try tx.last(Login.self)?.events.map(\.event) == [.requestSent, .responseReceived])
    /// #expect(try tx.last(Login.self)?.outcome == .succeeded)
    /// ```
    ///
    /// - Parameters:
    ///   - clock: The clock for timestamps and rules.
    ///   - delivery: The destination of `flush()`, e.g. an ``WaybillTesting/InMemoryTransport``.
    ///   - correlatedHosts: The hosts whose requests carry the header field.
    ///   - configure: A closure that changes options. By default there are no diagnostics.
    public static func testing(
        clock: ManualClock = ManualClock(), delivery: Delivery? = nil, correlatedHosts: [String] = [],
        configure: (inout Options) -> Void = { _ in }
    ) -> TransactionManager {
        var options = Options()
        options.diagnostics = { _ in }
        configure(&options)
        options.clock = clock
        var settings = RecordingSettings(store: .inMemory, correlatedHosts: correlatedHosts, options: options)
        settings.writesByItself = false
        return TransactionManager(settings: settings, delivery: delivery, diagnostics: options.diagnostics)
    }

    /// Returns the latest transaction of a use case; `nil` if there is none.
    ///
    /// - Throws: `WaybillError` if the store can't be read.
    public func last<U: UseCase>(_ useCase: U.Type) throws(WaybillError) -> RecordedTransaction<U>? {
        try transactions(useCase).last
    }

    /// Returns the transactions of a use case, oldest first, including those that were only joined, as on a server.
    ///
    /// - Throws: `WaybillError` if the store can't be read.
    public func transactions<U: UseCase>(_ useCase: U.Type) throws(WaybillError) -> [RecordedTransaction<U>] {
        var filter = TransactionFilter(useCase: U.self)
        filter.beginner = .any
        return try allRecords(matching: filter).map { RecordedTransaction(record: $0) }
    }

    /// The recorded exchanges within transactions, oldest transaction first. Throws `WaybillError` if the store can't
    /// be read.
    public var exchanges: [TransactionRecord.Exchange] {
        get throws(WaybillError) { try allRecords().flatMap(\.exchanges) }
    }

    /// Returns all transactions, oldest first.
    ///
    /// - Parameter filter: The filter; `nil` for all transactions, including those that were only joined.
    /// - Throws: `WaybillError` if the store can't be read.
    public func allRecords(matching filter: TransactionFilter? = nil) throws(WaybillError) -> [TransactionRecord] {
        var all = TransactionFilter()
        all.beginner = .any
        let filter = filter ?? all
        guard let source = sources.readableSource else { return [] }
        for source in sources.liveForerunners { try source.writer.runAndWait { _, _ in } }
        let now = source.settings.options.clock.wallMicroseconds()
        return try source.writer.runAndWait { opened, _ in
            let reader = try opened.reader()
            let page = try reader.transactions(matching: filter, limit: .max, after: nil, now: now)
            return try page.rows.reversed().compactMap { try reader.transaction($0.id, now: now) }
        }
    }
}

/// A transaction of a use case, with its events. It has all members of its `TransactionRecord`, such as `exchanges`.
@dynamicMemberLookup
public struct RecordedTransaction<U: UseCase>: Sendable {
    /// The record.
    public let record: TransactionRecord

    /// The outcome, or `.open`.
    public var outcome: TransactionOutcome { record.summary.outcome }

    /// The events of the use case, in order. Other events, such as named ones, are in the record's `timeline`.
    public var events: [Event] {
        record.timeline.compactMap { entry in
            guard entry.kind == .event, let event = entry.code.flatMap({ U.event(code: $0) }) else { return nil }
            return Event(event: event, attributes: entry.attributes, error: entry.error)
        }
    }

    /// Returns a member of the record.
    public subscript<Value>(dynamicMember member: KeyPath<TransactionRecord, Value>) -> Value {
        record[keyPath: member]
    }

    /// A recorded event of the use case.
    public struct Event: Sendable, Hashable {
        /// The event.
        public let event: U
        /// The attributes, redacted.
        public let attributes: Attributes
        /// The error; `nil` if there is none.
        public let error: RecordedError?
    }
}
