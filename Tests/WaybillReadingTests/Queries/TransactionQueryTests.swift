import Testing
import WaybillCore
import WaybillReading

@Suite(.timeLimit(.minutes(5))) struct TransactionQueryTests {
    private let useCases = [
        RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 3, name: "sync"), RecordedName(useCase: 4, name: "sync"),
        RecordedName(useCase: 0, event: 1, name: "requestSent"),
    ]

    @Test func everyParameterReachesTheFilter() throws {
        let query = try TransactionQuery([
            ("use_case", "login"), ("outcome", "failed,timed_out"), ("since", "1h"), ("until", "5000000"), ("text", "K7QD"), ("limit", "7"),
            ("cursor", "here"),
        ])
        var expected = TransactionFilter()
        expected.useCase = 0
        expected.outcomes = [.failed, .timedOut]
        expected.sinceMicroseconds = 6_400_000_000
        expected.untilMicroseconds = 5_000_000
        expected.text = "K7QD"
        #expect(try query.filter(names: useCases, now: 10_000_000_000) == expected)
        #expect(try query.pageSize() == 7)
        #expect(query.cursor == "here")
    }

    @Test func aQueryWithoutParametersLetsEverythingThrough() throws {
        let query = TransactionQuery()
        #expect(try query.filter(names: [], now: 0) == TransactionFilter())
        #expect(try query.pageSize() == 50)
        #expect(query.items.isEmpty)
    }

    @Test func whatIsWrittenIsReadBack() throws {
        var query = TransactionQuery()
        query.useCase = "3"
        query.outcome = "open"
        query.text = "a b&c"
        #expect(try TransactionQuery(query.items) == query)
    }

    @Test func aCodeNeedsNoName() throws {
        #expect(try TransactionQuery([("use_case", "17")]).filter(names: [], now: 0).useCase == 17)
    }

    @Test(arguments: [
        ("use_case", "logon", "There is no use case “logon” here; did you mean “login”?"),
        ("use_case", "sync", "The use cases 3, 4 are all called “sync”; give one of the codes."),
        ("use_case", "Synk", "There is no use case “Synk” here; did you mean “sync”?"),
        ("use_case", "requestSent", "There is no use case “requestSent” here; known are login, sync."),
        ("outcome", "ok", "“ok” is no outcome. They are: open, succeeded, failed, canceled, abandoned, interrupted, timed_out."),
        ("since", "noon", "“noon” is no time: give \(TimeExpression.forms)."),
        ("until", "-1", "“-1” is no time: give \(TimeExpression.forms)."),
    ])
    func whatCannotBeReadIsNamed(parameter: String, value: String, message: String) {
        #expect(throws: QueryFailure.parameter(parameter, message)) {
            try TransactionQuery([(parameter, value)]).filter(names: useCases, now: 0)
        }
    }

    @Test(arguments: ["0", "501", "-1", "many", ""])
    func aLimitOutOfBoundsIsNamed(limit: String) {
        #expect(throws: QueryFailure.parameter("limit", "“\(limit)” is not a number from 1 to 500.")) {
            try TransactionQuery([("limit", limit)]).validate()
        }
    }

    @Test func aMisspeltParameterIsNotIgnored() {
        #expect(throws: QueryFailure.self) { try TransactionQuery([("usecase", "0")]) }
    }
}
