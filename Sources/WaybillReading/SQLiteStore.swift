public import Foundation
public import WaybillCore
package import WaybillStore

/// A store in an SQLite database.
///
/// One thread writes, a few read what people wait for, and two answer questions about many transactions, which may take
/// seconds and much memory: so no list waits for a question, no set for a list, and no list for another one that is
/// slow, or for all that somebody else asks.
public struct SQLiteStore: Sendable {
    package let clock: any TransactionClock
    package let place: ResolvedLocation
    package let writer: SetWriter
    /// What exports of facts go through, and what old clients send.
    package var redactor = Redactor()
    /// How long one read may take, or a piece of an export; nil: as long as it does. It ends with the task that asked,
    /// too.
    package var readLimit: Duration?
    /// Who reads, where there are several: none of them has all that read. nil is one of its own.
    package var asker: String?
    private let lists: ReaderPool
    private let questions: ReaderPool
    private let watcher: ReaderPool

    /// As many lists are read at a time, one less for one asker.
    private static let listReaderCount = 4
    /// As many questions are answered at a time, one for each asker, since each may take much memory.
    private static let questionReaderCount = 2

    /// Opens a store to read it; what is to be written opens it once more.
    ///
    /// - Throws: where it is missing, no store, or made by a newer version.
    package init(_ place: ResolvedLocation, clock: any TransactionClock) throws(WaybillError) {
        try self.init(place, clock: clock, SetWriter(place))
    }

    /// Opens a store to read it: a folder's, or one in one file. What is to be written opens it once more.
    ///
    /// - Throws: Where it is missing, no store, or made by a newer version.
    public init(_ url: URL, clock: any TransactionClock = SystemClock()) throws(WaybillError) {
        try self.init(ResolvedLocation(path: url.path(percentEncoded: false)), clock: clock)
    }

    /// Opens a store to write and read it, and makes it and its folder where they are missing; blocks until it is done.
    ///
    /// - Parameters:
    ///   - name: Of the file in the folder, without `.sqlite`; `waybill` is the one that the folder stands for.
    ///   - folder: Of the store.
    ///   - factsPerTransaction: Facts of one transaction beyond so many are rejected; nil: however many come.
    ///   - clock: Says what has timed out, and what a time like `1h` means.
    ///   - committed: Told what became of the sets of each commit.
    /// - Throws: Where it cannot be made, is no store, or made by a newer version.
    public init(
        making name: String = "waybill", in folder: URL, factsPerTransaction: Int? = nil,
        clock: any TransactionClock = SystemClock(),
        committed: @escaping @Sendable ([Result<Receipt, WaybillError>]) -> Void = { _ in }
    ) throws(WaybillError) {
        // The folder's own store is one of a folder, so that opening it makes the folder where it is missing.
        let place =
            name == "waybill" ? ResolvedLocation.folder(folder) : .file(folder.appending(path: "\(name).sqlite"))
        let writer = SetWriter(place, factsPerTransaction: factsPerTransaction, committed: committed)
        try writer.open()
        try self.init(place, clock: clock, writer)
    }

    /// Opens the store that a person means to write to: a folder's, or one in one file; what is not there and has no
    /// suffix becomes a folder.
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

    /// What `body` reads, on a thread of lists.
    package func read<Value: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Value) async throws -> Value
    {
        try await lists.run(for: asker, within: readLimit, by: clock, body)
    }

    /// What `body` reads, on the one thread whose reader's ``StoreReader/version()`` can be compared with the one
    /// before.
    func watch<Value: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Value) async throws -> Value {
        try await watcher.run(for: asker, within: readLimit, by: clock, body)
    }

    /// What `body` reads, on a thread of questions.
    package func ask<Value: Sendable>(_ body: @escaping @Sendable (StoreReader, _ now: Int64) throws -> Value)
        async throws -> Value
    {
        let now = clock.wallMicroseconds()
        return try await questions.run(for: asker, within: readLimit, by: clock) { reader in try body(reader, now) }
    }

    /// What `body` reads of what a request means, on a thread of lists.
    ///
    /// - Parameter body: Given the filter, and now in microseconds since 1970.
    package func read<Filter: ListFilter, Value: Sendable>(
        _ request: ListRequest, _ body: @escaping @Sendable (StoreReader, Filter, Int64) throws -> Value
    ) async throws -> Value {
        let now = clock.wallMicroseconds()
        return try await read { reader in try body(reader, reader.filter(request, now: now), now) }
    }
}

extension StoreReader {
    /// The filter that a request means here.
    package func filter<Filter: ListFilter>(_ request: ListRequest, now: Int64) throws -> Filter {
        let called = try request.names(about: Filter.subject)
        return try request.filter(names: called.isEmpty ? [] : names(including: called), now: now)
    }
}
