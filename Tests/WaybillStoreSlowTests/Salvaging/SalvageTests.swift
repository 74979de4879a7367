import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore
@testable import WaybillStoreTests

/// Damage to a store's file never causes a crash. Recording continues, and every fact is either present or booked.
@Suite(.timeLimit(.minutes(10))) struct SalvageTests {
    private let folder: TemporaryDirectory
    private let clock = FixedClock()

    init() throws { folder = try TemporaryDirectory() }

    private var path: String { folder.file("waybill.sqlite").path }

    private struct FixedClock: TransactionClock {
        func uptimeMicroseconds() -> Int64 { 5_000_000 }
        func wallMicroseconds() -> Int64 { FactWriter.wall }
    }

    private func writer() -> SourceWriter {
        SourceWriter(
            source: SourceIdentity(id: GUID()), place: .folder(folder.url), clock: clock, capacity: 50_000,
            writesByItself: false)
    }

    private func record(_ count: Int, with writer: SourceWriter) {
        for _ in 0..<count {
            let part = writer.recorder.record(.opened(Fact.Opened(transaction: GUID(), useCase: 0)), part: 0).sequence
            for code in 0..<3 { _ = writer.recorder.record(.event(Fact.Event(code: code)), part: part) }
            _ = writer.recorder.record(.closed(Fact.Closed(outcome: .succeeded)), part: part)
        }
    }

    /// Makes a store of an app that has ended: 10,000 facts, the first 2,000 of them delivered.
    private func makeStore() throws -> FactWriter {
        let store = try Store(.folder(folder.url))
        let app = FactWriter()
        for _ in 0..<2_000 {
            let part = app.open(GUID())
            for code in 0..<3 { app.event(code, part: part) }
            app.close(part, .succeeded)
        }
        try store.set("installation", to: GUID().description)
        try app.record(into: store)
        let set = try #require(try store.lease())
        #expect(try store.settle(set.id, rejections: [], at: 0))
        try store.checkpoint()
        return app
    }

    private func damage(_ change: (inout [UInt8]) -> Void) throws {
        var bytes = [UInt8](try Data(contentsOf: folder.file("waybill.sqlite")))
        change(&bytes)
        try Data(bytes).write(to: folder.file("waybill.sqlite"))
    }

    private func aside() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter {
            $0.contains(".damaged-") && !$0.hasSuffix("-wal")
        }
    }

    /// Opens the store as the next launch does, records, reads everything, and checks the ledgers.
    private func expectGoingOn(_ what: Comment) throws {
        let writer = writer()
        record(10, with: writer)
        var ledgers: [GUID: Ledger] = [:]
        for _ in 0..<2 {
            // A read that hits damage throws. On the second try, the store has been rebuilt.
            do {
                ledgers = try writer.runAndWait({ opened, store in
                    _ = try store.connection.statement("PRAGMA integrity_check").rows { row in row.text(0) }
                    _ = try opened.reader().transactions(
                        matching: TransactionFilter(), limit: .max, after: nil, now: FactWriter.wall)
                    return try store.ledgers()
                })
                break
            } catch {}
        }
        #expect(!ledgers.isEmpty && ledgers.values.allSatisfy(\.isBalanced), what)
        #expect(ledgers.values.contains { $0.recorded == 50 }, what)
    }

    /// Breaks when a damaged page costs more than itself, is not reported, or its facts are not counted.
    @Test func whatCanBeReadIsTakenOverAndTheRestIsBooked() throws {
        let app = try makeStore()
        // Two leaf pages of the table of events, wherever they are in the file.
        let connection = try Connection("file:\(path)", .readOnly, at: path)
        let pages = try connection.statement(
            "SELECT pageno FROM dbstat WHERE name = 'events' AND pagetype = 'leaf' ORDER BY path"
        ).rows {
            row in row.int(0) as Int
        }
        try #require(pages.count > 20)
        try damage { bytes in
            for page in [pages[5], pages[15]] {
                for index in 0..<4_096 { bytes[(page - 1) * 4_096 + index] = 0xA5 }
            }
        }
        let writer = writer()
        record(1, with: writer)
        _ = try? writer.runAndWait { opened, _ in _ = try opened.reader().verify() }
        _ = try? writer.runAndWait { _, store in
            _ = try store.connection.statement("SELECT sum(code) FROM events").rows { row in row.int(0) }
        }
        let id = app.id
        let (ledgers, facts, verified) = try writer.runAndWait { opened, store in
            (try store.ledgers(), try store.facts(of: id), try StoreReader(.folder(folder.url)).verify())
        }
        #expect(verified.problems == [])
        let ledger = try #require(ledgers[app.id])
        #expect(ledger.isBalanced && ledger.recorded == 10_000 && ledger.delivered == 2_000)
        let lost = ledger.dropped["damaged"] ?? 0
        #expect((1...600).contains(lost), "two pages hold some hundred events each")
        #expect(facts.count >= 10_000 - 700)
        let recorded = Dictionary(uniqueKeysWithValues: app.facts.map { ($0.sequence, $0) })
        #expect(facts.allSatisfy { recorded[$0.sequence] == $0 })
        #expect(try aside() == ["waybill.sqlite.damaged-\(FactWriter.wall / 1_000_000)"])
        #expect(writer.problem?.message.contains("was damaged") == true)
    }

    /// Breaks when a changed byte anywhere in the file crashes the host or stops recording.
    @Test(arguments: seeds(0..<24)) func flippedBytesStopNothing(seed: Int) throws {
        _ = try makeStore()
        var random = RandomNumbers(seed: seed)
        var places: [Int] = []
        try damage { bytes in
            // The header, the rest of the first page, or any other page.
            let region = [0..<100, 100..<4_096, 4_096..<bytes.count][seed % 3]
            for _ in 0..<(seed % 2 == 0 ? 1 : 40) {
                let place = Int.random(in: region, using: &random)
                // An unknown schema version belongs to a newer Waybill, and its store is left alone.
                if (60..<64).contains(place) { continue }
                bytes[place] ^= UInt8.random(in: 1...255, using: &random)
                places.append(place)
            }
        }
        try expectGoingOn("seed \(seed), bytes \(places.prefix(5))")
    }

    @Test(arguments: [0, 1, 50, 100, 511, 4_096, 5_000, 40_960, 200_000]) func aFileCutShortStopsNothing(byteCount: Int)
        throws
    {
        _ = try makeStore()
        try damage { bytes in bytes.removeLast(max(0, bytes.count - byteCount)) }
        try expectGoingOn("\(byteCount) bytes")
    }

    /// Breaks when one byte of the header costs everything after it.
    @Test(arguments: [0, 15, 16, 18, 21, 44, 59, 68, 71]) func aByteOfTheHeaderCostsNothing(place: Int) throws {
        let app = try makeStore()
        try damage { bytes in bytes[place] ^= 0x5A }
        let (id, writer) = (app.id, writer())
        #expect(
            try writer.runAndWait { _, store in try store.ledgers()[id] }
                == Ledger(recorded: 10_000, delivered: 2_000, pending: 8_000))
        #expect(try writer.runAndWait { _, store in try store.facts(of: id) } == app.facts)
    }

    /// Breaks when a process continues in a file that nobody will ever read again, or does not account for the facts it
    /// recorded before.
    @Test func aFileThatIsDeletedOrReplacedIsNoticed() throws {
        let writer = writer()
        record(2, with: writer)
        try writer.runAndWait { _, _ in }
        for suffix in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: path + suffix) }
        record(1, with: writer)
        try? writer.runAndWait { _, _ in }
        #expect(
            try writer.runAndWait { _, store in try store.facts(of: #require(store.ledgers().keys.first)).count } == 5)
        let set = try writer.runAndWait { _, store in try #require(try store.lease()) }
        #expect(set.sources.first?.dropped == [DroppedRange(first: 1, last: 10, reason: .damaged)])
    }

    /// Breaks when a crash between the renames leaves a store that is empty, or one that is still damaged.
    @Test(arguments: 0..<3) func anInterruptedReplacementIsFinishedAtTheNextOpening(step: Int) throws {
        let app = try makeStore()
        try FileManager.default.copyItem(atPath: path, toPath: path + "-salvaged")
        try damage { bytes in bytes[0] = 0 }
        if step > 0 { try FileManager.default.removeItem(atPath: path + "-wal") }
        if step > 1 { try FileManager.default.removeItem(atPath: path) }
        let store = try Store(.folder(folder.url), clock: clock)
        #expect(try store.facts(of: app.id) == app.facts)
        #expect(!FileManager.default.fileExists(atPath: path + "-salvaged"))
        #expect(try aside() == (step > 1 ? [] : ["waybill.sqlite.damaged-\(clock.wallMicroseconds() / 1_000_000)"]))
    }

    /// Breaks when erased data can still be read in the file that was moved aside.
    @Test func erasingTakesTheDamagedFileToo() throws {
        _ = try makeStore()
        try damage { bytes in bytes[0] = 0 }
        let writer = writer()
        try writer.runAndWait { _, _ in }
        #expect(try aside().count == 1)
        _ = try writer.runAndWait { _, store in try store.erase(.all, at: FactWriter.wall) }
        #expect(try aside() == [])
    }

    /// Breaks when a newer version's store, or another program's database, is mistaken for a damaged one.
    @Test func whatIsNotOursIsLeftAlone() throws {
        do {
            let other = try Connection("file:\(path)", .create, at: path)
            try other.execute("CREATE TABLE recipes(name)")
        }
        let before = try Data(contentsOf: folder.file("waybill.sqlite"))
        let writer = writer()
        record(1, with: writer)
        #expect(try writer.runAndWait { _, store in try store.pendingCount() } == 5)
        #expect(writer.problem?.message.contains("not a Waybill store") == true)
        #expect(try Data(contentsOf: folder.file("waybill.sqlite")) == before)
        #expect(try aside() == [])
    }
}
