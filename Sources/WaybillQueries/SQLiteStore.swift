package import Foundation
package import WaybillCore
package import WaybillStore

/// Lists, questions and writes have separate threads and don't wait for each other.
package struct SQLiteStore: Sendable {
    package let clock: any TransactionClock
    package let place: ResolvedLocation
    package let writer: SetWriter
    package var redactor = Redactor()
    /// The longest time for one read or one piece of an export; `nil` for no limit.
    package var readLimit: Duration?
    package var asker: String?
    private let lists: ReaderPool
    private let questions: ReaderPool
    private let watcher: ReaderPool

    private static let listReaderCount = 4
    /// The number of concurrent questions, each of another asker because of its memory.
    private static let questionReaderCount = 2

    /// Opens a store for reading. The first write opens it again.
    package init(_ place: ResolvedLocation, clock: any TransactionClock) throws(WaybillError) {
        try self.init(place, clock: clock, SetWriter(place))
    }

    package init(_ url: URL, clock: any TransactionClock = SystemClock()) throws(WaybillError) {
        try self.init(ResolvedLocation(path: url.path(percentEncoded: false)), clock: clock)
    }

    /// Opens a store for writing and reading, creates it if necessary, and blocks until it is open.
    package init(
        making name: String = "waybill", in folder: URL, factsPerTransaction: Int? = nil,
        clock: any TransactionClock = SystemClock(),
        committed: @escaping @Sendable ([Result<Receipt, WaybillError>]) -> Void = { _ in }
    ) throws(WaybillError) {
        // Opening it as a folder creates the folder.
        let place =
            name == "waybill" ? ResolvedLocation.folder(folder) : .file(folder.appending(path: "\(name).sqlite"))
        let writer = SetWriter(place, factsPerTransaction: factsPerTransaction, committed: committed)
        try writer.open()
        try self.init(place, clock: clock, writer)
    }

    /// Opens the store in a folder or a file for writing. A missing path without a suffix becomes a folder.
    package init(making url: URL, clock: any TransactionClock) throws(WaybillError) {
        var place = ResolvedLocation(path: url.path(percentEncoded: false))
        if case .file = place, !place.isThere, url.pathExtension.isEmpty { place = .folder(url) }
        let writer = SetWriter(place)
        try writer.open()
        try self.init(place, clock: clock, writer)
    }

    private init(_ place: ResolvedLocation, clock: any TransactionClock, _ writer: SetWriter) throws(WaybillError) {
        self.place = place
        self.clock = clock
        self.writer = writer
        lists = ReaderPool(place, label: "waybill.reader", count: Self.listReaderCount)
        questions = ReaderPool(place, label: "waybill.questions", count: Self.questionReaderCount)
        watcher = ReaderPool(place, label: "waybill.watcher", count: 1)
        try lists.open()
    }

    package func read<Value: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Value) async throws -> Value
    {
        try await lists.run(for: asker, within: readLimit, by: clock, body)
    }

    /// Reads on the one thread whose ``StoreReader/version()`` is comparable with earlier ones.
    func watch<Value: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Value) async throws -> Value {
        try await watcher.run(for: asker, within: readLimit, by: clock, body)
    }

    package func ask<Value: Sendable>(_ body: @escaping @Sendable (StoreReader, _ now: Int64) throws -> Value)
        async throws -> Value
    {
        let now = clock.wallMicroseconds()
        return try await questions.run(for: asker, within: readLimit, by: clock) { reader in try body(reader, now) }
    }

    package func read<Filter: ListFilter, Value: Sendable>(
        _ request: ListRequest, _ body: @escaping @Sendable (StoreReader, Filter, Int64) throws -> Value
    ) async throws -> Value {
        let now = clock.wallMicroseconds()
        return try await read { reader in try body(reader, reader.filter(request, now: now), now) }
    }
}

extension StoreReader {
    package func filter<Filter: ListFilter>(_ request: ListRequest, now: Int64) throws -> Filter {
        let called = try request.names(about: Filter.subject)
        return try request.filter(names: called.isEmpty ? [] : names(including: called), now: now)
    }
}

extension SQLiteStore: RecordStore {
    package func add(_ set: ReceivedSet) async throws -> Receipt { try await writer.add(set) }

    package func transactions(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<
        TransactionSummary
    > {
        try await read(request) { (reader, filter: TransactionFilter, now) in
            if request[.after] != nil { return try reader.changes(request, filter, now: now) }
            let (limit, cursor, search) = (try request.pageSize(), request[.cursor], budget.map(SearchBudget.lasting))
            return try QueryFailure.ofCursor {
                var page: RecordPage<TransactionSummary>
                if let search {
                    let found = try reader.transactions(
                        matching: filter, limit: limit, after: cursor, now: now, budget: search)
                    page = found.page
                    page.progress = found.progress
                } else {
                    page = try reader.transactions(matching: filter, limit: limit, after: cursor, now: now)
                }
                if page.rows.isEmpty, page.progress == nil, cursor == nil {
                    page.whyEmpty = try reader.whyEmpty(filter, now: now, budget: search)
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
            let (limit, cursor) = (try request.pageSize(), request[.cursor])
            return try QueryFailure.ofCursor {
                var page: RecordPage<ExchangeRecord>
                if let budget {
                    let found = try reader.exchanges(
                        matching: filter, limit: limit, after: cursor, now: now, budget: .lasting(budget))
                    page = found.page
                    page.progress = found.progress
                } else {
                    page = try reader.exchanges(matching: filter, limit: limit, after: cursor, now: now)
                }
                if page.rows.isEmpty, page.progress == nil, cursor == nil {
                    page.whyEmpty = try reader.whyEmpty(filter)
                }
                return page
            }
        }
    }

    package func exchange(_ key: String) async throws -> ExchangeRecord {
        try await read { reader in try reader.exchange(key: key) }
    }

    package func bodies(of exchanges: [FactID], limit: Int) async throws -> (
        bodies: [FactID: ExchangeBodies], isCut: Bool
    ) {
        try await read { reader in try reader.bodies(of: exchanges, limit: limit) }
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
        return try await read { reader in
            try QueryFailure.ofCursor { try reader.nameConflicts(limit: limit, after: cursor) }
        }
    }

    package func erase(_ scope: ErasureScope) async throws -> Erasure {
        let wall = clock.wallMicroseconds()
        return try await writer.run { store throws(WaybillError) in try store.erase(scope, at: wall) }
    }

    package func retire(_ limits: RetirementLimits) async throws -> Int {
        let now = clock.wallMicroseconds()
        return try await writer.run { store throws(WaybillError) in
            var count = 0
            if let age = limits.maximumAge { count += try store.retire(receivedBefore: now - age.microseconds) }
            if let byteCount = limits.maximumByteCount { count += try store.retire(beyond: byteCount) }
            if let transactions = limits.maximumTransactionCount {
                count += try store.retire(beyondTransactions: transactions)
            }
            return count
        }
    }

    package func verify() async throws -> StoreVerification { try await read { reader in try reader.verify() } }

    package func warnings() async -> [String] { (try? await read { reader in reader.warnings }) ?? [] }

    package func checkWriting() async throws {
        try await writer.run { store throws(WaybillError) in
            _ = try store.setting("installation")
            try store.checkRoom()
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

extension StoreReader {
    fileprivate func changes(_ request: ListRequest, _ filter: TransactionFilter, now: Int64) throws -> RecordPage<
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
