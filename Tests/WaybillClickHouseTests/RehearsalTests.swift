#if ClickHouse
import TestSupport
import Testing
import WaybillCore

@testable import WaybillClickHouse
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct RehearsalTests {
    private let copy: Store
    private let writer = ShareWriter(
        "app", "1", device: "phone", os: "iOS", "18", names: [RecordedName(useCase: 0, name: "login")])

    init() throws { copy = try Store(.memory(name: "rehearsal-\(GUID())")) }

    private func arrival(_ share: TransactionSet.Share) -> ReceivedSet {
        ReceivedSet(
            set: Redactor().redacted(TransactionSet(id: GUID(), sources: [share])), atMicroseconds: LoginHistory.begun)
    }

    /// Breaks when a collector in front of ClickHouse refuses the sets of a source that corrects its clock.
    @Test func aRehearsalNotesEachChangedSourceOnce() throws {
        let part = writer.open(0, of: GUID(), at: 0)
        writer.log(1, in: part, at: 1)
        var shares = [writer.share(), writer.share()]
        (shares[0].facts, shares[1].facts) = ([shares[0].facts[0]], [shares[1].facts[1]])
        for index in shares.indices {
            shares[index].clocks[0].offsetMicroseconds += Int64(index)
        }
        let (results, changes) = try copy.rehearse(shares.map(arrival))
        #expect(try results.map { try $0.get().acceptedCount } == [1, 1])
        #expect(changes.books.map(\.share.clocks) == [shares[1].clocks])
    }

    /// Breaks when a rehearsal changes the copy or the next one.
    @Test func aRehearsalLeavesNothingBehind() throws {
        writer.close(writer.open(0, of: GUID(), at: 0), at: 1)
        let set = arrival(writer.share())
        let first = try copy.rehearse([set]).changes
        let again = try copy.rehearse([set]).changes
        #expect(first.books.map(\.share) == again.books.map(\.share) && first.books.count == 1)
        #expect(first.names == again.names && first.names.count == 1)
        #expect(try copy.connection.integer("SELECT count(*) FROM sources") == 0)
        #expect(try copy.connection.integer("SELECT count(*) FROM sqlite_temp_schema") == 0)
        #expect(try copy.rehearse([]).changes.books.isEmpty)
    }

    /// Breaks when a damaged row ends the process.
    @Test func anArrivalThatEndsBeforeItBeginsIsOneFact() throws {
        writer.close(writer.open(0, of: GUID(), at: 0), at: 1)
        var books = try #require(try copy.rehearse([arrival(writer.share())]).changes.books.first)
        books.arrivals = [SourceBooks.Arrival(id: 1, first: 2, last: 1, received: LoginHistory.begun)]
        try copy.replay([books])
        #expect(try copy.connection.bookedRanges.sequences(of: 1).ranges == [1...2])
        try copy.connection.execute(
            """
            CREATE TRIGGER damage AFTER INSERT ON arrivals BEGIN UPDATE arrivals SET last = first - 1 WHERE id = new.id; END
            """)
        let later = ShareWriter("app", "1", device: "phone", os: "iOS", "18", names: [])
        _ = later.open(0, of: GUID(), at: 0)
        let changes = try copy.rehearse([arrival(later.share())]).changes
        #expect(changes.books.map(\.share.facts.count) == [1])
    }
}
#endif
