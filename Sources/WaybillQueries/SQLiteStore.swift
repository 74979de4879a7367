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

    /// Stores the journals that programs left in a folder when they ended.
    package static func recoverJournals(in url: URL, clock: any TransactionClock) throws(WaybillError) {
        try Store.recoverJournals(at: ResolvedLocation(path: url.path(percentEncoded: false)), clock: clock)
    }

    /// Opens a store for writing and reading, creates it if necessary, and blocks until it is open.
    package init(
        making name: String = "waybill", in folder: URL, factsPerTransaction: Int? = nil,
        clock: any TransactionClock = SystemClock(), hooks: IngestHooks = IngestHooks(),
        committed: @escaping @Sendable ([Result<Receipt, WaybillError>]) -> Void = { _ in }
    ) throws(WaybillError) {
        // Opening it as a folder creates the folder.
        let place =
            name == "waybill" ? ResolvedLocation.folder(folder) : .file(folder.appending(path: "\(name).sqlite"))
        let writer = SetWriter(
            place, factsPerTransaction: factsPerTransaction, hooks: hooks, committed: committed)
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

    package func read<Value: Sendable>(
        _ scope: ReadScope, _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) async throws -> Value {
        try await lists.run(for: asker, within: readLimit, by: clock, body)
    }

    package func ask<Value: Sendable>(_ body: @escaping @Sendable (StoreReader, _ now: Int64) throws -> Value)
        async throws -> Value
    {
        let now = clock.wallMicroseconds()
        return try await questions.run(for: asker, within: readLimit, by: clock) { reader in try body(reader, now) }
    }
}

extension SQLiteStore: BrowsableStore {
    /// Reads on the one thread whose ``StoreReader/version()`` is comparable with earlier ones.
    package func version() async throws -> Int64 {
        try await watcher.run(for: asker, within: readLimit, by: clock) { reader in try reader.version() }
    }

    package func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws
        -> AnyAnswer
    {
        try await ask { reader, now in
            let meant = try question.meant(by: parameters, reader, now: now)
            return try QueryFailure.ofQuestion { try meant.answer(by: reader, now: now) }
        }
    }

    package func add(_ set: ReceivedSet) async throws -> Receipt { try await writer.add(set) }

    package func erase(_ scope: ErasureScope) async throws -> Erasure {
        let wall = clock.wallMicroseconds()
        return try await writer.run { store throws(WaybillError) in try store.erase(scope, at: wall) }
    }

    package func retire(_ limits: RetirementLimits) async throws -> Int {
        let now = clock.wallMicroseconds()
        return try await writer.run { store throws(WaybillError) in try store.retire(limits, now: now) }
    }

    package func warnings() async -> [String] { (try? await read { reader in reader.warnings }) ?? [] }

    package func check() async throws {
        try await writer.run { store throws(WaybillError) in
            _ = try store.setting("installation")
            try store.checkRoom()
        }
        _ = try await transactions(ListRequest([.limit: "1"]))
    }
}

extension Store {
    package func retire(_ limits: RetirementLimits, now: Int64) throws(WaybillError) -> Int {
        var count = 0
        if let age = limits.maximumAge { count += try retire(receivedBefore: now - age.microseconds) }
        if let byteCount = limits.maximumByteCount { count += try retire(beyond: byteCount) }
        if let transactions = limits.maximumTransactionCount { count += try retire(beyondTransactions: transactions) }
        return count
    }
}
