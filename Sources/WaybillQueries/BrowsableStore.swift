package import Foundation
package import WaybillCore
package import WaybillStore

/// A store whose database this process reads.
package protocol BrowsableStore: RecordStore {
    var clock: any TransactionClock { get }

    func read<Value: Sendable>(
        _ scope: ReadScope, _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) async throws -> Value

    /// Returns a number that differs after each change.
    func version() async throws -> Int64

    /// Returns the number of a list's rows over time; `nil` for an empty list. It counts from the newest step back, until
    /// the budget ends.
    ///
    /// - Parameter borders: Returns the borders of the steps for the first and the last time; none to count nothing.
    ///   For exchanges, these times depend on no other conditions.
    func volume(
        _ request: ListRequest, of subject: ListRequest.Subject, within budget: Duration,
        borders: @escaping @Sendable (ClosedRange<Int64>) -> [Int64]
    ) async throws -> ListVolume?

    /// Groups the transactions of a list by session and day, and names the sources that began `rows`.
    func sessions(
        _ request: ListRequest, rows: [GUID], in zone: TimeZone, within budget: Duration
    ) async throws -> SessionList
}

/// The part of a store that a read needs. A database loads no more than that.
package enum ReadScope: Sendable {
    case all
    case names
    /// The sources with their clocks and ledgers, without their facts.
    case sources
    case details([GUID], SourceDetails.Limits)
    case transactions([GUID])
    case listed(TransactionFilter, limit: Int)
    /// A transaction, and those before and after it in its source.
    case neighbors(GUID)
    /// An exchange `<source>:<sequence>`, with its transaction.
    case exchange(String)
}

extension BrowsableStore {
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) async throws -> Value {
        try await read(.all, body)
    }
}

extension BrowsableStore {
    package func read<Filter: ListFilter, Value: Sendable>(
        _ request: ListRequest, _ body: @escaping @Sendable (StoreReader, Filter, Int64) throws -> Value
    ) async throws -> Value {
        let now = clock.wallMicroseconds()
        return try await read { reader in try body(reader, reader.filter(request, now: now), now) }
    }

    package func transactions(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<
        TransactionSummary
    > {
        try await read(request) { (reader, filter: TransactionFilter, now) in
            if request[.after] != nil { return try reader.changes(request, filter, now: now) }
            let (limit, cursor, budget) = (try request.pageSize(), request[.cursor], budget.map(SearchBudget.lasting))
            return try QueryFailure.ofCursor {
                var page = try reader.transactions(
                    matching: filter, limit: limit, after: cursor, now: now, budget: budget)
                if page.rows.isEmpty, page.progress == nil, cursor == nil {
                    page.whyEmpty = try reader.whyEmpty(filter, now: now, budget: budget)
                }
                return page
            }
        }
    }

    package func transaction(_ key: String) async throws -> TransactionRecord {
        let now = clock.wallMicroseconds()
        return try await read { reader in try reader.transaction(called: key, now: now) }
    }

    package func exchanges(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<ExchangeRecord>
    {
        try await read(request) { (reader, filter: ExchangeFilter, now) in
            let (limit, cursor, budget) = (try request.pageSize(), request[.cursor], budget.map(SearchBudget.lasting))
            return try QueryFailure.ofCursor {
                var page = try reader.exchanges(
                    matching: filter, limit: limit, after: cursor, now: now, budget: budget)
                if page.rows.isEmpty, page.progress == nil, cursor == nil {
                    page.whyEmpty = try reader.whyEmpty(filter)
                }
                return page
            }
        }
    }

    package func exchange(_ key: String) async throws -> ExchangeRecord {
        try await read(.exchange(key)) { reader in try reader.exchange(key: key) }
    }

    package func bodies(of exchanges: [FactID], limit: Int) async throws -> (
        bodies: [FactID: ExchangeBodies], isCut: Bool
    ) {
        try await read(.names) { reader in try reader.bodies(of: exchanges, limit: limit) }
    }

    package func sources(_ request: ListRequest) async throws -> RecordPage<SourceRecord> {
        let (filter, limit, cursor) = (try request.sourceFilter(), try request.pageSize(), request[.cursor])
        return try await read { reader in
            try QueryFailure.ofCursor {
                var page = try reader.sources(matching: filter, limit: limit, after: cursor)
                if page.rows.isEmpty, cursor == nil { page.whyEmpty = try reader.whyEmpty(filter) }
                return page
            }
        }
    }

    package func nameConflicts(_ request: ListRequest) async throws -> RecordPage<NameConflict> {
        let (limit, cursor) = (try request.pageSize(), request[.cursor])
        return try await read(.names) { reader in
            try QueryFailure.ofCursor { try reader.nameConflicts(limit: limit, after: cursor) }
        }
    }

    package func verify() async throws -> StoreVerification { try await read { reader in try reader.verify() } }
}

extension BrowsableStore {
    package func details(of sources: [GUID], upTo limits: SourceDetails.Limits) async throws -> [GUID: SourceDetails] {
        let now = clock.wallMicroseconds()
        return try await read(.details(sources, limits)) { reader in
            var details: [GUID: SourceDetails] = [:]
            for id in sources { details[id] = try reader.details(of: id, upTo: limits, now: now) }
            return details
        }
    }

    package func source(_ key: String) async throws -> SourceRecord {
        try await read(.sources) { reader in
            let ids = try GUID(key).map { [$0] } ?? reader.sources(withCode: key)
            guard ids.count < 2 else {
                let some = ids.prefix(5).map(\.description).joined(separator: ", ")
                throw QueryFailure.notFound("Several sources begin with “\(key)”: \(some).")
            }
            guard let id = ids.first, let record = try reader.source(id) else {
                throw QueryFailure.notFound("There is no source “\(key)” here.")
            }
            return record
        }
    }

    package func apps(limit: Int) async throws -> [String] {
        try await read(.sources) { reader in try reader.apps(limit: limit) }
    }

    /// With very many names, returns only those of use cases with transactions.
    package func names() async throws -> [RecordedName] { try await read(.names) { reader in try reader.names() } }

    package func names(including words: [String]) async throws -> [RecordedName] {
        try await read(.names) { reader in try reader.names(including: words) }
    }

    package func nameConflictCount() async throws -> Int {
        try await read(.names) { reader in try reader.nameConflictCount() }
    }

    package func firstStarts() async throws -> [AppVersion: Int64] {
        try await read(.sources) { reader in try reader.firstStarts() }
    }

    package func errorCounts(of transactions: [GUID]) async throws -> [GUID: Int] {
        try await read(.transactions(transactions)) { reader in try reader.errorCounts(of: transactions) }
    }

    package func neighbors(of transaction: GUID) async throws -> (
        before: TransactionSummary?, after: TransactionSummary?
    ) {
        let now = clock.wallMicroseconds()
        return try await read(.neighbors(transaction)) { reader in try reader.neighbors(of: transaction, now: now) }
    }

    package func delivery(hours: Int) async throws -> DeliveryState {
        let now = clock.wallMicroseconds()
        return try await read(.sources) { reader in try reader.delivery(now: now, hours: hours) }
    }

    package func quarantined(limit: Int) async throws -> [QuarantinedFact] {
        try await read(.names) { reader in try reader.quarantined(limit: limit) }
    }

    package func seenValues(useCase: Int?, limit: Int) async throws -> SeenValues {
        let now = clock.wallMicroseconds()
        let filter = TransactionFilter(useCase.map { [.useCase($0)] } ?? [])
        return try await read(.listed(filter, limit: limit)) { reader in
            try reader.seenValues(filter, limit: limit, now: now)
        }
    }
}

extension StoreReader {
    package func filter<Filter: ListFilter>(_ request: ListRequest, now: Int64) throws -> Filter {
        let called = try request.names(about: Filter.subject)
        return try request.filter(names: called.isEmpty ? [] : names(including: called), now: now)
    }
}

extension StoreReader {
    package func changes(_ request: ListRequest, _ filter: TransactionFilter, now: Int64) throws -> RecordPage<
        TransactionSummary
    > {
        let (position, limit, cursor) = (try request.position(), try request.pageSize(), request[.cursor])
        do throws(WaybillError) {
            return try changes(after: position, matching: filter, limit: limit, after: cursor, now: now)
        } catch {
            guard error.code == .format else { throw error }
            throw QueryFailure.parameter(cursor == nil ? "after" : "cursor", error.message)
        }
    }

    package func transaction(called key: String, now wall: Int64) throws -> TransactionRecord {
        let id = try id(of: key)
        guard let record = try transaction(id, now: wall) else {
            throw QueryFailure.notFound("There is no transaction \(id) here.")
        }
        return record
    }

    private func id(of key: String) throws -> GUID {
        if let id = GUID(key) { return id }
        guard let code = SupportCode(key) else {
            throw QueryFailure.notFound("“\(key)” is neither an ID of 36 characters nor a support code of 8.")
        }
        let transactions = try transactionIDs(with: code, limit: QueryFailure.namedTransactions + 1)
        switch transactions.count {
        case 0: throw QueryFailure.notFound("There is no transaction with the support code \(code) here.")
        case 1: return transactions[0]
        default: throw QueryFailure.ambiguous(code, transactions)
        }
    }

    /// Returns the exchange `<source>:<sequence>`. The source is an ID, a support code, or a prefix of that.
    fileprivate func exchange(key: String) throws -> ExchangeRecord {
        guard let colon = key.lastIndex(of: ":"), let sequence = FactID.sequence(key[key.index(after: colon)...])
        else {
            throw QueryFailure.notFound(
                "“\(key)” is no exchange: one is called like K7QD-3M2X:17, or by its source's whole ID.")
        }
        let source = key[..<colon]
        let sources = try GUID(source).map { [$0] } ?? sources(withCode: source)
        var found: [ExchangeRecord] = []
        for source in sources {
            if let record = try exchange(FactID(source: source, sequence: sequence)) { found.append(record) }
        }
        switch found.count {
        case 0: throw QueryFailure.notFound("There is no exchange \(key) here.")
        case 1: return found[0]
        default: throw QueryFailure.ambiguousExchange(key, found.map(\.id))
        }
    }
}

/// Times are in microseconds since 1970.
package struct SourceDetails: Sendable {
    package var clocks: SourceClocks?
    package var gaps: [GapTime] = []
    package var transactions: [TransactionSummary] = []
    /// `nil` without a fact. For received sources, only with transactions.
    package var latestFact: Int64?
    /// `nil` for the store's own sources, and without transactions.
    package var firstArrival: Int64?

    package init() {}

    package struct GapTime: Hashable, Sendable {
        package var gap: SourceRecord.Gap
        package var after: Int64?
        package var before: Int64?
    }

    package struct Limits: Sendable, Hashable {
        package var clocks: Int
        package var gaps: Int
        package var transactions: Int

        package init(clocks: Int, gaps: Int = 0, transactions: Int = 0) {
            self.clocks = clocks
            self.gaps = gaps
            self.transactions = transactions
        }
    }
}

extension SourceDetails: Redactable {
    package mutating func redact(by redactor: Redactor) {
        clocks.redact(by: redactor)
        transactions.redact(by: redactor)
    }
}
