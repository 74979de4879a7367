import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@Suite(.timeLimit(.minutes(5))) struct FilterExpressionTests {
    private let names = [
        RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 3, name: "sync"),
        RecordedName(useCase: 4, name: "sync"),
        RecordedName(useCase: 0, event: 1, name: "requestSent"), RecordedName(useCase: 3, event: 1, name: "paid"),
    ]
    private let now: Int64 = 200_000_000_000

    private func filter(_ text: String) throws -> TransactionFilter {
        try FilterExpression(text).filter(names: names, now: now)
    }

    /// Breaks when the reason for an empty list repeats a text of any length.
    @Test func aValueIsNoLongerThanWhatIsRecorded() throws {
        #expect(try filter(String(repeating: "a", count: 4096)).conditions.count == 1)
        for start in ["", "-", "app:"] {
            let mistake = #expect(throws: FilterMistake.self) {
                try filter(start + String(repeating: "a", count: 4097))
            }
            #expect(mistake?.message == "A value in a filter has at most 4096 characters. Shorten it.")
        }
    }

    /// Breaks when one request checks so many terms on every row that the store does nothing else, or makes a statement
    /// of megabytes.
    @Test func aFilterHasAsManyTermsAsAreOfUse() throws {
        let words = (1...33).map { "-word\($0)" }
        #expect(try filter(words.prefix(32).joined(separator: " ")).conditions.count == 32)
        let text = words.joined(separator: " ")
        let mistake = #expect(throws: FilterMistake.self) { try filter(text) }
        #expect(mistake?.message == "A filter has at most 32 terms. Leave some out.")
        #expect(mistake?.marked(in: text)[1].hasSuffix(" ^^^^^^^") == true)
        let conditions = #"{"conditions":[\#(words.map { "\"\($0)\"" }.joined(separator: ","))]}"#
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(TransactionFilter.self, from: Data(conditions.utf8))
        }
        let methods = (1...33).map { "M\($0)" }
        #expect(throws: FilterMistake.self) {
            try FilterExpression("method:\(methods.joined(separator: ","))", about: .exchanges)
        }
        let json = #"{"methods":[\#(methods.map { "\"\($0)\"" }.joined(separator: ","))]}"#
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ExchangeFilter.self, from: Data(json.utf8)) }
    }

    @Test func everyTermReachesTheFilter() throws {
        var expected = TransactionFilter([
            .useCase(0), .outcome([.failed, .timedOut]), .sinceMicroseconds(now - 86_400_000_000),
            .untilMicroseconds(150_000_000_000),
        ])
        expected.order = .longest
        expected.beginner = .any
        expected.conditions += [
            .event("requestSent"), .error("401"),
            .finishError(
                RecordedError(domain: "HTTP", code: 503, underlying: [.init(domain: "a>b", code: 0, name: "7")])),
            .attribute("variant", value: "B"), .attribute("beta", value: nil),
            .status(400...499),
            .exchange(.failed), .app("shop"), .appVersion("1.2"), .device("iPhone17,1"), .os("iOS 18"),
            .osVersion("18.1"),
            .tookMoreThan(.seconds(2)), .tookLessThan(.milliseconds(1_500)), .not(.event("paid")), .text("wrong"),
            .not(.text("a:b \"c\"")),
        ]
        let text = """
            useCase:login outcome:failed,timed_out since:24h until:150000000000 beginner:any sort:longest event:requestSent error:401
            finishError:HTTP=503>a\\>b=\\7 attribute:variant=B attribute:beta status:4xx exchange:failed app:shop version:1.2 device:iPhone17,1 os:"iOS 18" osVersion:18.1
            took>2s took<1.5s -event:paid wrong -"a:b \\"c\\""
            """
        #expect(try filter(text) == expected)
    }

    /// Breaks when the link of an error leads to the transactions of another one, or to none.
    @Test(arguments: [
        RecordedError(code: 0), RecordedError(domain: "NSURLErrorDomain", code: -1001),
        RecordedError(domain: "", code: 0, name: ""), RecordedError(domain: "a b\"=\\>", code: 0, name: "-12"),
        RecordedError(domain: "E", code: 0, name: "\\x=>y", underlying: [.init(domain: "=>", code: .min)]),
        RecordedError(domain: "E", code: 1, underlying: [.init(domain: "", code: 0, name: "9")]),
    ])
    func theTermOfAFinishErrorMeansThisErrorOnly(error: RecordedError) throws {
        let condition = FilterCondition.finishError(error)
        #expect(try FilterCondition(condition.description) == condition)
        #expect(try filter("x \(condition)").conditions == [.text("x"), condition])
        #expect(try FilterCondition("-\(condition)") == .not(condition))
    }

    @Test(arguments: ["", "401", "E=1=2", "E=1>F", "E=1>F=2>G=3", "E=1\\"])
    func whatIsNoFinishErrorIsRefusedWithTheFormThatItHas(value: String) {
        let mistake = #expect(throws: FilterMistake.self) { try filter("finishError:\"\(value)\"") }
        #expect(value.isEmpty || value.hasSuffix("\\") || mistake?.message.contains("LoginError=rejected") == true)
    }

    @Test func noTermsLetEverythingThrough() throws {
        for text in ["", "  \n\t "] { #expect(try filter(text) == TransactionFilter()) }
    }

    @Test func outcomesThatAreTurnedRoundAreTheOthers() throws {
        #expect(
            try filter("-outcome:succeeded -outcome:open,failed").outcomes == [
                .cancelled, .abandoned, .interrupted, .timedOut,
            ])
    }

    @Test func aSecondUseCaseIsOneMoreCondition() throws {
        #expect(try filter("useCase:0 useCase:3").conditions == [.useCase(0), .useCase(3)])
        #expect(try filter("-useCase:login").conditions == [.not(.useCase(0))])
    }

    /// Breaks when a message or its position changes: a user sees the marks below.
    @Test(arguments: [
        ("outcme:failed", "^^^^^^", "There is no key “outcme”; did you mean “outcome”?"),
        ("x outcome:failed,okay", "                 ^^^^", "“okay” is no outcome; they are open"),
        ("outcome:faild", "        ^^^^^", "“faild” is no outcome; did you mean “failed”?"),
        (
            "event:requestsend x", "      ^^^^^^^^^^^",
            "No event here is called “requestsend”; did you mean “requestSent”?"
        ),
        ("useCase:\"logon\"", "         ^^^^^", "There is no use case “logon” here; did you mean “login”?"),
        ("useCase:sync", "        ^^^^", "The use cases 3, 4 are all called “sync”"),
        ("took:2s", "^^^^^^^", "Say took>2s or took<2s."), ("took>2", "     ^", "“2” is no duration"),
        ("status>400", "      ^", "Behind status stands “:”"), ("status:4x", "       ^^", "“4x” is no status"),
        ("since:noon", "      ^^^^", "“noon” is no time"),
        ("-since:24h", "^^^^^^^^^^", "A “-” does not go with since; say until."),
        (
            "beginner:nobody", "         ^^^^^^",
            "“nobody” is nothing that a beginner can be; they are known, unknown, any."
        ),
        ("-beginner:any", "^^^^^^^^^^^^^", "A “-” does not go with beginner; say beginner:known, unknown or any."),
        (
            "sampled:yes", "        ^^^", "“yes” is nothing that sampling says; they are chosen, unchosen, none."
        ),
        ("sampled:chose", "        ^^^^^", "“chose” is nothing that sampling says; did you mean “chosen”?"),
        ("oneIn:0", "      ^", "“0” is no such number: oneIn:100 is one in a hundred"),
        ("oneIn:1/100", "      ^^^^^", "“1/100” is no such number"),
        ("sort:fast", "     ^^^^", "“fast” is no order"), ("exchange:fail", "         ^^^^", "“fail” is no state"),
        ("a \"b", "  ^", "These quotes are not closed."), ("a \"\"", "  ^^", "There is nothing in these quotes."),
        ("\"a\"b", "   ^", "A space is missing here"), ("a\"b\"", " ^", "Quotes stand around all"),
        ("os:i\"b\"", "    ^", "Quotes stand around all"),
        ("\"a\\b\"", "  ^", "In quotes a “\\” stands before"), ("event: x", "     ^", "Nothing follows the “:”."),
        ("a - b", "  ^", "Nothing follows the “-”"),
        ("outcome:failed outcome:open", "                       ^^^^", "With this no outcome is left."),
        ("http://host", "^^^^", "There is no key “http”; there are useCase, outcome"),
    ])
    func aMistakeIsMarkedWhereItIs(text: String, mark: String, message: String) {
        let mistake = #expect(throws: FilterMistake.self) { try filter(text) }
        #expect(mistake?.message.hasPrefix(message) == true, "\(mistake?.message ?? "")")
        #expect(mistake?.marked(in: text) == [text, mark])
    }

    @Test func textIsCanonical() throws {
        #expect(
            try FilterExpression("  \"plain\"  os:\"iOS\"\n-event:\"a b\"").description == "plain os:iOS -event:\"a b\""
        )
    }

    /// Breaks when the text of any term is parsed as another term. Covers quotes, colons, marks that combine with a
    /// quote, and all kinds of spaces.
    @Test func whatIsWrittenIsReadBack() throws {
        var random = RandomNumbers(seed: 1)
        let pieces = [
            "a", "\"", "\\", ":", "<", ">", "-", "=", " ", "\n", "\u{301}", "\u{A0}", "👩‍👧", "\r\n", "event:", "\u{200B}",
            ",", "*", "7",
        ]
        for _ in 0..<5_000 {
            let value = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            let other = String(value.reversed())
            let conditions: [FilterCondition] = [
                .event(value), .error(value), .attribute(value, value: other), .attribute(value, value: nil),
                .app(value),
                .appVersion(value),
                .source(random.guid()), .installation(random.guid()),
                .device(value), .os(value), .osVersion(value), .text(value), .useCase(random.oneIn(2) ? 7 : 0),
                .status(401...401),
                .status(400...Int.random(in: 400...999, using: &random)), .exchange(.interrupted), .sampled(.unchosen),
                .oneIn(Int.random(in: 1...1_000_000, using: &random)),
                .tookMoreThan(.microseconds(Int.random(in: 0...9_999_999, using: &random))),
                .tookLessThan(.milliseconds(Int.random(in: 0...9_999, using: &random))),
            ]
            guard var condition = conditions.randomElement(using: &random) else { continue }
            if random.oneIn(2) { condition = .not(condition) }
            let text = condition.description
            #expect(try FilterCondition(text).description.unicodeScalars.elementsEqual(text.unicodeScalars), "\(text)")
            #expect(try FilterCondition(text) == condition, "\(text)")
            let expression = try FilterExpression("\(text)  x \(text)")
            #expect(try FilterExpression(expression.description) == expression)
            #expect(try FilterExpression(expression.description).description == expression.description)
        }
    }

    @Test func aFilterIsTheSameAfterJSON() throws {
        let filter = try filter("useCase:login outcome:failed -event:paid took>2s beginner:unknown sort:oldest \"a b\"")
        let json = try JSONEncoder().encode(filter)
        #expect(try JSONDecoder().decode(TransactionFilter.self, from: json) == filter)
        #expect(String(decoding: json, as: UTF8.self).contains(#""-event:paid""#))
        #expect(try JSONDecoder().decode(TransactionFilter.self, from: Data("{}".utf8)) == TransactionFilter())
    }

    /// Breaks when JSON gains or loses a condition of the filter.
    @Test func whatJSONHasNoMemberForIsAText() throws {
        let filters = [
            TransactionFilter([.outcome([.failed]), .outcome([.open])]),
            TransactionFilter([.useCase(1), .not(.outcome([.failed])), .useCase(2), .text("a"), .text("b")]),
        ]
        let texts = [#"["outcome:failed","outcome:open"]"#, #"["-outcome:failed","useCase:2","a","b"]"#]
        for (filter, conditions) in zip(filters, texts) {
            let json = try JSONEncoder().encode(filter)
            #expect(String(decoding: json, as: UTF8.self).contains(#""conditions":\#(conditions)"#))
            let read = try JSONDecoder().decode(TransactionFilter.self, from: json)
            #expect(
                read.conditions.map(\.description)
                    == filter.conditions.map(\.description).map {
                        $0 == "-outcome:failed"
                            ? "outcome:open,succeeded,cancelled,abandoned,interrupted,timed_out" : $0
                    })
        }
    }

    @Test(arguments: [
        ("80us", 80), ("500ms", 500_000), ("2s", 2_000_000), ("1.5s", 1_500_000), ("3m", 180_000_000),
        ("1h", 3_600_000_000),
    ])
    func durationsHaveUnits(text: String, microseconds: Int64) throws {
        #expect(try filter("took>\(text)").conditions == [.tookMoreThan(.microseconds(microseconds))])
    }

    /// Breaks when a misspelled process end silently finds nothing, or the case of a signal matters.
    @Test func anEndOfAProcessIsAWordOrASignal() throws {
        for (text, value) in [("ended:signal", "signal"), ("ended:sigsegv", "SIGSEGV"), ("ended:Reboot", "reboot")] {
            #expect(try FilterCondition(text) == .ended(value))
            #expect(try FilterCondition(text, about: .exchanges) == .ended(value))
        }
        for text in ["ended:sig", "ended:crash", "ended:", "ended>exit"] {
            #expect(throws: FilterMistake.self) { try FilterCondition(text) }
        }
    }
}
