import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct WhyEmptyTests {
    private let store: Store
    private let place: ResolvedLocation

    init() throws { (store, place) = try Store.inMemory() }

    private func why(_ change: (inout TransactionFilter) -> Void) throws -> String {
        var filter = TransactionFilter()
        change(&filter)
        return try StoreReader(place).whyEmpty(filter, now: FactWriter.wall)
    }

    @Test func anEmptyStoreIsSaidToBeEmpty() throws {
        #expect(
            try why { $0.conditions.append(.outcome([.failed])) } == "There is no transaction here: the store is empty."
        )
    }

    /// Breaks when someone looks for a server's facts and reads that nothing exists.
    @Test func transactionsWhoseBeginnerIsNotKnownAreMentioned() throws {
        let server = FactWriter("server")
        server.open(GUID(), joined: true)
        try store.ingest(server.set())
        let hint = " Of some that would be listed only joined parts are known; beginner:any lists them, too."
        #expect(try why { _ in } == "Of no transaction here it is known who began it.\(hint)")
        #expect(try why { $0.beginner = .unknown } == "1 transaction can be listed.")
        let app = FactWriter()
        app.close(app.open(GUID(), useCase: 1), .failed)
        try store.ingest(app.set())
        #expect(
            try why { $0.conditions.append(.useCase(0)) }
                == "There is no transaction of use case 0 here; there are some of use case 1.\(hint)")
        #expect(
            try why { $0.conditions.append(.useCase(3)) }
                == "There is no transaction of use case 3 here; there are some of use case 1.")
        #expect(
            try why {
                $0.beginner = .unknown
                $0.conditions.append(.outcome([.failed]))
            } == "The only transaction here is not failed.")
    }

    /// Breaks when a condition is blamed that does match something, or when the sentence does not say what exists
    /// instead.
    @Test func theConditionThatLetsNothingThroughIsNamed() throws {
        let app = FactWriter(wall: FactWriter.wall)
        app.names = [RecordedName(useCase: 0, name: "login")]
        app.close(app.open(GUID(), at: 1), .failed)
        app.close(app.open(GUID(), at: 10), .failed)
        app.close(app.open(GUID(), useCase: 7, at: 20), .succeeded)
        try store.ingest(app.set())
        #expect(
            try why { $0.conditions.append(.useCase(3)) }
                == "There is no transaction of use case 3 here; there are some of login, use case 7.")
        #expect(
            try why {
                $0.conditions.append(.useCase(0))
                $0.conditions.append(.outcome([.cancelled, .timedOut]))
            } == "None of the 2 transactions of login here is cancelled or timed out.")
        #expect(
            try why {
                $0.conditions.append(.outcome([.failed]))
                $0.conditions.append(.sinceMicroseconds(FactWriter.wall + 15_000_000))
            }
                == "There are 2 failed transactions here, but none began since 2025-10-09T08:53:35Z; the newest began at 2025-10-09T08:53:30Z."
        )
        #expect(
            try why { $0.conditions.append(.sinceMicroseconds(Int64.max.bounded)) }
                .contains("but none began since the year 2255; the newest"))
        #expect(
            try why {
                $0.conditions.append(.useCase(7))
                $0.conditions.append(.untilMicroseconds(FactWriter.wall))
            }
                == "There is 1 transaction of use case 7 here, but none began before 2025-10-09T08:53:20Z; the newest began at 2025-10-09T08:53:40Z."
        )
        #expect(
            try why { $0.conditions.append(.text("nowhere")) } == "None of the 3 transactions here mentions “nowhere”.")
        #expect(try why { $0.conditions.append(.useCase(0)) } == "2 transactions of login can be listed.")
    }

    /// Breaks when an empty list of a large store waits until all of its transactions are counted.
    @Test func ofManyTransactionsOnlyThatIsSaid() throws {
        let app = FactWriter(wall: FactWriter.wall)
        for _ in 0..<EmptyReason.countLimit { app.open(GUID()) }
        try store.ingest(app.set())
        #expect(
            try why { $0.conditions.append(.text("nowhere")) }
                == "None of the 1000 transactions here mentions “nowhere”.")
        app.open(GUID())
        try store.ingest(app.set())
        #expect(
            try why { $0.conditions.append(.text("nowhere")) }
                == "None of more than 1000 transactions here mentions “nowhere”.")
        #expect(try why { _ in } == "More than 1000 transactions can be listed.")
        #expect(
            try why { $0.conditions.append(.outcome([.failed])) }
                == "None of more than 1000 transactions here is failed.")
    }
}
