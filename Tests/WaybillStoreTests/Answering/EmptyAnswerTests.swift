import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// An empty answer gives its reason: an empty store, a filter that excludes everything, or a question that nothing
/// matches.
@Suite(.timeLimit(.minutes(5))) struct EmptyAnswerTests {
    private let store: Store
    private let reader: StoreReader

    init() throws {
        let place: ResolvedLocation
        (store, place) = try Store.inMemory()
        reader = try StoreReader(place)
    }

    private func why(_ query: any Question) throws -> String? {
        try reader.answer(query, now: FactWriter.wall).whyEmpty
    }

    /// Records two logins: one begins and succeeds with one event, the other does not.
    private func fill() throws -> TransactionFilter {
        let writer = FactWriter()
        writer.names = [
            RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 0, event: 1, name: "sent"),
            RecordedName(useCase: 0, event: 2, name: "received"),
        ]
        let part = writer.open(GUID(high: 1, low: 1))
        writer.event(1, part: part)
        writer.close(part, .succeeded)
        writer.close(writer.open(GUID(high: 1, low: 2)), .failed)
        try store.ingest(writer.set())
        let filter = TransactionFilter([.useCase(0)])
        return filter
    }

    private func everything(_ filter: TransactionFilter) -> [any Question] {
        [
            SummaryQuestion(filter: filter), DurationQuestion(filter: filter),
            MeasureQuestion(filter: filter, attribute: "bytes"),
            TransitionsQuestion(filter: filter), FunnelQuestion(filter: filter, steps: [.begun]),
            DropOffQuestion(filter: filter), LegsQuestion(filter: filter), NetworkQuestion(transactions: filter),
            CompareQuestion(filter: filter, groups: .values(of: .app, "a", "b")), ErrorsQuestion(filter: filter),
            WhyQuestion(filter: filter),
        ]
    }

    @Test func ofAnEmptyStoreEveryAnswerSaysSo() throws {
        let filter = TransactionFilter([.useCase(0)])
        for query in everything(filter) {
            #expect(try why(query) == "There is no transaction here: the store is empty.", "\(query)")
        }
        #expect(try why(NetworkQuestion()) == "There is no exchange here.")
    }

    @Test func aFilterThatLetsNothingThroughIsNamed() throws {
        var filter = try fill()
        filter.conditions.append(.outcome([.cancelled]))
        for query in everything(filter) {
            #expect(try why(query) == "None of the 2 transactions of login here is cancelled.", "\(query)")
        }
    }

    @Test func aQuestionThatNothingFitsIsNamed() throws {
        let filter = try fill()
        #expect(
            try why(DurationQuestion(filter: filter, from: .event("sent"), to: .event("received")))
                == "None of the 2 transactions that count has “sent” and then “received”: 1 only “sent”, 0 both the other way round."
        )
        #expect(
            try why(DurationQuestion(filter: filter, from: .finished, to: .event("sent")))
                == "None of the 2 transactions that count has an outcome and then “sent”: 1 only an outcome, 1 both the other way round."
        )
        #expect(
            try why(ErrorsQuestion(filter: filter)) == "None of the 2 transactions that count closed with an error.")
        #expect(try why(TransitionsQuestion(filter: filter)) == "None of the 2 transactions that count has two events.")
        #expect(
            try why(FunnelQuestion(filter: filter, steps: [.event("received"), .finished]))
                == "None of the 2 transactions that count gets to the first step, “received”.")
        #expect(
            try why(DropOffQuestion(filter: filter))
                == "None of the 2 transactions of login here is abandoned or interrupted or timed out.")
        #expect(
            try why(NetworkQuestion(transactions: filter)) == "None of the 2 transactions that count has an exchange.")
        #expect(
            try why(LegsQuestion(filter: filter))
                == "None of the 2 transactions that count was closed with an exchange: 0 without a close, 2 without an exchange."
        )
        let gets = ExchangeFilter([.method(["GET"])])
        #expect(
            try why(NetworkQuestion(filter: gets, transactions: filter))
                == "None of the 2 transactions that count has an exchange that passes the filter.")
        #expect(
            try why(
                CompareQuestion(
                    filter: filter,
                    groups: .windows(Range(microseconds: 0..<FactWriter.wall * 2), Range(microseconds: -2_000_000..<0)))
            )
                == "None of the 2 transactions that count belongs to “1969-12-31T23:59:58Z/1970-01-01T00:00:00Z”.")
    }

    @Test func anAnswerThatHasSomethingGivesNoReason() throws {
        let filter = try fill()
        for query: any Question in [
            SummaryQuestion(), DurationQuestion(filter: filter),
            FunnelQuestion(filter: filter, steps: [.event("sent")]),
            CompareQuestion(
                filter: filter,
                groups: .windows(
                    Range(microseconds: 0..<FactWriter.wall + 3_000_000),
                    Range(microseconds: FactWriter.wall + 3_000_000..<FactWriter.wall * 2))),
        ] {
            #expect(try why(query) == nil, "\(query)")
        }
    }
}
