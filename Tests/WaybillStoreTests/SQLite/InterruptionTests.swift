import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore

/// A read ends at its deadline, or when nobody waits for it.
@Suite(.timeLimit(.minutes(5))) struct InterruptionTests {
    private let store: Store
    private let reader: StoreReader
    private let clock = ManualClock()

    init() throws {
        let place: ResolvedLocation
        (store, place) = try Store.inMemory()
        reader = try StoreReader(place)
    }

    /// Counts forever, and lets a second pass for every hundred thousand. Only an interruption ends it.
    private static let endless =
        "WITH n(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x % 100000 = 0"

    private func countForEver(_ connection: Connection) throws(WaybillError) {
        try connection.statement(Self.endless).forEachRow { _ in clock.advance(by: .seconds(1)) }
    }

    /// Breaks when a question occupies its reader for an unlimited time.
    @Test func aReadEndsAtItsDeadline() throws {
        let error = #expect(throws: WaybillError.self) {
            try reader.reading(until: Interruption(after: .seconds(3), by: clock)) {
                try reader.read { () throws(WaybillError) in try countForEver(reader.connection) }
            }
        }
        #expect(error?.code == .deadline)
        #expect(
            error?.message
                == "This takes longer than the 3 s that it may. Ask for less: a shorter time, fewer conditions, one use case."
        )
        #expect((3...4).contains(clock.uptimeMicroseconds() / 1_000_000), "not before, and not much later")
        #expect(try reader.connection.integer("SELECT count(*) FROM parts") == 0, "the reader goes on")
        #expect(!reader.connection.isInTransaction)
    }

    /// Breaks when the deadline ends only one long statement, and not a hundred thousand short ones.
    @Test func manyShortStatementsEndAtTheirDeadline() throws {
        var count = 0
        #expect(throws: WaybillError.self) {
            try reader.reading(until: Interruption(after: .seconds(3), by: clock)) {
                for _ in 0..<1_000_000 {
                    _ = try reader.connection.integer("SELECT count(*) FROM parts")
                    count += 1
                    if count == 1_000 { clock.advance(by: .seconds(4)) }
                }
            }
        }
        #expect((1_000..<3_000).contains(count))
    }

    /// Breaks when a read continues although nobody waits for it any more.
    @Test func aReadEndsWhenItIsCancelled() throws {
        let interruption = Interruption(by: clock)
        #expect(throws: CancellationError.self) {
            try reader.reading(until: interruption) {
                try reader.connection.statement(Self.endless).forEachRow { _ in interruption.cancel() }
            }
        }
    }

    /// Breaks when code that continues after an error passes half of the rows off as all of them.
    @Test func whatWasEndedIsNoAnswerWhateverIsMadeOfIt() throws {
        let error = #expect(throws: WaybillError.self) {
            try reader.reading(until: Interruption(after: .seconds(1), by: clock)) {
                try? countForEver(reader.connection)
            }
        }
        #expect(error?.code == .deadline)
    }

    /// Breaks when the second thread of an answer has no deadline.
    @Test func bothConnectionsOfAnAnswerEnd() throws {
        #expect(throws: WaybillError.self) {
            try reader.reading(until: Interruption(after: .seconds(1), by: clock)) {
                try countForEver(reader.connection.another())
            }
        }
    }

    /// Breaks when a distant deadline, or one of another read, ends anything.
    @Test func whatIsInTimeIsAnswered() throws {
        clock.advance(by: .seconds(100))
        let count = try reader.reading(until: Interruption(after: .seconds(1), by: clock)) {
            try reader.connection.integer(
                "WITH n(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM n LIMIT 50000) SELECT count(*) FROM n")
        }
        #expect(count == 50_000)
        clock.advance(by: .seconds(100))
        #expect(
            try reader.connection.integer(
                "WITH n(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM n LIMIT 50000) SELECT count(*) FROM n") == 50_000)
    }
}
