import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

/// Textual filters of network exchanges.
@Suite(.timeLimit(.minutes(5))) struct ExchangeFilterExpressionTests {
    private let names = [
        RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 0, event: 1, name: "requestSent"),
    ]
    private let now: Int64 = 200_000_000_000

    private func filter(_ text: String) throws -> ExchangeFilter {
        try FilterExpression(text, about: .exchanges).filter(names: names, now: now)
    }

    @Test func everyTermReachesTheFilter() throws {
        var expected = ExchangeFilter([
            .useCase(0), .outcome([.failed, .timedOut]), .sinceMicroseconds(now - 86_400_000_000),
            .untilMicroseconds(150_000_000_000),
        ])
        expected.conditions += [
            .host("example.com"), .path("/orders"), .method(["GET", "HEAD"]), .status(400...499),
            .state([.failed, .inProgress]),
            .error("-1001"), .tookMoreThan(.seconds(2)), .tookLessThan(.seconds(3)),
            .receivedMoreThan(100_000), .receivedLessThan(1_500_000),
            .app("shop"), .appVersion("1.2"), .device("x"), .os("iOS 18"), .osVersion("18.1"), .event("requestSent"),
            .not(.attribute("variant", value: "B")), .not(.host("cdn.example.com")), .text("wrong"), .not(.text("a:b")),
            .closeCode(1006...1006), .not(.closeCode(1002...1015)),
        ]
        let text = """
            useCase:login outcome:failed,timed_out since:24h until:150000000000 host:example.com path:/orders method:GET,HEAD status:4xx
            state:failed,in_progress error:-1001 took>2s took<3s size>100kB size<1.5MB app:shop version:1.2 device:x os:"iOS 18" osVersion:18.1
            event:requestSent -attribute:variant=B -host:cdn.example.com wrong -"a:b" close:1006 -close:1002-1015
            """
        #expect(try filter(text) == expected)
        #expect(try filter("  ") == ExchangeFilter())
    }

    /// Breaks when a message or its position changes: a user sees the marks below.
    @Test(arguments: [
        ("hst:x", "^^^", "There is no key “hst”; did you mean “host”?"),
        ("x state:failed,okay", "               ^^^^", "“okay” is no state of an exchange; they are in_progress"),
        ("state:faild", "      ^^^^^", "“faild” is no state of an exchange; did you mean “failed”?"),
        ("exchange:failed", "^^^^^^^^", "An exchange is told by its own state: say state:failed."),
        ("sort:longest", "^^^^", "Network exchanges come newest first"),
        ("beginner:any", "^^^^^^^^", "Network exchanges are listed whoever began their transaction"),
        ("size:1kB", "^^^^^^^^", "Say size>100kB or size<100kB."),
        ("size>1kiB", "     ^^^^", "“1kiB” is no size"), ("host>x", "    ^", "Behind host stands “:”"),
        ("method:,", "       ^", "“,” is no method"),
        ("a event:requestsend", "        ^^^^^^^^^^^", "No event here is called “requestsend”"),
        ("useCase:logon", "        ^^^^^", "There is no use case “logon” here; did you mean “login”?"),
        ("status:4x", "       ^^", "“4x” is no status"),
        ("close:4xx", "      ^^^", "“4xx” is no close code of a WebSocket: give 1006 or 1002-1015."),
        ("close:70000", "      ^^^^^", "“70000” is no close code"),
        ("-since:24h", "^^^^^^^^^^", "A “-” does not go with since; say until."),
    ])
    func aMistakeIsMarkedWhereItIs(text: String, mark: String, message: String) {
        let mistake = #expect(throws: FilterMistake.self) { try filter(text) }
        #expect(mistake?.message.hasPrefix(message) == true, "\(mistake?.message ?? "")")
        #expect(mistake?.marked(in: text) == [text, mark])
    }

    @Test(arguments: ["host:x", "path:/", "method:GET", "state:failed", "size>1kB", "close:1006"])
    func aFilterOfTransactionsSaysThatAKeyGoesWithExchanges(text: String) {
        let mistake = #expect(throws: FilterMistake.self) { try FilterExpression(text) }
        #expect(mistake?.message.contains("goes with network exchanges") == true)
        #expect(mistake?.offset == 0)
    }

    /// Breaks when the text of any term is parsed as another term.
    @Test func whatIsWrittenIsReadBack() throws {
        var random = RandomNumbers(seed: 2)
        let pieces = ["a", "\"", "\\", ":", "<", ">", "-", "=", " ", "\n", "\u{301}", "event:", "/", ".", "*", "7"]
        for _ in 0..<3_000 {
            let value = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            let conditions: [FilterCondition] = [
                .host(value), .path(value), .error(value), .app(value), .appVersion(value), .device(value), .os(value),
                .osVersion(value),
                .event(value), .attribute(value, value: String(value.reversed())), .attribute(value, value: nil),
                .text(value), .useCase(7),
                .method(["GET", "PURGE"]), .status(400...Int.random(in: 400...999, using: &random)),
                .state([.mocked, .interrupted]),
                .tookMoreThan(.microseconds(Int64.random(in: 0...9_999_999, using: &random))),
                .tookLessThan(.milliseconds(5)),
                .receivedMoreThan(Int64.random(in: 0...9_999_999, using: &random)),
                .receivedLessThan(1_000 * Int64.random(in: 0...9_999, using: &random)),
            ]
            guard var condition = conditions.randomElement(using: &random) else { continue }
            if random.oneIn(2) { condition = .not(condition) }
            #expect(try FilterCondition(condition.description, about: .exchanges) == condition, "\(condition)")
            let expression = try FilterExpression("\(condition) x", about: .exchanges)
            #expect(
                try JSONDecoder().decode(FilterExpression.self, from: JSONEncoder().encode(expression)) == expression)
        }
    }

    @Test func whatIsMoreThanAConditionIsRefused() {
        for text in ["", "sort:newest", "since:24h", "host:a host:b", "host:a since:1h"] {
            #expect(throws: FilterMistake.self, "\(text)") { try FilterCondition(text, about: .exchanges) }
        }
    }

    @Test(arguments: [
        ("500B", 500), ("100kB", 100_000), ("100KB", 100_000), ("1.5MB", 1_500_000), ("2gb", 2_000_000_000),
    ])
    func sizesHaveUnits(text: String, byteCount: Int64) throws {
        #expect(try filter("size>\(text)").conditions == [.receivedMoreThan(byteCount)])
    }
}
