import Foundation
import Testing
import Waybill
import WaybillCore

@testable import WaybillInspector

/// Rules as JSON that people edit, and the rules parsed from it.
@Suite(.timeLimit(.minutes(5))) struct RuleEditingTests {
    private static let secret = "hunter22sunny"
    private let redactor = Redactor()

    private static func mock(
        _ fields: [(String, String)] = [], _ body: Data = Data(), status: Int = 200, delay: Duration = .zero,
        longest: Duration? = nil
    ) -> NetworkRule.Action {
        .mock(
            NetworkRule.Response(
                status: status, headerFields: fields.map { HeaderField(name: $0.0, value: $0.1) }, body: body,
                delay: delay, maximumDelay: longest))
    }

    /// Covers all members of rules, and values that an app can write but nobody would type.
    private static let rules: [NetworkRule] = [
        NetworkRule("plain", mock()),
        NetworkRule("off", mock(status: 503), times: 3, isEnabled: false),
        NetworkRule(
            "conditions",
            matching: RequestPattern(
                method: "POST", url: .regex("^https://.*\\?page=1", ignoresCase: true), host: .glob("*.example.com"),
                path: .contains("/v1/"), headerFields: ["Accept": .contains("json"), "X-Empty": ""],
                body: .contains("a\r\nb")),
            mock([("Content-Type", "text/plain"), ("X-Two", "1"), ("X-Two", "2")], Data("one\r\ntwo\n".utf8))),
        NetworkRule(
            "secrets",
            matching: RequestPattern(
                url: .contains("?token=\(secret)"), path: .exact("/reset/\(secret)"),
                headerFields: ["Authorization": .exact("Bearer \(secret)"), "Cookie": .contains(secret)],
                body: .contains("password=\(secret)")),
            mock(
                [("Set-Cookie", "session=\(secret)"), ("Content-Type", "application/json")],
                Data(#"{"access_token":"\#(secret)","name":"Ada"}"#.utf8))),
        NetworkRule("Bearer \(secret)", mock()),
        NetworkRule("a picture", mock([], Data([0x89, 0x50, 0xFF, 0, 1]))),
        NetworkRule("a long body", mock([], Data(repeating: 0x61, count: NetworkRule.bodyLimit + 1))),
        NetworkRule("an empty body", matching: RequestPattern(body: ""), mock()),
        NetworkRule("delays", mock(delay: .microseconds(1_500), longest: .seconds(90))),
        NetworkRule("slow", .throttle(NetworkRule.Throttle(latency: .milliseconds(250), bytesPerSecond: 20_000))),
        NetworkRule("slower", .throttle(NetworkRule.Throttle(maximumLatency: .seconds(2)))),
        NetworkRule("fails", .fail(.timedOut, after: .seconds(5), upTo: .seconds(6))),
        NetworkRule("cut", .cut(afterByteCount: 1_000)),
    ]

    private func shown(_ rule: NetworkRule) -> String {
        String(decoding: redactor.redacted(rule).value.json, as: UTF8.self)
    }

    /// Breaks when opening and saving a rule changes it, especially when the text saved is the placeholder of a secret.
    @Test(arguments: rules) func aRuleThatIsSavedAsItWasShownIsTheSame(rule: NetworkRule) throws {
        let shown = shown(rule)
        #expect(!shown.contains(Self.secret))
        // A browser sends a form with these line breaks.
        let sent = shown.replacing("\n", with: "\r\n")
        #expect(try NetworkRule(typed: sent, editing: rule, redactor) == rule)
        if "\(rule)".contains(Self.secret) {
            #expect(
                try NetworkRule(typed: sent, editing: nil, redactor) != rule, "Without the rule they cannot be known.")
        }
    }

    /// Breaks when a redacted regular expression is invalid, which would make its rule impossible to save.
    @Test func anExpressionWithASecretIsShownAsOneThatCanBeSaved() throws {
        for expression in ["(token=\(Self.secret))", "^/reset/(?:token=\(Self.secret)|x)$"] {
            let rule = NetworkRule("a", matching: RequestPattern(path: .regex(expression)), Self.mock())
            #expect(!shown(rule).contains(Self.secret))
            #expect(try NetworkRule(typed: shown(rule), editing: rule, redactor) == rule)
        }
        let broken = NetworkRule("a", matching: RequestPattern(path: .regex("token=\(Self.secret)(")), Self.mock())
        let mistake = #expect(throws: WaybillError.self) {
            try NetworkRule(typed: shown(broken), editing: broken, redactor)
        }
        #expect(mistake?.message.contains("is no regular expression") == true)
        #expect(mistake?.message.contains(Self.secret) == false)
    }

    /// Breaks when editing one member changes another.
    @Test(arguments: [
        (#""name":"a""#, #""name":"another""#, NetworkRule("another", mock(delay: .seconds(1)))),
        (#""name":"a""#, #""name":"a","disabled":true"#, NetworkRule("a", mock(delay: .seconds(1)), isEnabled: false)),
        (#""name":"a""#, #""name":"a","times":2"#, NetworkRule("a", mock(delay: .seconds(1)), times: 2)),
        (
            #""name":"a""#, #""name":"a","match":{"path":"/x"}"#,
            NetworkRule("a", matching: RequestPattern(path: "/x"), mock(delay: .seconds(1)))
        ),
        (#""status":200"#, #""status":404"#, NetworkRule("a", mock(status: 404, delay: .seconds(1)))),
        ("1000000", "1500000", NetworkRule("a", mock(delay: .milliseconds(1_500)))),
        (#""delay_us":1000000,"#, "", NetworkRule("a", mock())),
        (
            "1000000", #"1000000,"longest_delay_us":120000000"#,
            NetworkRule("a", mock(delay: .seconds(1), longest: .seconds(120)))
        ),
        (
            #""status":200"#, #""status":200,"headers":[["A","b:c"],["B","d"]]"#,
            NetworkRule("a", mock([("A", "b:c"), ("B", "d")], delay: .seconds(1)))
        ),
        (
            #""status":200"#, #""status":200,"text":"x\ny""#,
            NetworkRule("a", mock([], Data("x\ny".utf8), delay: .seconds(1)))
        ),
        (
            #""mock":{"delay_us":1000000,"status":200}"#, #""fail":{"code":"timedOut"}"#,
            NetworkRule("a", .fail(.timedOut))
        ),
    ])
    func aMemberThatIsChangedChangesThatAlone(member: String, changed: String, expected: NetworkRule) throws {
        let rule = NetworkRule("a", Self.mock(delay: .seconds(1)))
        let text = shown(rule).filter { !" \n".contains($0) }
        #expect(text.contains(member))
        let typed = text.replacing(member, with: changed)
        #expect(try NetworkRule(typed: typed, editing: rule, redactor) == expected)
        #expect(try NetworkRule(typed: typed, editing: nil, redactor) == expected, "a new one is read alike")
    }

    @Test(arguments: [
        ("exact", false, TextPattern.exact("Ab")), ("contains", true, .contains("Ab", ignoresCase: true)),
        ("glob", false, .glob("Ab")), ("regex", true, .regex("Ab", ignoresCase: true)),
    ])
    func everyConditionIsComparedAsItSays(kind: String, anyCase: Bool, pattern: TextPattern) throws {
        let condition = #"{"\#(kind)":"Ab","ignores_case":\#(anyCase)}"#
        for part in RequestPattern.parts {
            let text = #"{"name":"a","match":{"\#(part.name)":\#(condition)},"mock":{}}"#
            var matching = RequestPattern()
            matching[keyPath: part.pattern] = pattern
            let expected = NetworkRule("a", matching: matching, Self.mock())
            #expect(try NetworkRule(typed: text, editing: nil, redactor) == expected)
        }
        let text = #"{"name":"a","match":{"headers":{"Accept":\#(condition)}},"mock":{}}"#
        let matching = RequestPattern(headerFields: ["Accept": pattern])
        #expect(
            try NetworkRule(typed: text, editing: nil, redactor) == NetworkRule("a", matching: matching, Self.mock()))
    }

    @Test(arguments: [
        (
            #""throttle":{"latency_us":250000,"longest_latency_us":1000000,"bytes_per_second":20000}"#,
            NetworkRule.Action.throttle(
                NetworkRule.Throttle(latency: .milliseconds(250), maximumLatency: .seconds(1), bytesPerSecond: 20_000))
        ),
        (
            #""fail":{"code":"notConnectedToInternet","delay_us":1000000}"#,
            .fail(.notConnectedToInternet, after: .seconds(1))
        ), (#""cut":{"after_bytes":1000}"#, .cut(afterByteCount: 1_000)),
    ])
    func everyActionIsReadFromItsOwnMembers(action: String, expected: NetworkRule.Action) throws {
        #expect(try NetworkRule(typed: #"{"name":"a",\#(action)}"#, editing: nil, redactor).action == expected)
    }

    /// Breaks when a template can't be saved, or does something else than its link says.
    @Test(arguments: RuleTemplate.allCases) func everyTemplateCanBeSavedAsItIs(template: RuleTemplate) throws {
        let saved = try NetworkRule(typed: shown(template.rule), editing: nil, redactor)
        #expect(saved == template.rule)
        let action: RuleTemplate =
            switch saved.action {
            case .mock: .mock
            case .fail: .fail
            case .throttle: .throttle
            case .cut: .cut
            }
        #expect(action == template)
    }

    struct Mistake: Sendable {
        let text: String
        let message: String

        init(_ text: String, _ message: String) { (self.text, self.message) = (text, message) }

        /// Makes a mistake in an answer.
        init(mock: String, _ message: String) { self.init(#"{"name":"a","mock":{\#(mock)}}"#, message) }

        /// Makes a mistake in the members beside an answer.
        init(rule: String, _ message: String) { self.init(#"{"name":"a","mock":{},\#(rule)}"#, message) }
    }

    static let mistakes: [Mistake] = [
        Mistake("", "line 1, column 1: the document ends too early"),
        Mistake("{\r\n  \"name\": \"ä\" \"mock\": {}\r\n}", "line 2, column 15: a comma was expected"),
        Mistake("[]", "an object was expected"),
        Mistake(#"{"mock":{}}"#, "`name` is missing"),
        Mistake(#"{"name":" ","mock":{}}"#, "/name: a name of 1 to 256"),
        Mistake(#"{"name":"\#(String(repeating: "n", count: 257))","mock":{}}"#, "/name: a name of 1 to 256"),
        Mistake(rule: #""times":0"#, "/times: an integer from 1 to"),
        Mistake(rule: #""times":"two""#, "/times: an integer was expected"),
        Mistake(rule: #""times":99999999999999999999"#, "line 1, column 31: an integer up to 9007199254740991"),
        Mistake(rule: #""times":-1"#, "/times: an integer from 1 to"),
        Mistake(rule: #""times":٣"#, "line 1, column 31: a value was expected"),
        Mistake(rule: #""match":{"path":{"regex":"("}}"#, "/match/path/regex: a regular expression"),
        Mistake(
            rule: #""match":{"url":"\#(String(repeating: "u", count: 2_049))"}"#, "/match/url: a text of at most 2048"),
        Mistake(rule: #""match":{"headers":{"":"x"}}"#, "/match/headers: “” can't be the name"),
        Mistake(rule: #""match":{"headers":{"a b":"x"}}"#, "/match/headers: “a b” can't be the name"),
        Mistake(rule: #""match":{"headers":{"A":"x","A":"y"}}"#, "“A” is here twice"),
        Mistake(
            rule: #""match":{"pth":"/"}"#, "/match/pth: unknown name; use one of method, url, host, path, headers, body"
        ),
        Mistake(#"{"name":"a"}"#, "one of mock, throttle, fail and cut was expected"),
        Mistake(rule: #""erase":{}"#, "/erase: unknown name; use one of"),
        Mistake(mock: #""status":"""#, "/mock/status: an integer was expected"),
        Mistake(mock: #""status":600"#, "/mock/status: an integer from 200 to 599"),
        Mistake(mock: #""status":199"#, "/mock/status: an integer from 200 to 599"),
        Mistake(mock: #""headers":[["no value"]]"#, "/mock/headers: pairs of name and value were expected"),
        Mistake(mock: #""headers":[["X","1"],["a b","c"]]"#, "/mock/headers/1/0: “a b” can't be the name"),
        Mistake(mock: #""headers":[["","c"]]"#, "/mock/headers: pairs of name and value were expected"),
        Mistake(
            mock: #""headers":[["A","\#(String(repeating: "v", count: 4_097))"]]"#,
            "/mock/headers/0/1: the value of “A” has more than 4096"),
        Mistake(
            mock: #""headers":[\#(Array(repeating: #"["A","b"]"#, count: 65).joined(separator: ","))]"#,
            "/mock/headers: an answer has at most 64"),
        Mistake(
            mock: #""text":"\#(String(repeating: "ä", count: 32_769))""#,
            "/mock: a body has at most 65536 bytes, and this one has 65538"),
        Mistake(mock: #""base64":"[redacted]""#, "/mock/base64: base64"),
        Mistake(mock: #""delay_us":"soon""#, "/mock/delay_us: an integer was expected"),
        Mistake(mock: #""delay_us":-1"#, "/mock/delay_us: an integer from 0"),
        Mistake(mock: #""delay_us":9007199254740992"#, "/mock/delay_us: an integer from 0 to 9007199254740991"),
        Mistake(
            mock: #""delay_us":2000000,"longest_delay_us":1000000"#, "/mock/longest_delay_us: an integer from 2000000"),
        Mistake(#"{"name":"a","throttle":{}}"#, "/throttle: latency_us or bytes_per_second was expected"),
        Mistake(#"{"name":"a","throttle":{"bytes_per_second":0}}"#, "/throttle/bytes_per_second: an integer from 1"),
        Mistake(#"{"name":"a","fail":{"code":"broken"}}"#, "/fail/code: no code of URLError"),
        Mistake(#"{"name":"a","cut":{"after_bytes":"x"}}"#, "/cut/after_bytes: an integer was expected"),
    ]

    /// Each message names the position and the expected value.
    @Test(arguments: mistakes)
    func aMistakeIsOneSentenceThatSaysWhere(expected: Mistake) {
        let mistake = #expect(throws: WaybillError.self) {
            try NetworkRule(typed: expected.text, editing: nil, redactor)
        }
        #expect(mistake?.message.contains(expected.message) == true, "\(mistake?.message ?? "")")
    }

    /// Breaks when changing something else loses a secret, or another name reveals it.
    @Test func whatWasNotShownIsKeptInLinesThatAreNotChangedAndHasToBeWrittenInOthers() throws {
        let rule = try #require(Self.rules.first { $0.name == "secrets" })
        let shown = redactor.redacted(rule).value
        guard case .mock(let answer) = shown.action else {
            Issue.record("It answers.")
            return
        }
        func saved(_ change: (inout NetworkRule) -> Void) throws -> NetworkRule {
            var edited = shown
            change(&edited)
            return try NetworkRule(typed: String(decoding: edited.json, as: UTF8.self), editing: rule, redactor)
        }
        func answering(_ change: (inout NetworkRule.Response) -> Void) throws -> NetworkRule {
            var response = answer
            change(&response)
            return try saved { $0.action = .mock(response) }
        }
        func fields(_ rule: NetworkRule) -> [String] {
            guard case .mock(let response) = rule.action else { return [] }
            return response.headerFields.map { "\($0.name): \($0.value)" }
        }
        let cookie = try #require(answer.headerFields.first)
        #expect(cookie.name == "Set-Cookie" && cookie.value.contains("[redacted]"))
        let new = HeaderField(name: "X-New", value: "1")
        let turned = try answering { $0.headerFields = [new] + $0.headerFields.reversed() }
        #expect(fields(turned) == ["X-New: 1", "Content-Type: application/json", "Set-Cookie: session=\(Self.secret)"])
        #expect(try answering { $0.headerFields = [new] }.action != rule.action)
        #expect(try saved { $0.name = "other" }.matching == rule.matching)
        #expect(try saved { $0.action = .cut(afterByteCount: 1) }.matching == rule.matching)
        let path = try #require(shown.matching.path?.text)
        #expect(try saved { $0.matching.path = .contains(path) }.matching.path == .contains("/reset/\(Self.secret)"))

        let changes: [(place: String, save: () throws -> NetworkRule)] = [
            ("/mock/headers", { try answering { $0.headerFields[0].value += "; Path=/" } }),
            ("/mock/headers", { try answering { $0.headerFields[0].name = "X-Other" } }),
            ("/mock/headers", { try answering { $0.headerFields = [cookie, cookie] } }),
            ("/mock/text", { try answering { $0.body += Data(" ".utf8) } }),
            ("/match/path", { try saved { $0.matching.path = .exact(path + "/x") } }),
            ("/match/headers", { try saved { $0.matching.headerFields["Authorization"] = "x [redacted]" } }),
            (
                "/match/headers",
                {
                    try saved {
                        $0.matching.headerFields["X-Shown"] = $0.matching.headerFields.removeValue(
                            forKey: "Authorization")
                    }
                }
            ),
        ]
        for (place, save) in changes {
            let mistake = #expect(throws: WaybillError.self) { try save() }
            #expect(mistake?.message.hasPrefix("\(place): write in full") == true, "\(mistake?.message ?? place)")
        }
        let other = try saved { $0.matching.headerFields["Authorization"] = "Bearer other" }
        #expect(other.matching.headerFields["Authorization"] == "Bearer other")
        #expect(other.matching.headerFields["Cookie"] == rule.matching.headerFields["Cookie"])
    }

    /// Breaks when changing another member loses a hidden body, or typed text is mixed with it.
    @Test(arguments: ["a picture", "a long body"]) func aBodyThatIsNotShownIsKeptOrReplaced(name: String) throws {
        let rule = try #require(Self.rules.first { $0.name == name })
        guard case .mock(let answer) = rule.action else { return }
        let shown = shown(rule)
        #expect(shown.contains(#""text" : "[redacted]""#))
        let other = try NetworkRule(typed: shown.replacing("200", with: "201"), editing: rule, redactor)
        #expect(other.action == Self.mock([], answer.body, status: 201))
        let replaced = shown.replacing("[redacted]", with: "short")
        #expect(try NetworkRule(typed: replaced, editing: rule, redactor).action == Self.mock([], Data("short".utf8)))
        let mixed = shown.replacing("[redacted]", with: "[redacted], too")
        #expect(throws: WaybillError.self) { try NetworkRule(typed: mixed, editing: rule, redactor) }
    }

    /// Breaks when another content type reveals a secret.
    @Test(arguments: [
        "text/plain", "image/png", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
    ])
    func aBodyIsNotShownUnderAnotherTypeEither(type: String) throws {
        let rule = try #require(Self.rules.first { $0.name == "secrets" })
        var edited = redactor.redacted(rule).value
        guard case .mock(var response) = edited.action else { return }
        response.headerFields = [HeaderField(name: "Content-Type", value: type)]
        edited.action = .mock(response)
        let saved = try NetworkRule(
            typed: String(decoding: edited.json, as: UTF8.self), editing: rule, redactor)
        #expect(String(decoding: saved.json, as: UTF8.self).contains(Self.secret), "it is there still")
        #expect(!shown(saved).contains(Self.secret))
    }

    /// A text that only looks like the placeholder of a secret is saved as text.
    @Test func aPlaceholderThatStandsForNothingIsSavedAsItIs() throws {
        let rule = NetworkRule("a", Self.mock([("X-Note", "[redacted]")], Data("[redacted]".utf8)))
        let typed = shown(rule).replacing(#""text" : "[redacted]""#, with: #""text" : "now [redacted]""#)
        let saved = try NetworkRule(typed: typed, editing: rule, redactor)
        #expect(saved.action == Self.mock([("X-Note", "[redacted]")], Data("now [redacted]".utf8)))
    }
}
