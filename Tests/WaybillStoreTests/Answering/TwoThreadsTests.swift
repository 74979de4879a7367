import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillAnalysis
@testable import WaybillReading
@testable import WaybillStore

/// A question about much is answered by two threads, with a connection each.
@Suite(.timeLimit(.minutes(5))) struct TwoThreadsTests {
    /// Breaks when what lies between the halves is counted twice or not at all, or a name has another number in the
    /// second half.
    @Test(arguments: seeds(1_500..<1_530)) func twoHalvesGiveTheAnswerOfTheWhole(seed: Int) throws {
        var maker = HistoryMaker(seed: seed)
        let histories = maker.histories()
        let (store, place) = try Store.inMemory()
        var sets = SetMaker(random: maker.random)
        for set in sets.sets(of: histories) { try store.ingest(DecodedSet(set: set)) }
        var filter = TransactionFilter()
        filter.useCase = 3
        let query = TransitionsQuestion(filter: filter)
        let ends = histories.flatMap { history in
            history.facts.map { $0.atMicroseconds + history.clocks[0].offsetMicroseconds }
        }
        let now = (ends.max() ?? 0) + 1_000_000
        let reader = try StoreReader(place)
        let whole = try query.answer(from: AnswerContext(reader: reader, now: now), soonRead: .max)
        let halves = try query.answer(
            from: AnswerContext(reader: reader, second: reader.connection.another(), now: now), soonRead: 0)
        #expect(halves == whole, "seed \(seed)")
    }

    /// Breaks when the threads see different states of a store that is written to meanwhile.
    @Test func bothConnectionsSeeOneState() throws {
        let folder = try TemporaryDirectory()
        let store = try Store(.folder(folder.url))
        func write() throws {
            let app = FactWriter()
            app.open(GUID())
            try store.ingest(app.set())
        }
        try write()
        let reader = try StoreReader(.folder(folder.url))
        func count(_ connection: Connection) throws(WaybillError) -> Int {
            try connection.integer("SELECT count(*) FROM parts")
        }
        for written in 1...3 {
            try reader.readByTwo { (second) throws(WaybillError) in
                guard let second else {
                    throw WaybillError(.store, "There is no second connection although nobody writes.")
                }
                for _ in 0..<2 {
                    #expect(try count(reader.connection) == written)
                    #expect(try count(second) == written)
                    if try count(store.connection) == written { #expect(throws: Never.self) { try write() } }
                }
                // Within a read no other begins.
                try reader.readByTwo { (third) throws(WaybillError) in #expect(third == nil) }
            }
        }
        #expect(try count(store.connection) == 4)
    }

    /// Breaks when a commit between the two states goes unnoticed.
    @Test func aCommitOfSomebodyElseIsAnotherVersion() throws {
        let folder = try TemporaryDirectory()
        let store = try Store(.folder(folder.url))
        let reader = try StoreReader(.folder(folder.url))
        let before = try reader.connection.dataVersion()
        #expect(try reader.connection.dataVersion() == before)
        try store.ingest(FactWriter().set())
        let after = try reader.connection.dataVersion()
        #expect(after != before)
        try reader.read { () throws(WaybillError) in
            #expect(try reader.connection.dataVersion() == after)
            #expect(throws: Never.self) { try store.ingest(FactWriter().set()) }
            #expect(
                try reader.connection.dataVersion() == after, "Within a read it is that of the state which is read.")
        }
        #expect(try reader.connection.dataVersion() != after)
    }
}
