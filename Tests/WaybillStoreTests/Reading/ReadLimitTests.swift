import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillExport
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore

/// No question blocks a store for others: several readers exist, and each read has a time limit.
@Suite(.timeLimit(.minutes(5))) struct ReadLimitTests {
    private let folder: TemporaryDirectory
    private let clock = ManualClock()
    private let store: SQLiteStore

    init() throws {
        folder = try TemporaryDirectory()
        let app = FactWriter()
        for _ in 0..<3 { app.close(app.open(GUID()), .failed) }
        var store = try SQLiteStore(making: folder.url, clock: clock)
        try store.writer.thread.sync { store in try app.record(into: store.opened()) }
        store.readLimit = .seconds(30)
        self.store = store
    }

    /// Reads forever, and opens a gate when the read has begun.
    private func readForEver(_ begun: Gate, _ asker: String? = nil) async throws {
        try await asked(by: asker).read { reader in try Self.readForEver(reader, begun) }
    }

    private static func readForEver(_ reader: StoreReader, _ begun: Gate) throws {
        begun.open()
        try reader.connection.statement(
            "WITH n(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM n) SELECT 1 FROM n WHERE x < 0"
        )
        .run()
    }

    private func list(_ asker: String? = nil) async throws -> Int {
        try await asked(by: asker).transactions(ListRequest()).rows.count
    }

    private func asked(by asker: String?) -> SQLiteStore {
        var store = store
        store.asker = asker
        return store
    }

    private func end(_ tasks: [Task<Void, any Error>]) async {
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
    }

    /// Breaks when one slow list keeps the others waiting.
    @Test func listsGoOnBesideASlowOne() async throws {
        let begun = [Gate(), Gate()]
        let slow = begun.map { gate in Task { try await readForEver(gate) } }
        for gate in begun { await gate.opened() }
        for _ in 0..<10 { #expect(try await list() == 3) }
        for task in slow {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    /// Breaks when one token can occupy all readers, however much it asks.
    @Test func oneAskerLeavesAReaderToOthers() async throws {
        let begun = (0..<3).map { _ in Gate() }
        let slow = begun.map { gate in Task { try await readForEver(gate, "one") } }
        for gate in begun { await gate.opened() }
        let more = (0..<8).map { _ in Task { try await readForEver(Gate(), "one") } }
        for _ in 0..<10 { #expect(try await list("other") == 3) }
        await end(slow + more)
        #expect(try await list("one") == 3)
    }

    /// Breaks when an asker with many reads gets ahead of one with few because it asked first.
    @Test func theNextTurnIsThatOfWhoHasTheFewestAtWork() async throws {
        let begun = (0..<4).map { _ in Gate() }
        let slow = zip(begun, ["one", "one", "two", "two"]).map { gate, asker in
            Task { try await readForEver(gate, asker) }
        }
        for gate in begun { await gate.opened() }
        let next = Gate()
        let waiting = Task { try await readForEver(next, "one") }
        let other = Task { try await list("three") }
        await end([slow[3]])
        #expect(try await other.value == 3)
        await next.opened()
        await end(slow.dropLast() + [waiting])
    }

    /// Breaks when a question waits for all questions of another asker; or when one asker runs two at once, each of
    /// which may use much memory.
    @Test func eachAskerHasOneQuestionAtATime() async throws {
        func askForEver(_ gate: Gate) -> Task<Void, any Error> {
            Task { try await asked(by: "one").ask { reader, _ in try Self.readForEver(reader, gate) } }
        }
        let (begun, second) = (Gate(), Gate())
        var slow = [askForEver(begun)]
        await begun.opened()
        slow.append(askForEver(second))
        for _ in 0..<10 { #expect(try await asked(by: "other").ask { _, _ in 1 } == 1) }
        #expect(!second.isOpen)
        await end(slow)
    }

    /// Breaks when a slow list continues past its deadline, or keeps its reader.
    @Test func aSlowListEndsAtItsDeadline() async throws {
        for _ in 0..<5 {
            let begun = Gate()
            let slow = Task { try await readForEver(begun) }
            await begun.opened()
            clock.advance(by: .seconds(31))
            let error = await #expect(throws: WaybillError.self) { try await slow.value }
            #expect(error?.code == .deadline)
        }
        #expect(try await list() == 3)
    }

    /// Breaks when reads wait endlessly, or when a read starts although nobody waits for it any more.
    @Test func whoWaitsForItsTurnHasPatience() async throws {
        let begun = (0..<3).map { _ in Gate() }
        let slow = begun.map { gate in Task { try await readForEver(gate) } }
        for gate in begun { await gate.opened() }
        let waiting = (0..<20).map { _ in Task { try await list() } }
        let cancelled = Task { try await list() }
        cancelled.cancel()
        clock.advance(by: .seconds(31))
        for task in slow { await #expect(throws: WaybillError.self) { try await task.value } }
        for task in waiting {
            // Tasks that asked only after the time had advanced got a reader at once.
            do { #expect(try await task.value == 3) } catch {
                #expect(
                    (error as? WaybillError)?.message
                        == "The store was busy with other questions for too long. Try again.")
            }
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(try await list() == 3)
    }

    /// Breaks when a page that follows the store redraws endlessly because two readers count differently.
    @Test func theVersionIsTheSameUntilSomethingIsWritten() async throws {
        let version = try await store.version()
        for _ in 0..<10 {
            _ = try await list()
            #expect(try await store.version() == version)
        }
        let app = FactWriter()
        app.open(GUID())
        _ = try await store.add(ReceivedSet(set: Redactor().redacted(app.set()), atMicroseconds: 0))
        #expect(try await store.version() != version)
    }

    /// Breaks when an export ends because its total takes long, although each piece is on time.
    @Test func anExportMayTakeAsLongAsItGoesOn() async throws {
        let app = FactWriter()
        for number in 0..<2_000 { app.open(GUID(), attributes: ["order": .string("number \(number) of many")]) }
        _ = try await store.add(ReceivedSet(set: Redactor().redacted(app.set()), atMicroseconds: 0))
        let export = try await store.export(.of(ListRequest()), as: .ndjson)
        var factCount = 0
        for _ in 0..<100 {
            guard let piece = try await export.next() else { break }
            factCount += piece.factCount
            clock.advance(by: .seconds(29))
        }
        #expect(factCount == 2_006)
        #expect(clock.uptimeMicroseconds() > 100_000_000, "it took longer than any one read may")
    }
}
