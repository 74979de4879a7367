import Testing
import WaybillCore

@testable import WaybillStore

/// Reading restores the values that rows leave out to stay small.
@Suite(.timeLimit(.minutes(5))) struct FactRowTests {
    private let store: Store
    private let app = FactWriter()

    init() throws { (store, _) = try Store.inMemory() }

    private func recorded() throws -> [Fact] {
        try app.record(into: store)
        return try store.facts(of: app.id)
    }

    /// Breaks when an event at the end of one statement's batch is lost, or gets the values of another event.
    @Test(arguments: [1, 15, 16, 17, 33]) func eventsOfAnyNumberComeBack(count: Int) throws {
        let parts = (0..<3).map { _ in app.open(GUID()) }
        for number in 0..<count {
            app.event(number, part: parts[number % 3], attributes: number % 4 == 0 ? ["number": .integer(number)] : [:])
        }
        #expect(try recorded() == app.facts)
    }

    /// Breaks when an event's error loses its code, which is stored beside its text and not in a column.
    @Test(arguments: [0, 401, -1_009, Limits.largestInteger, -Limits.largestInteger]) func anEventKeepsItsError(
        code: Int64
    ) throws {
        let part = app.open(GUID())
        app.event(1, part: part, error: RecordedError(code: code))
        app.event(2, part: part, error: RecordedError(domain: "HTTP", code: code, text: "no"), attributes: ["a": 1])
        app.event(3, part: part)
        app.event(
            4, part: part,
            error: RecordedError(
                domain: "Shop", code: code, name: "rejected", underlying: [.init(code: code, name: "n")]))
        #expect(try recorded() == app.facts)
    }

    /// Breaks when a person in the shell does not see an error's code or name.
    @Test func theViewsShowCodeAndNameOfAnError() throws {
        app.event(1, part: app.open(GUID()), error: RecordedError(domain: "HTTP", code: 401))
        let part = app.open(GUID())
        let error = RecordedError(domain: "Shop", code: 3, name: "rejected")
        app.event(1, part: part, error: error)
        app.close(part, .failed, error: error)
        try app.record(into: store)
        try store.connection.execute("PRAGMA trusted_schema = ON")
        #expect(
            try store.connection.integer(
                "SELECT error_code FROM timeline WHERE kind = 'event' AND error_domain = 'HTTP'") == 401)
        #expect(
            try store.connection.integer(
                "SELECT count(*) FROM timeline WHERE error_name = 'rejected' AND kind IN ('event', 'finished')") == 2)
        #expect(
            try store.connection.integer("SELECT count(*) FROM transactions WHERE error_name = 'rejected'") == 1)
        #expect(try store.connection.integer("SELECT count(*) FROM network WHERE error_name IS NOT NULL") == 0)
    }

    /// Breaks when a timeout is mistaken for the default, or the default for no timeout.
    @Test(arguments: [0, 1, 86_400_000_000, 1 << 52]) func aPartKeepsItsTimeout(timeout: Int64) throws {
        app.open(GUID(), timeout: timeout)
        #expect(try recorded() == app.facts)
        #expect(try store.connection.integer("SELECT timeout_us FROM parts") == timeout)
    }

    /// Breaks when a part whose closing is not its last fact, or not its latest, is settled too early, or appears idle.
    @Test(arguments: [[1, 2, 3, 4], [4, 3, 2, 1], [3, 1, 4, 2], [2, 4, 1, 3]]) func lastIsTheHighestWhateverComesLast(
        order: [Int]
    ) throws {
        let early = app.open(GUID(), at: 1)
        app.event(1, part: early, at: 2)
        app.close(early, .succeeded, at: 9)
        app.event(2, part: early, at: 5)
        try store.register(app.source)
        for sequence in order { try store.append(RecordedBatch(source: app.id, facts: [app.facts[sequence - 1]])) }
        #expect(try store.connection.integer("SELECT last FROM parts") == 4)
        #expect(try store.connection.integer("SELECT last_at_us FROM parts") == 9_000_000)
        #expect(
            try store.connection.integer("SELECT count(*) FROM parts WHERE beyond = 4 AND beyond_at_us IS NULL") == 1)
    }

    /// Breaks when rows grow. One byte more for each event is three percent of all stored data.
    @Test(arguments: [(8, 46), (20, 34), (50, 29)]) func aPlainEventTakesFewBytes(eventsEach: Int, limit: Int) throws {
        let pages = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        let empty = try store.connection.integer(pages)
        try store.register(app.source)
        let transactionCount = 20_000 / eventsEach
        // These times take six bytes, because they are half an hour after the start.
        for _ in 0..<transactionCount {
            let part = app.open(GUID(), at: 3_600 + app.facts.count)
            for code in 1...eventsEach { app.event(code, part: part) }
            app.close(part, .succeeded)
        }
        let count = Int64(app.facts.count)
        for first in stride(from: 1, through: count, by: 5_000) {
            try app.record(into: store, first...min(first + 4_999, count))
        }
        #expect(try store.connection.integer(pages) - empty <= limit * transactionCount * eventsEach)
    }
}
