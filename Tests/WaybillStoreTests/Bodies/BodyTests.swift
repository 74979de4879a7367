import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillStore

/// Bodies in the store: kept beside the facts, removed with their exchange, and never kept anywhere else.
@Suite(.timeLimit(.minutes(5))) struct BodyTests {
    private let store: Store
    private let place: ResolvedLocation
    private let app = FactWriter("app")

    init() throws { (store, place) = try Store.inMemory() }

    /// Records an exchange in a new transaction.
    private func exchange(in store: Store? = nil, part: Int64? = nil) throws -> (part: Int64, sequence: Int64) {
        let part = part ?? app.open(GUID())
        let sequence = app.openExchange(part: part)
        try app.record(into: store ?? self.store)
        return (part, sequence)
    }

    private func piece(
        _ exchange: (part: Int64, sequence: Int64), _ text: String, direction: ExchangeBody.Direction = .response,
        number: Int64 = 0,
        end: BodyPiece.End? = nil
    ) -> BodyPiece {
        BodyPiece(
            part: exchange.part, exchange: exchange.sequence, direction: direction, number: number,
            contentType: "text/plain",
            bytes: Array(text.utf8), end: end)
    }

    /// Returns text that hardly gets smaller when it is compressed.
    private func noise(_ count: Int) -> String {
        var random = RandomNumbers(seed: count)
        return String((0..<count).map { _ in Character(Unicode.Scalar(UInt8.random(in: 48...122, using: &random))) })
    }

    private func whole(_ text: String) -> BodyPiece.End {
        BodyPiece.End(byteCount: Int64(text.utf8.count), omission: nil, hash: nil)
    }

    private func body(_ exchange: (part: Int64, sequence: Int64), _ direction: ExchangeBody.Direction = .response)
        throws
        -> ExchangeBody?
    {
        try StoreReader(place).body(of: FactID(source: app.id, sequence: exchange.sequence), direction)
    }

    private func count(_ store: Store? = nil) throws -> Int {
        try (store ?? self.store).connection.integer("SELECT count(*) FROM bodies")
    }

    private func append(_ pieces: [BodyPiece], limit: Int64 = 1 << 20) throws {
        _ = try store.append(pieces, of: app.id, limit: limit)
    }

    @Test func aBodyIsReadAsItWasKept() throws {
        let exchange = try exchange()
        let end = BodyPiece.End(byteCount: 70, omission: .limit, hash: (1, 2))
        try append([
            piece(exchange, "question", direction: .request, end: whole("question")), piece(exchange, "one "),
            piece(exchange, "", number: 1), piece(exchange, "two", number: 2, end: end),
        ])
        #expect(
            try body(exchange, .request)
                == ExchangeBody(contentType: "text/plain", bytes: Array("question".utf8), byteCount: 8))
        let answer = try #require(try body(exchange))
        #expect(String(decoding: answer.bytes, as: UTF8.self) == "one two")
        #expect(answer.byteCount == 70 && answer.omission == .limit && answer.hash?.count == 16 && !answer.isWhole)
        #expect(try body((0, 99)) == nil)
    }

    /// Breaks when equal bodies can't be recognized, or when anyone can look for a body whose hash they have.
    @Test func equalBodiesHaveEqualHashesWithinOneStoreOnly() throws {
        var hashes: [[UInt8]?] = []
        for (number, hash) in [(1, 2), (1, 2), (1, 3)].enumerated() {
            let exchange = try exchange()
            try append([
                piece(
                    exchange, "x",
                    end: BodyPiece.End(byteCount: 9, omission: .limit, hash: (UInt64(hash.0), UInt64(hash.1))))
            ])
            hashes.append(try body(exchange)?.hash)
            #expect(hashes[number] != nil)
        }
        let (other, otherPlace) = try Store.inMemory()
        let exchange = try exchange(in: other)
        _ = try other.append(
            [piece(exchange, "x", end: BodyPiece.End(byteCount: 9, omission: .limit, hash: (1, 2)))], of: app.id,
            limit: 1 << 20)
        let elsewhere = try StoreReader(otherPlace).body(
            of: FactID(source: app.id, sequence: exchange.sequence), .response)?.hash
        #expect(hashes[0] == hashes[1] && hashes[0] != hashes[2])
        #expect(elsewhere != nil && elsewhere != hashes[0])
    }

    @Test func aPieceWaitsForTheFactItBelongsTo() throws {
        let part = app.open(GUID())
        try app.record(into: store)
        let early = (part, part + 1)
        let pieces = [piece(early, "x", end: whole("x"))]
        #expect(try store.append(pieces, of: app.id, limit: 1 << 20).count == 1)
        #expect(try count() == 0)
        let exchange = try exchange(part: part)
        #expect(exchange.sequence == early.1)
        #expect(try store.append(pieces, of: app.id, limit: 1 << 20).isEmpty)
        #expect(
            try store.append(pieces, of: app.id, limit: 1 << 20).isEmpty,
            "again, after a batch was thought to have failed")
        #expect(try count() == 1)
    }

    /// Breaks when the received pieces of a body are lost because the process died, or pass for the whole body.
    @Test func ofABodyWhoseEndNeverCameTheBeginningIsThere() throws {
        let exchange = try exchange()
        try append([piece(exchange, "one "), piece(exchange, "two", number: 1)])
        let kept = try #require(try body(exchange))
        #expect(String(decoding: kept.bytes, as: UTF8.self) == "one two" && kept.byteCount == nil && !kept.isWhole)
    }

    // MARK: Removal

    /// Breaks when a body that arrives during an erasure comes back.
    @Test func bodiesGoWithTheirExchange() throws {
        let exchange = try exchange()
        try append([piece(exchange, "first")])
        _ = try store.erase(.all, at: 0)
        #expect(try count() == 0)
        try append([piece(exchange, "second", number: 1), piece(exchange, "request", direction: .request)])
        #expect(try count() == 0)
    }

    @Test func theOldestGoWhenThereIsNoMoreRoomForBodies() throws {
        let exchanges = try (0..<40).map { _ in try exchange() }
        for exchange in exchanges {
            let text = noise(2_000)
            try append([piece(exchange, text, end: whole(text))], limit: 20_000)
            #expect(try BodyRows(connection: store.connection).byteCount() <= 20_000)
        }
        let kept = try exchanges.map { try body($0) != nil }
        #expect(kept.first == false && kept.last == true)
        #expect(kept.drop { !$0 }.allSatisfy { $0 }, "the oldest")
        #expect(kept.count { $0 } >= 8)
    }

    /// Breaks when an undelivered fact is removed to make room for a body.
    @Test func bodiesGoBeforeAnyFact() throws {
        let exchanges = try (0..<50).map { _ in try exchange() }
        let full = try store.connection.usedByteCount()
        try append(exchanges.map { piece($0, noise(2_000), end: whole("")) })
        #expect(try store.connection.usedByteCount() > full)
        var sweep = try RetentionSweep(store.connection, budget: 1_000)
        try store.write { () throws(WaybillError) in try sweep.reduce(to: .bytes(full)) }
        #expect(sweep.factCount == 0)
        #expect(try count() < 50 && store.connection.usedByteCount() <= full)
    }

    // MARK: Files

    /// Breaks when data that must stay on the device leaves it in a copy attached to a report.
    @Test func aSnapshotHasNoBodies() throws {
        let folder = try TemporaryDirectory()
        let store = try Store(.folder(folder.url))
        let exchange = try exchange(in: store)
        let text = "MARKER of a body"
        _ = try store.append(
            [piece(exchange, text, end: BodyPiece.End(byteCount: 99, omission: .limit, hash: (1, 2)))], of: app.id,
            limit: 1 << 20)
        let file = folder.file("copy.sqlite")
        try store.snapshot(to: file)
        #expect(
            try StoreReader(.file(file)).body(of: FactID(source: app.id, sequence: exchange.sequence), .response)
                == nil)
        let bytes = try Data(contentsOf: file)
        #expect(bytes.range(of: Data(try Zlib.compressed(Array(text.utf8)))) == nil)
        let key = try #require(try store.setting(BodyRows.keySetting))
        #expect(bytes.range(of: Data(key.utf8)) == nil)
        #expect(try store.connection.integer("SELECT count(*) FROM bodies") == 1, "here it stays")
    }

    @Test func theBytesOfAnErasedBodyAreGoneFromTheFile() throws {
        let folder = try TemporaryDirectory()
        let store = try Store(.folder(folder.url))
        let exchange = try exchange(in: store)
        let text = String(repeating: "MARKER", count: 10) + "\(UInt64.random(in: 0...(.max)))"
        let compressed = Data(try Zlib.compressed(Array(text.utf8)))
        _ = try store.append([piece(exchange, text, end: whole(text))], of: app.id, limit: 1 << 20)
        let found = {
            try ["", "-wal"].contains {
                try Data(contentsOf: folder.file("waybill.sqlite\($0)")).range(of: compressed) != nil
            }
        }
        #expect(try found())
        _ = try store.erase(.all, at: 0)
        #expect(try !found())
    }

    /// Breaks when a person in the shell can't see how much of a body was kept.
    @Test func theViewSaysHowMuchWasKept() throws {
        let exchange = try exchange()
        _ = try store.append([piece(exchange, "x", end: whole("x"))], of: app.id, limit: 1 << 20)
        try store.connection.execute("PRAGMA trusted_schema = ON")  // as in a person's shell
        #expect(
            try store.connection.integer("SELECT kept_of_response FROM network WHERE sequence = ?", exchange.sequence)
                == 1)
    }

    /// Breaks when the shell shows something else about a mocked exchange than the library reports.
    @Test func theViewSaysWhatWasMocked() throws {
        let exchange = try exchange()
        var closed = Fact.ExchangeClosed(exchange: exchange.sequence, state: .completed, status: 200)
        closed.transfer.isMocked = true
        closed.transfer.rule = "slow"
        app.closeExchange(closed, part: exchange.part)
        try app.record(into: store)
        try store.connection.execute("PRAGMA trusted_schema = ON")  // as in a person's shell
        let rows = try store.connection.statement("SELECT state || ' ' || rule FROM network").rows { row in
            row.text(0)
        }
        #expect(rows == ["mocked slow"])
    }

    @Test func whatIsLeftOfADamagedStoreKeepsItsBodies() throws {
        let (source, sourcePlace) = try Store.inMemory()
        let (kept, lost) = (try exchange(in: source), try exchange(in: source))
        for exchange in [kept, lost] {
            _ = try source.append([piece(exchange, "x", end: whole("x"))], of: app.id, limit: 1 << 20)
        }
        // Without the trigger, as if the row couldn't be read.
        try source.connection.execute("DROP TRIGGER bodies_go_with_their_exchange")
        try source.connection.statement("DELETE FROM exchanges WHERE sequence = ?").run(lost.sequence)
        try SalvagedRows(from: try Connection(sourcePlace.uri(), .readWrite, at: ""), into: store.connection).copy()
        var books = SalvagedBooks(store.connection)
        try books.balance()
        #expect(try body(kept)?.isWhole == true)
        #expect(try body(lost) == nil)
    }

    /// Breaks when a body that was kept in memory while the disk was unavailable is lost once the disk is back.
    @Test func bodiesComeWithWhatWasKeptInMemory() throws {
        let (memory, memoryPlace) = try Store.inMemory()
        let exchange = try exchange(in: memory)
        _ = try memory.append([piece(exchange, "x", end: whole("x"))], of: app.id, limit: 1 << 20)
        let other = FactWriter("other")
        try other.record(into: store)
        try store.register(app.source)
        try store.adopt(app.id, from: memoryPlace)
        #expect(try body(exchange)?.bytes == Array("x".utf8))
    }

    // MARK: Waiting

    @Test func memoryIsBoundedAndWhatDoesNotFitIsCounted() {
        let waiting = WaitingBodies(limit: 100)
        #expect(waiting.reserve(60) && waiting.reserve(40) && !waiting.reserve(1))
        waiting.adjust(by: -50)
        #expect(waiting.reserve(50) && waiting.refusedCount == 1)
    }
}
