public import Waybill
public import WaybillCore
public import WaybillQueries
import WaybillStore

extension TransactionManager {
    /// A manager for tests: in memory, with a clock that the test moves, and no thread to wait for.
    ///
    /// ```swift
    /// let tx = TransactionManager.testing()
    /// let model = LoginModel(transactions: tx)
    /// await model.logIn()
    /// #expect(tx.events(Login.self) == [.requestSent, .responseReceived])
    /// #expect(tx.outcome(Login.self) == .succeeded)
    /// ```
    ///
    /// - Parameters:
    ///   - clock: Move it to let time pass.
    ///   - delivery: Where `flush()` sends to, e.g. an ``WaybillTesting/InMemoryTransport``.
    ///   - correlatedHosts: The hosts whose requests carry the header field.
    ///   - options: What is seldom needed; nil: the defaults, and diagnostics are not told.
    public static func testing(
        clock: ManualClock = ManualClock(), delivery: Delivery? = nil, correlatedHosts: [String] = [],
        options: Options? = nil
    ) -> TransactionManager {
        var silent = Options()
        silent.diagnostics = { _ in }
        var options = options ?? silent
        options.clock = clock
        var settings = RecordingSettings(store: .inMemory, correlatedHosts: correlatedHosts, options: options)
        settings.writesByItself = false
        return TransactionManager(settings: settings, delivery: delivery, diagnostics: options.diagnostics)
    }

    /// The events of a use case that were recorded, in order, over all its transactions.
    public func events<U: UseCase>(_ useCase: U.Type) -> [U] {
        transactions(useCase).flatMap {
            $0.timeline.compactMap { $0.kind == .event ? $0.code.flatMap { U.event(code: $0) } : nil }
        }
    }

    /// The outcome of the latest transaction of a use case; nil when there is none.
    public func outcome<U: UseCase>(_ useCase: U.Type) -> TransactionOutcome? {
        transactions(useCase).last?.summary.outcome
    }

    /// Everything that was recorded of a use case, oldest transaction first; also what was only joined, as on a server.
    public func transactions<U: UseCase>(_ useCase: U.Type) -> [TransactionRecord] {
        var filter = TransactionFilter([.useCase(U.code)])
        filter.beginner = .any
        return (try? allRecords(matching: filter)) ?? []
    }

    /// The network exchanges that were recorded within transactions, oldest transaction first.
    public var exchanges: [TransactionRecord.Exchange] { ((try? allRecords()) ?? []).flatMap(\.exchanges) }

    /// Everything that was recorded, oldest transaction first.
    ///
    /// - Parameter filter: Which transactions; nil: all, also those that were only joined.
    /// - Throws: `WaybillError` when the store cannot be read.
    public func allRecords(matching filter: TransactionFilter? = nil) throws -> [TransactionRecord] {
        var all = TransactionFilter()
        all.beginner = .any
        let filter = filter ?? all
        guard let source = sources.readableSource else { return [] }
        for source in sources.liveForerunners { try source.writer.runAndWait { _, _ in } }
        let now = source.settings.clock.wallMicroseconds()
        return try source.writer.runAndWait { opened, _ in
            let reader = try opened.reader()
            let page = try reader.transactions(matching: filter, limit: .max, after: nil, now: now)
            return try page.rows.reversed().compactMap { try reader.transaction($0.id, now: now) }
        }
    }
}
