import Foundation
import Testing
import Waybill
import WaybillCore

@testable import WaybillInspector

/// A rule as fields of a form, and what comes back as a rule.
@Suite(.timeLimit(.minutes(5))) struct RuleFormTests {
    private static let secret = "hunter22sunny"
    private let redactor = Redactor()

    private static func mock(
        _ fields: [(String, String)] = [], _ body: Data = Data(), status: Int = 200, delay: Duration = .zero,
        longest: Duration? = nil
    ) -> NetworkRule.Action {
        .mock(
            MockedResponse(
                status: status, headerFields: fields.map { Fact.HeaderField(name: $0.0, value: $0.1) }, body: body,
                delay: delay, longestDelay: longest))
    }

    /// All members of rules, and what an app may have written in ways in which nobody fills in a form.
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
        NetworkRule("a long body", mock([], Data(repeating: 0x61, count: RuleForm.bodyLimit + 1))),
        NetworkRule("an empty body", matching: RequestPattern(body: ""), mock()),
        NetworkRule("delays", mock(delay: .microseconds(1_500), longest: .seconds(90))),
        NetworkRule("slow", .throttle(Throttle(latency: .milliseconds(250), bytesPerSecond: 20_000))),
        NetworkRule("slower", .throttle(Throttle(longestLatency: .seconds(2)))),
        NetworkRule("fails", .fail(.timedOut, after: .seconds(5), upTo: .seconds(6))),
        NetworkRule("cut", .cut(afterByteCount: 1_000)),
    ]

    /// Breaks when somebody who opens a rule and saves it again changes it; above all when he saves what he was shown in
    /// the place of a secret.
    @Test(arguments: rules) func aRuleThatIsSavedAsItWasShownIsTheSame(rule: NetworkRule) throws {
        let shown = redactor.redacted(RuleForm(rule)).value
        #expect(!"\(shown)".contains(Self.secret))
        var sent = RuleForm(sent: shown.values.map { ($0.key, $0.value.replacing("\n", with: "\r\n")) })
        // A browser sends what is chosen where nothing was.
        for part in RuleForm.Part.allCases where sent["\(part)-as"].isEmpty { sent["\(part)-as"] = "exact" }
        #expect(try sent.rule(editing: rule, redactor) == rule)
        if "\(rule)".contains(Self.secret) {
            #expect(try sent.rule(editing: nil, redactor) != rule, "Without the rule they cannot be known.")
        }
    }

    /// Breaks when one field is read as another, or takes others along.
    @Test(arguments: [
        ("name", "another", NetworkRule("another", mock(delay: .seconds(1)))),
        ("on", "", NetworkRule("a", mock(delay: .seconds(1)), isEnabled: false)),
        ("times", " 2 ", NetworkRule("a", mock(delay: .seconds(1)), times: 2)),
        ("path", "/x", NetworkRule("a", matching: RequestPattern(path: "/x"), mock(delay: .seconds(1)))),
        ("status", "404", NetworkRule("a", mock(status: 404, delay: .seconds(1)))),
        ("delay", "1.5s", NetworkRule("a", mock(delay: .milliseconds(1_500)))),
        ("delay", "", NetworkRule("a", mock())),
        ("delay-longest", "2m", NetworkRule("a", mock(delay: .seconds(1), longest: .seconds(120)))),
        ("headers", "A: b:c\n\n B :d ", NetworkRule("a", mock([("A", "b:c"), ("B", "d")], delay: .seconds(1)))),
        ("text", "x\ny", NetworkRule("a", mock([], Data("x\ny".utf8), delay: .seconds(1)))),
        ("action", "fail", NetworkRule("a", .fail(.timedOut))),
    ])
    func aFieldThatIsChangedChangesThatAlone(field: String, text: String, expected: NetworkRule) throws {
        let rule = NetworkRule("a", Self.mock(delay: .seconds(1)))
        var form = redactor.redacted(RuleForm(rule)).value
        form[field] = text
        #expect(try form.rule(editing: rule, redactor) == expected)
        #expect(try form.rule(editing: nil, redactor) == expected, "a new one is read alike")
    }

    @Test(arguments: [
        ("exact", false, TextPattern.exact("Ab")), ("contains", true, .contains("Ab", ignoresCase: true)),
        ("glob", false, .glob("Ab")), ("regex", true, .regex("Ab", ignoresCase: true)),
    ])
    func everyConditionIsComparedAsItSays(kind: String, anyCase: Bool, pattern: TextPattern) throws {
        for part in RuleForm.Part.allCases {
            var form = RuleForm()
            form["name"] = "a"
            form[part.rawValue] = "Ab"
            form["\(part)-as"] = kind
            form["\(part)-any-case"] = anyCase ? "yes" : ""
            var matching = RequestPattern()
            matching[keyPath: part.pattern] = pattern
            #expect(try form.rule(editing: nil, redactor) == NetworkRule("a", matching: matching, Self.mock()))
        }
        var form = RuleForm()
        form["name"] = "a"
        (form["field-2"], form["field-2-value"], form["field-2-value-as"]) = ("Accept", "Ab", kind)
        form["field-2-value-any-case"] = anyCase ? "yes" : ""
        let matching = RequestPattern(headerFields: ["Accept": pattern])
        #expect(try form.rule(editing: nil, redactor) == NetworkRule("a", matching: matching, Self.mock()))
    }

    @Test(arguments: [
        ("throttle", ["latency": "250ms", "latency-longest": "1s", "rate": "20000"]),
        ("fail", ["code": "notConnectedToInternet", "after": "1s"]), ("cut", ["bytes": "1000"]),
    ])
    func everyActionIsReadFromItsOwnFields(action: String, fields: [String: String]) throws {
        var form = RuleForm()
        (form["name"], form["action"]) = ("a", action)
        for (field, text) in fields { form[field] = text }
        let expected: [String: NetworkRule.Action] = [
            "throttle": .throttle(
                Throttle(latency: .milliseconds(250), longestLatency: .seconds(1), bytesPerSecond: 20_000)),
            "fail": .fail(.notConnectedToInternet, after: .seconds(1)), "cut": .cut(afterByteCount: 1_000),
        ]
        #expect(try form.rule(editing: nil, redactor).action == expected[action])
    }

    struct Mistake: Sendable {
        let fields: [String: String]
        let field: String
        let sentence: String

        init(_ fields: [String: String], _ field: String, _ sentence: String) {
            (self.fields, self.field, self.sentence) = (fields, field, sentence)
        }
    }

    static let mistakes: [Mistake] = [
        Mistake(["name": " "], "name", "a name of 1 to 256"),
        Mistake(["name": String(repeating: "n", count: 257)], "name", "a name of 1 to 256"),
        Mistake(["times": "0"], "times", "“0” is no number of 1 or more"),
        Mistake(["times": "two"], "times", "“two” is no number"),
        Mistake(["times": "99999999999999999999"], "times", "is no number"),
        Mistake(["times": "-1"], "times", "is no number"),
        Mistake(["times": "٣"], "times", "is no number"),
        Mistake(["path": "(", "path-as": "regex"], "path", "“(” is no regular expression"),
        Mistake(["url": String(repeating: "u", count: 2_049)], "url", "2048 characters at most"),
        Mistake(["field-0-value": "x"], "field-0", "Name the header field"),
        Mistake(["field-0": "a b", "field-0-value": "x"], "field-0", "“a b” cannot be the name"),
        Mistake(["field-0": "A", "field-1": "A"], "field-1", "two conditions for “A”"),
        Mistake(["action": ""], "action", "Choose"), Mistake(["action": "erase"], "action", "Choose"),
        Mistake(["status": ""], "status", "200 to 599"), Mistake(["status": "600"], "status", "200 to 599"),
        Mistake(["status": "199"], "status", "no number of 200"),
        Mistake(["headers": "no colon"], "headers", "“no colon” is no header field"),
        Mistake(["headers": "a b: c"], "headers", "“a b” cannot be the name"),
        Mistake(["headers": ": c"], "headers", "no header field"),
        Mistake(["headers": "A: " + String(repeating: "v", count: 4_097)], "headers", "more than 4096"),
        Mistake(
            ["headers": Array(repeating: "A: b", count: 65).joined(separator: "\n")], "headers",
            "64 header fields at most"
        ),
        Mistake(["text": String(repeating: "ä", count: 32_769)], "text", "65536 bytes at most, and this has 65538"),
        Mistake(["delay": "soon"], "delay", "“soon” is no time: give 250ms"),
        Mistake(["delay": "1"], "delay", "is no time"),
        Mistake(["delay": "-1s"], "delay", "is no time"), Mistake(["delay": "9999999999999h"], "delay", "is no time"),
        Mistake(["delay": "2s", "delay-longest": "1s"], "delay-longest", "shorter than the shortest"),
        Mistake(["action": "throttle"], "latency", "how long a request waits"),
        Mistake(["action": "throttle", "rate": "0"], "rate", "no number of 1"),
        Mistake(["action": "fail", "code": "broken"], "code", "“broken” is no error"),
        Mistake(["action": "cut", "bytes": "x"], "bytes", "“x” is no number of 0"),
    ]

    /// Each names its field, and says what to do.
    @Test(arguments: mistakes)
    func aMistakeIsOneSentenceAboutAField(expected: Mistake) {
        var form = RuleForm()
        form["name"] = "a"
        for (field, text) in expected.fields { form[field] = text }
        let mistake = #expect(throws: RuleMistake.self) { try form.rule(editing: nil, redactor) }
        #expect(mistake?.field == expected.field)
        #expect(mistake?.sentence.contains(expected.sentence) == true, "\(mistake?.sentence ?? "")")
    }

    /// Breaks when a secret is lost because something beside it was changed, or shown because it got another name.
    @Test func whatWasNotShownIsKeptInLinesThatAreNotChangedAndHasToBeWrittenInOthers() throws {
        let rule = try #require(Self.rules.first { $0.name == "secrets" })
        let shown = redactor.redacted(RuleForm(rule)).value
        func saved(_ changes: [String: String]) throws -> NetworkRule {
            var form = shown
            for (field, text) in changes { form[field] = text }
            return try form.rule(editing: rule, redactor)
        }
        func fields(_ rule: NetworkRule) -> [String] {
            guard case .mock(let response) = rule.action else { return [] }
            return response.headerFields.map { "\($0.name): \($0.value)" }
        }
        let lines = shown.lines("headers")
        #expect(lines.first?.hasPrefix("Set-Cookie: ") == true && lines.first?.contains("[redacted]") == true)
        let turned = try saved(["headers": "X-New: 1\n" + lines.reversed().joined(separator: "\n")])
        #expect(fields(turned) == ["X-New: 1", "Content-Type: application/json", "Set-Cookie: session=\(Self.secret)"])
        #expect(try saved(["headers": "X-New: 1"]).action != rule.action)
        #expect(try saved(["name": "other"]).matching == rule.matching)

        for (field, text) in [
            ("headers", "Set-Cookie: [redacted]; Path=/"), ("headers", "X-Other: [redacted]"),
            ("headers", "\(lines[0])\n\(lines[0])"), ("text", shown["text"] + " "), ("path", shown["path"] + "/x"),
            ("field-0-value", "x [redacted]"),
        ] {
            let mistake = #expect(throws: RuleMistake.self, "\(field): \(text)") { try saved([field: text]) }
            #expect(mistake?.sentence.contains("Write in full") == true)
        }
        let renamed = #expect(throws: RuleMistake.self) { try saved(["field-0": "X-Shown"]) }
        #expect(renamed?.field == "field-0-value")
        #expect(try saved(["field-0-value": "Bearer other"]).matching.headerFields["Authorization"] == "Bearer other")
    }

    /// Breaks when somebody sees a secret by calling the body something else.
    @Test(arguments: [
        "text/plain", "image/png", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
    ])
    func aBodyIsNotShownUnderAnotherTypeEither(type: String) throws {
        let rule = try #require(Self.rules.first { $0.name == "secrets" })
        var form = redactor.redacted(RuleForm(rule)).value
        form["headers"] = "Content-Type: \(type)"
        let saved = try form.rule(editing: rule, redactor)
        #expect("\(RuleForm(saved))".contains(Self.secret), "it is there still")
        #expect(!"\(redactor.redacted(RuleForm(saved)))".contains(Self.secret))
    }

    /// A text that only looks like what stands for a secret is a text.
    @Test func aPlaceholderThatStandsForNothingIsSavedAsItIs() throws {
        let rule = NetworkRule("a", Self.mock([("X-Note", "[redacted]")], Data("[redacted]".utf8)))
        var form = redactor.redacted(RuleForm(rule)).value
        form["text"] = "now [redacted]"
        let saved = try form.rule(editing: rule, redactor)
        #expect(saved.action == Self.mock([("X-Note", "[redacted]")], Data("now [redacted]".utf8)))
    }
}
