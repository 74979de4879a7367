#if ClickHouse
import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillExport
import WaybillQueries

@testable import WaybillClickHouse
@testable import WaybillStore

/// A process that decides what a set changes, but inserts it after the changes that another process decided later.
@Suite(.timeLimit(.minutes(15)), .enabled(if: ClickHouseEngine.isThere)) struct LateArrivalTests {
    private let address: ClickHouseAddress
    private let store: ClickHouseStore
    private let tables: ClickHouseTables
    private let late = ArrivalNumbers()

    init() async throws {
        address = try await ClickHouseEngine.shared.database()
        store = try await ClickHouseStore(address)
        tables = ClickHouseTables(client: ClickHouseClient(address), isCurrent: true)
        // After this, the store's writer is known.
        _ = try await store.add(received(LoginHistory().clientSet()))
        late.follow(try await tables.lastPlaces(behind: 0))
    }

    private func received(_ set: TransactionSet) -> ReceivedSet {
        ReceivedSet(set, received: Date(timeIntervalSince1970: 1_800_000_000))
    }

    /// Inserts the facts of a set.
    ///
    /// - Returns: The set's books with their places, which the test still has to insert.
    private func held(_ set: TransactionSet) async throws -> RowBinaryWriter {
        let copy = try Store(.memory(name: "late-\(UUID())"))
        let changes = try copy.rehearse([received(set)]).changes
        try await tables.insertFacts(of: changes, receivedAt: 0)
        return ClickHouseTables.rows(changes.books, late)
    }

    /// Returns the number of exported facts behind a cursor for each source, and the next cursor.
    private func exported(after cursor: String) async throws -> (counts: [GUID: Int], cursor: String) {
        struct Line: Decodable { var source: String }
        let stream = try await store.export(.after(cursor), as: .ndjson)
        var counts: [GUID: Int] = [:]
        while let piece = try await stream.next() {
            for line in piece.bytes.split(separator: 0x0A) {
                let source = try JSONDecoder().decode(Line.self, from: Data(line)).source
                counts[try #require(GUID(source)), default: 0] += 1
            }
        }
        return (counts, stream.cursor)
    }

    /// Breaks when a cursor moves past facts that another process has yet to insert.
    @Test func whatComesLateIsExportedOnce() async throws {
        let (first, second) = (LoginHistory(), LoginHistory())
        let books = try await held(first.clientSet())
        _ = try await store.add(received(second.clientSet()))
        let before = try await exported(after: "0")
        #expect(before.counts[second.client.id] == second.clientFacts.count)
        #expect(before.counts[first.client.id] == nil)
        try await tables.insert(books: books)
        let after = try await exported(after: before.cursor)
        #expect(after.counts == [first.client.id: first.clientFacts.count])
        #expect(try await exported(after: after.cursor).counts.isEmpty)
    }

    /// Breaks when facts that two processes took in at once are exported twice, as when a client sends a set again to
    /// another process.
    @Test func whatTwoProcessesTookInIsExportedOnce() async throws {
        let history = LoginHistory()
        let books = try await held(history.clientSet())
        _ = try await store.add(received(history.clientSet()))
        let before = try await exported(after: "0")
        #expect(before.counts[history.client.id] == history.clientFacts.count)
        try await tables.insert(books: books)
        #expect(try await exported(after: before.cursor).counts.isEmpty)
        #expect(try await store.verify().problems.isEmpty)
    }

    /// Breaks when a name is not read because a name with a later place was inserted first.
    @Test func aNameThatComesLateIsRead() async throws {
        let place = late.next(1)
        let history = LoginHistory()
        _ = try await store.add(received(history.clientSet()))
        #expect(try await store.names().count > 0)
        let name = NameChange(useCase: 0, event: 77, app: "app", appVersion: "1.2", name: "late", isRemoved: false)
        try await tables.insert([name], place)
        #expect(try await store.names().contains { $0.event == 77 && $0.name == "late" })
    }

    /// Breaks when an erasure reports that bytes are gone although an earlier erasure has left them on a server.
    @Test func anErasureMakesSureOfThoseBefore() async throws {
        let history = LoginHistory()
        _ = try await held(history.clientSet())
        let condition = ClickHouseTables.condition(history.client.id, SequenceRanges([1...100]))
        func count() async throws -> UInt64? {
            try await tables.client.rows("SELECT count() FROM facts WHERE \(condition)") { row in
                try row.integer(UInt64.self)
            }.first
        }
        #expect(try await count() == UInt64(history.clientFacts.count))
        try await tables.insert([ClickHouseTables.Removal(table: "facts", condition: condition)], at: 0)
        _ = try await store.erase(.transactions([GUID()]))
        #expect(try await count() == 0)
        #expect(try await tables.removals().isEmpty)
    }
}

/// The places that processes assign.
@Suite(.timeLimit(.minutes(1))) struct ArrivalNumbersTests {
    private func writer(_ place: Int64) -> Int64? { ArrivalPlace.writer(of: place) }

    /// Breaks when a process whose clock is behind assigns places before those that it has read.
    @Test func aPlaceIsBehindAllThatWereRead() {
        let numbers = ArrivalNumbers()
        let own = numbers.next(3)
        let ahead = own + ArrivalPlace.perHour * 5
        #expect(own < Int64(1) << 53)
        numbers.follow([writer(own) ?? 0: own, ((writer(own) ?? 0) + 1) % ArrivalPlace.writerCount: ahead])
        let next = numbers.next(1)
        #expect(next > ahead)
        #expect(writer(next) == writer(own))
    }

    /// Breaks when two processes share one writer, or when a process keeps its writer after an insert that may or may
    /// not arrive.
    @Test func aWriterIsOneProcess() {
        let numbers = ArrivalNumbers()
        let own = numbers.next(1)
        numbers.follow([writer(own) ?? 0: own + 10 * ArrivalPlace.writerCount])
        let other = numbers.next(1)
        #expect(writer(other) != writer(own))
        numbers.follow([writer(own) ?? 0: own, writer(other) ?? 0: other])
        numbers.renew()
        #expect(![writer(own), writer(other)].contains(writer(numbers.next(1))))
    }

    /// Breaks when a cursor is not read as it was written, or when an older cursor is no longer valid.
    @Test func aCursorIsReadAsItWasWritten() throws {
        let (one, other) = (ArrivalPlace.first + 7, ArrivalPlace.first + ArrivalPlace.perHour + 8)
        var cursor = ExportCursor()
        cursor.advance(to: other, over: [one, other])
        cursor.recorded[GUID()] = 3
        #expect(try ExportCursor(cursor.description) == cursor)
        #expect(cursor.includes(other) && cursor.includes(other - ArrivalPlace.writerCount))
        #expect(!cursor.includes(other - 1), "another writer's may still come")
        #expect(try ExportCursor("12").includes(12))
        #expect(throws: WaybillError.self) { try ExportCursor("12~13") }
    }
}
#endif
