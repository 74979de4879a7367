import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@Suite(.timeLimit(.minutes(5))) struct ListRequestTests {
    private let names = [
        RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 3, name: "sync"),
        RecordedName(useCase: 4, name: "sync"),
        RecordedName(useCase: 0, event: 1, name: "requestSent"),
    ]
    private let now: Int64 = 10_000_000_000

    @Test func everyParameterReachesTheFilterOfTransactions() throws {
        let request = try ListRequest(
            [
                ("use_case", "login"), ("outcome", "failed,timed_out"), ("since", "1h"), ("until", "5000000"),
                ("text", "K7QD"),
                ("filter", "app:shop sort:oldest"), ("limit", "7"), ("cursor", "here"),
            ], about: .transactions)
        var expected = TransactionFilter([
            .useCase(0), .outcome([.failed, .timedOut]), .sinceMicroseconds(6_400_000_000),
            .untilMicroseconds(5_000_000), .text("K7QD"), .app("shop"),
        ])
        expected.order = .oldest
        #expect(try request.filter(names: names, now: now) == expected)
        #expect(try request.pageSize() == 7)
        #expect(request[.cursor] == "here")
    }

    @Test func everyParameterReachesTheFilterOfExchanges() throws {
        let request = try ListRequest(
            [
                ("use_case", "17"), ("outcome", "failed"), ("text", "a b"), ("method", "GET,HEAD"), ("status", "4xx"),
                ("state", "failed,in_progress"), ("filter", "host:example.com"),
            ], about: .exchanges)
        let expected = ExchangeFilter([
            .useCase(17), .outcome([.failed]), .text("a b"), .method(["GET", "HEAD"]), .status(400...499),
            .state([.failed, .inProgress]),
            .host("example.com"),
        ])
        #expect(try request.filter(names: [], now: now) == expected)
    }

    @Test func everyParameterReachesTheFilterOfSources() throws {
        var expected = SourceFilter()
        (expected.app, expected.text, expected.order) = ("shop", "ios 18", .newest)
        let request = try ListRequest([("app", "shop"), ("text", "ios 18"), ("sort", "newest")], about: .sources)
        #expect(try request.sourceFilter() == expected)
        #expect(ListRequest(matching: expected) == request)
    }

    @Test func aRequestWithoutParametersIsForEverything() throws {
        let request = ListRequest()
        #expect(try request.filter(names: [], now: now) == TransactionFilter())
        #expect(try request.filter(names: [], now: now) == ExchangeFilter())
        #expect(try request.sourceFilter() == SourceFilter())
        #expect(try request.pageSize() == 50)
        #expect(request.items.isEmpty)
    }

    /// Breaks when a form with empty fields no longer shows the whole list.
    @Test func anEmptyTextOrListIsNoCondition() throws {
        let empty = try ListRequest([("outcome", ","), ("text", ""), ("method", ""), ("state", "")], about: .exchanges)
        #expect(try empty.filter(names: [], now: now) == ExchangeFilter())
        let gaps = try ListRequest([("outcome", ",failed,,open,")], about: .transactions)
        #expect(try (gaps.filter(names: [], now: now) as TransactionFilter).outcomes == [.failed, .open])
    }

    @Test(arguments: [
        ("use_case", "logon", "There is no use case “logon” here; did you mean “login”?"),
        ("use_case", "sync", "The use cases 3, 4 are all called “sync”; give one of the codes."),
        ("use_case", "Synk", "There is no use case “Synk” here; did you mean “sync”?"),
        ("use_case", "requestSent", "There is no use case “requestSent” here; known are login, sync."),
        (
            "outcome", "lost",
            "“lost” is no outcome; they are open, succeeded, failed, cancelled, abandoned, interrupted, timed_out."
        ),
        ("since", "noon", "“noon” is no time: give \(TimeExpression.forms)."),
        ("until", "-1", "“-1” is no time: give \(TimeExpression.forms)."),
        ("status", "9xx", "“9xx” is no status: give 404, 1xx to 5xx, or 400-499."),
        ("status", "", "“” is no status: give 404, 1xx to 5xx, or 400-499."),
        ("state", "faild", "“faild” is no state of an exchange; did you mean “failed”?"),
    ])
    func whatCannotBeReadIsNamed(parameter: String, value: String, message: String) throws {
        let request = try ListRequest([(parameter, value)], about: .exchanges)
        #expect(throws: QueryFailure.parameter(parameter, message)) {
            try request.filter(names: names, now: now) as ExchangeFilter
        }
    }

    @Test(arguments: ["0", "501", "-1", "many", ""])
    func aLimitOutOfBoundsIsNamed(limit: String) throws {
        for subject in ListRequest.Subject.allCases {
            #expect(throws: QueryFailure.parameter("limit", "“\(limit)” is not a number from 1 to 500.")) {
                try ListRequest([("limit", limit)], about: subject).validate(about: subject)
            }
        }
    }

    @Test func aParameterThatTheListDoesNotHaveIsNotIgnored() throws {
        #expect(throws: QueryFailure.self) { try ListRequest([("usecase", "0")], about: .transactions) }
        #expect(throws: QueryFailure.self) { try ListRequest([("method", "GET")], about: .transactions) }
        #expect(throws: QueryFailure.self) { try ListRequest(conditions: [("limit", "1")], about: .transactions) }
        var request = ListRequest()
        request[.method] = "GET"
        #expect(throws: QueryFailure.self) { try request.filter(names: [], now: now) as TransactionFilter }
        #expect(throws: QueryFailure.self) { try request.sourceFilter() }
    }

    /// Breaks when a request asks the store for something else than its filter.
    @Test func aFilterOfTransactionsIsTheSameAfterItWasWritten() throws {
        var random = RandomNumbers(seed: 3)
        for _ in 0..<2_000 {
            var filter = TransactionFilter()
            filter.order = TransactionFilter.Order.allCases.randomElement(using: &random) ?? .newest
            filter.beginner = TransactionFilter.Beginner.allCases.randomElement(using: &random) ?? .known
            let text =
                ["a b", "-x", "\"", "a:b", "sort:oldest", "\\=", "\n", "24h"].randomElement(using: &random) ?? ""
            let time = Int64.random(in: 0...9_000_000_000_000_000, using: &random)
            let outcomes = Set(TransactionOutcome.allCases.filter { _ in random.oneIn(3) })
            let conditions: [FilterCondition] = [
                .useCase(Int.random(in: 0...9, using: &random)), .outcome(outcomes.isEmpty ? [.open] : outcomes),
                .sinceMicroseconds(time), .untilMicroseconds(time / 2), .text(text), .not(.useCase(3)), .event(text),
                .attribute(text, value: text), .os(text), .not(.text(text)),
                .status(0...999),
            ]
            filter.conditions = conditions.filter { _ in random.oneIn(3) }
            let request = ListRequest(matching: filter, limit: 9, cursor: "here")
            #expect(try ListRequest(request.items, about: .transactions) == request)
            #expect(try request.filter(names: nil, now: 0) == filter, "\(request.items)")
            #expect(request[.limit] == "9" && request[.cursor] == "here")
        }
    }

    @Test func aFilterOfExchangesIsTheSameAfterItWasWritten() throws {
        let filter = ExchangeFilter([
            .text("a \"b\""), .method(["GET", "PUT"]), .status(404...404), .state([.failed, .inProgress]),
        ])
        #expect(try ListRequest(matching: filter).filter(names: names, now: now) == filter)
    }

    /// Breaks when a filter from long ago, or with impossible statuses, makes a text that nobody can read.
    @Test func whatHasNoWordsIsWrittenAsTheNearestThatHas() throws {
        let filter = ExchangeFilter([.since(.distantPast), .status(-1...2_000)])
        let read: ExchangeFilter = try ListRequest(matching: filter).filter(names: [], now: now)
        #expect(read.conditions == [.sinceMicroseconds(0), .status(0...999)])
    }
}
