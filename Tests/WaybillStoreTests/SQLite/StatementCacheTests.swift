import Testing
import WaybillCore

@testable import WaybillStore

/// The cache keeps statements to avoid preparing them twice. Its size is limited, so a reader that asks something
/// different each time can't exhaust memory.
@Suite(.timeLimit(.minutes(5))) struct StatementCacheTests {
    private let connection: Connection

    init() throws { connection = try Store.inMemory().0.connection }

    private static let hot = "SELECT count(*) FROM events"

    /// Returns a statement like that of a filter with many words, with a unique text.
    private static func long(_ number: Int) -> String {
        let words = (0..<20).map { "EXISTS(SELECT 1 FROM events e WHERE e.detail LIKE '%\(number)-\($0)%')" }
        return "SELECT count(*) FROM parts p WHERE \(words.joined(separator: " AND "))"
    }

    /// Breaks when every new question stays in memory permanently.
    @Test func aThousandStatementsTakeNoMoreThanTheLimit() throws {
        for number in 0..<1_000 { _ = try connection.integer(Self.long(number)) }
        let (count, byteCount) = connection.keptStatements
        #expect((2..<200).contains(count), "\(count)")
        #expect(byteCount <= Connection.statementByteLimit, "\(byteCount)")
    }

    /// Breaks when a statement of the recording path is prepared again and again because of a reader.
    @Test func whatIsAskedForAllTheTimeStays() throws {
        let hot = try connection.statement(Self.hot)
        for number in 0..<1_000 {
            _ = try connection.integer(Self.long(number))
            #expect(try connection.statement(Self.hot) === hot)
        }
    }

    /// Breaks when a question of very many words displaces all frequently used statements, is prepared anew for each
    /// piece of one search, or stays in memory when the search is done.
    @Test func aVeryLongStatementTakesNobodysPlaceAndGoes() throws {
        func text(_ number: Int) -> String {
            "SELECT \(number) NOT IN (\((1...20_000).map { "\($0)" }.joined(separator: ", ")))"
        }
        let hot = try connection.statement(Self.hot)
        weak var last: Statement?
        for number in 30_000..<30_003 {
            let long = try connection.statement(text(number))
            #expect(long.byteCount > 1 << 20, "\(long.byteCount)")
            #expect(try connection.integer(text(number)) == 1)
            #expect(try connection.statement(text(number)) === long)
            #expect(last == nil, "one at a time")
            last = long
        }
        #expect(try connection.statement(Self.hot) === hot)
        #expect(connection.keptStatements.byteCount <= Connection.statementByteLimit / 4)
        let steps = connection.virtualMachineSteps
        connection.forgetLongStatement()
        #expect(last == nil && connection.virtualMachineSteps == steps)
    }

    /// Breaks when a statement is finalized during a read of its rows.
    @Test func whatIsBeingReadIsNotTakenAway() throws {
        let rows = try connection.statement(
            "WITH n(x) AS (VALUES(0) UNION ALL SELECT x + 1 FROM n) SELECT x FROM n LIMIT 500")
        rows.start()
        defer { rows.stop() }
        for number in 0..<500 {
            _ = try connection.integer(Self.long(number))
            #expect(try rows.next()?.int(0) == number)
        }
        #expect(try rows.next() == nil)
    }

    /// Breaks when the work of a statement is forgotten together with it. Bounds on work in other tests would then
    /// prove nothing.
    @Test func theStepsOfThoseThatWentAreCounted() throws {
        var steps = connection.virtualMachineSteps
        for number in 0..<300 {
            _ = try connection.integer(Self.long(number))
            #expect(connection.virtualMachineSteps > steps)
            steps = connection.virtualMachineSteps
        }
    }
}
