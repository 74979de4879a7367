import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct VerificationTests {
    private let store: Store
    private let reader: StoreReader

    init() throws {
        let place: ResolvedLocation
        (store, place) = try Store.inMemory()
        reader = try StoreReader(place)
        let own = FactWriter("own")
        let received = FactWriter("received")
        for writer in [own, received] {
            let part = writer.open(GUID())
            writer.event(1, part: part)
            writer.event(2, part: part)
            writer.close(part, .succeeded)
        }
        own.names = [RecordedName(useCase: 0, name: "login")]
        try own.record(into: store)
        _ = try store.settle(try #require(try store.lease(LeaseLimit(factCount: 3))).id, rejections: [], at: 0)
        try store.ingest(received.set())
    }

    @Test func aStoreThatBalancesHasNoProblems() throws {
        let verification = try reader.verify()
        #expect(verification.isSound && verification.remarks == [])
        #expect(verification.factCount == 8 && verification.transactionCount == 2)
        #expect(verification.sources.map(\.rowCount) == [4, 4] && verification.sources.map(\.bookedCount) == [3, 4])
    }

    /// Breaks when one of the three counts is derived from another, which would hide a loss.
    @Test(arguments: [
        ("UPDATE parts SET closed = NULL WHERE source = 1", "should be there"),
        ("DELETE FROM events WHERE source = 2 AND sequence = 2", "should be there"),
        ("UPDATE parts SET closed = NULL WHERE source = 2", "should be there"),
        ("UPDATE sources SET delivered = 2 WHERE id = 1", "booked one by one"),
        ("UPDATE sources SET delivered = 5 WHERE id = 2", "does not balance"),
        ("UPDATE ranges SET last = 2 WHERE source = 1", "booked one by one"),
        ("UPDATE sources SET recorded = 2 WHERE id = 1", "does not balance"),
        ("INSERT INTO quarantine VALUES (1, 2, 'no', 0)", "does not balance"),
        // Values that nobody can have recorded. Their sum overflows every integer.
        ("INSERT INTO dropped VALUES (1, -9000, 9223372036854775807, 'x')", "does not balance"),
        (
            "INSERT INTO dropped VALUES (1, 1, 9223372036854775807, 'x'), (1, 2, 9223372036854775807, 'y')",
            "does not balance"
        ),
        ("UPDATE sources SET recorded = -9223372036854775808 WHERE id = 1", "does not balance"),
        ("UPDATE sources SET recorded = 9223372036854775807, delivered = 9223372036854775807", "does not balance"),
        ("INSERT INTO ranges VALUES (1, 900, 9223372036854775807, NULL)", "stand in the ranges"),
        ("UPDATE ranges SET first = -9223372036854775808, last = 9223372036854775807", "stand in the ranges"),
        ("INSERT INTO events VALUES (9, 1, 1, 0, 0, NULL)", "belong to no source"),
        ("UPDATE parts SET listed_us = NULL", "no leading part"),
        ("INSERT INTO erased SELECT guid, 0 FROM parts WHERE guid IS NOT NULL", "although they were erased"),
    ])
    func whatDoesNotAddUpIsAProblem(_ damage: String, _ words: String) throws {
        try store.connection.execute(damage)
        let verification = try reader.verify()
        #expect(verification.problems.contains { $0.contains(words) }, "\(verification.problems)")
    }

    /// Breaks when a damaged range crashes the app, and again at each launch.
    @Test func aRangeThatEndsBeforeItBeginsCrashesNothing() throws {
        let set = try #require(try store.lease(LeaseLimit(factCount: 1)))
        try store.connection.execute("INSERT INTO dropped VALUES (1, 900, 3, 'quota')")
        try store.connection.execute("UPDATE ranges SET first = 900 WHERE lease IS NOT NULL")
        _ = try store.settle(set.id, rejections: [], at: 0)
        _ = try store.lease(LeaseLimit(factCount: 1))
        try store.connection.execute("UPDATE ranges SET last = first - 1")
        _ = try store.erase(.all, at: 0)
        #expect(try reader.verify().factCount == 0)
    }

    /// Breaks when a code with two meanings goes unreported, or when a store is called damaged because of an app's
    /// mistake.
    @Test func aCodeWithTwoNamesIsRemarkedAndNoProblem() throws {
        try store.connection.execute("INSERT INTO names VALUES (0, -1, 'own', '1', 'signIn')")
        let verification = try reader.verify()
        #expect(verification.problems == [])
        #expect(verification.remarks.map { $0.contains("several names") } == [true])
    }

    /// Breaks when facts that a collector has not received yet are reported as a fault of its store.
    @Test func aGapIsRemarkedAndNoProblem() throws {
        let late = FactWriter()
        let part = late.open(GUID())
        late.event(1, part: part)
        late.event(2, part: part)
        try store.ingest(late.set(3...3))
        let verification = try reader.verify()
        #expect(verification.problems == [])
        #expect(verification.remarks.map { $0.contains("facts 1 to 2 were not taken in") } == [true])
        try store.ingest(late.set(1...1))
        #expect(try reader.verify().remarks.map { $0.contains("fact 2 was not taken in") } == [true])
    }
}
