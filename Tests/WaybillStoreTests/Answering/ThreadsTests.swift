import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore

/// Several threads, each with its connection, answer a question about much data.
@Suite(.timeLimit(.minutes(5))) struct ThreadsTests {
    /// Breaks when rows between two ranges are counted twice or not at all, or a name has another number in the second
    /// range.
    @Test(arguments: seeds(1_500..<1_530)) func rangesGiveTheAnswerOfTheWhole(seed: Int) throws {
        var maker = HistoryMaker(seed: seed)
        let histories = maker.histories()
        let (store, place) = try Store.inMemory()
        var sets = SetMaker(random: maker.random)
        for set in sets.sets(of: histories) { try store.ingest(set) }
        let ends = histories.flatMap { history in
            history.facts.map { $0.atMicroseconds + history.clocks[0].offsetMicroseconds }
        }
        let now = (ends.max() ?? 0) + 1_000_000
        var filters = FilterMaker(random: sets.random, naive: NaiveAnswers(histories: histories, now: now))
        let reader = try StoreReader(place)
        let others = try (0..<3).map { _ in try reader.connection.another() }
        for question in filters.questions(NaiveAnswers(histories: histories, now: now)) {
            func ask<Asked: Question>(_ question: Asked) throws {
                let whole = Result { try question.answer(from: AnswerContext(reader: reader, now: now)) }
                let ranges = Result {
                    try question.answer(from: AnswerContext(reader: reader, others: others, now: now, soonRead: 0))
                }
                #expect((try? ranges.get()) == (try? whole.get()), "seed \(seed): \(question)")
            }
            try ask(question.asked)
        }
    }

    /// Breaks when the threads see different states of a store while another process writes to it.
    @Test func allConnectionsSeeOneState() throws {
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
            try reader.read(withOthers: 3) { (others) throws(WaybillError) in
                #expect(others.count == 3, "Some are missing although nobody writes.")
                for _ in 0..<2 {
                    for connection in [reader.connection] + others { #expect(try count(connection) == written) }
                    if try count(store.connection) == written { #expect(throws: Never.self) { try write() } }
                }
                // No other read begins within a read.
                try reader.read(withOthers: 1) { (none) throws(WaybillError) in #expect(none.isEmpty) }
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
