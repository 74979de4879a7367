import Foundation
import Testing
import Waybill
import WaybillCore
import WaybillTesting

/// Rules as JSON: another validator has checked the examples of `Schemas/rules.v1.schema.json` against it.
@Suite(.timeLimit(.minutes(5))) struct RulesFormatTests {
    private static let folder = URL(filePath: #filePath).appending(path: "../../../../Schemas/examples").standardized

    static func examples(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: name).path).map { "\(name)/\($0)" }
            .sorted()
    }

    private static func example(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

    private static func places() throws -> [String: String] {
        try JSONDecoder().decode([String: String].self, from: example("rules-where.json"))
    }

    private let rules = TransactionManager.testing().rules

    @Test(arguments: try examples("rules-valid")) func everyValidExampleIsReadWrittenAndReadAgainAlike(name: String)
        throws
    {
        try rules.add(json: Self.example(name))
        let again = TransactionManager.testing().rules
        try again.add(json: rules.json())
        #expect(again.all == rules.all)
        if name != "rules-valid/no-rules.json" { #expect(rules.all.count > 3) }
    }

    @Test func whatIsWrittenIsWhatWasReadMemberByMember() throws {
        let json = try Self.example("rules-valid/every-member.json")
        try rules.add(json: json)
        let (written, read) = (try canonical(rules.json()), try canonical(json))
        #expect(written == read)
    }

    private func canonical(_ json: Data) throws -> String {
        let value = try JSONSerialization.jsonObject(with: json)
        return String(
            decoding: try JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .prettyPrinted]),
            as: UTF8.self)
    }

    @Test func everyMemberIsRead() throws {
        try rules.add(json: Self.example("rules-valid/every-member.json"))
        let expected = [
            NetworkRule(
                "login is down",
                matching: RequestPattern(
                    method: "POST", url: .contains("variant=B"), host: .glob("*.example.com"),
                    path: .regex("^/v[12]/login$"),
                    headerFields: ["Accept": .contains("json"), "X-Build": .regex("^[0-9]+$")],
                    body: .contains("ada", ignoresCase: true)),
                .mock(
                    NetworkRule.Response(
                        status: 503,
                        headerFields: [
                            .init(name: "Content-Type", value: "application/json"),
                            .init(name: "Retry-After", value: "5"),
                        ],
                        body: Data(#"{"error":"down for “maintenance”"}"#.utf8), delay: .milliseconds(250)))),
            NetworkRule(
                "one picture for all", matching: RequestPattern(path: .glob("/avatars/*.png")),
                .mock(
                    NetworkRule.Response(
                        headerFields: [.init(name: "Content-Type", value: "image/png")],
                        body: Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])))),
            NetworkRule(
                "a slow network", .throttle(NetworkRule.Throttle(latency: .milliseconds(400), bytesPerSecond: 50_000)),
                isEnabled: false),
            NetworkRule(
                "no advertisements", matching: RequestPattern(host: "ads.example"), .fail(.notConnectedToInternet)),
            NetworkRule(
                "uploads time out", matching: RequestPattern(method: .exact("put", ignoresCase: true)),
                .fail(.timedOut, after: .seconds(60))),
            NetworkRule(
                "the film breaks off", matching: RequestPattern(url: "https://cdn.example/film.mp4"),
                .cut(afterByteCount: 1000)),
            NetworkRule("nothing but the head", matching: RequestPattern(path: "/"), .cut(afterByteCount: 0)),
        ]
        for (rule, expected) in zip(rules.all, expected) { #expect(rule == expected) }
        #expect(rules.all.count == expected.count)
    }

    @Test(arguments: try examples("rules-invalid")) func everyInvalidExampleIsRefusedWithWhereAndAddsNothing(
        name: String
    ) throws {
        rules.add(NetworkRule("there", .mock(NetworkRule.Response())))
        let json = try Self.example(name)
        let error = #expect(throws: WaybillError.self) { try rules.add(json: json) }
        let place = try #require(try Self.places()[name])
        #expect(error?.code == .format)
        let message = try #require(error?.message)
        #expect(place.isEmpty ? !message.hasPrefix("/") : message.hasPrefix("\(place): "))
        #expect(rules.all.map(\.name) == ["there"])
    }

    @Test func everyInvalidExampleHasAPlace() throws {
        #expect(try Self.examples("rules-invalid") == Self.places().keys.sorted())
        #expect(try Self.places().count > 30)
    }

    @Test(arguments: [
        ("", "line 1, column 1: the document ends too early"), ("[", "line 1, column 2: the document ends too early"),
        (#"{"rules":[]}]"#, "line 1, column 13: text after the end of the document"),
        (#"{"rules":[],}"#, "line 1, column 13: a member's name was expected"),
        ("{\"rules\":\r\n[ { \"name\": \"ä\" ] }", "line 2, column 17: a comma was expected"),
        (#"{"rules":\#(String(repeating: "[", count: 40))"#, "line 1, column 41: nested deeper than 32"),
        (
            #"{"rules":[{"name":"a","mock":{},"name":"b"}]}"#,
            "line 1, column 40: “name” is here twice; keep one of them"
        ),
    ]) func whatIsNoJSONIsRefusedWithWhere(text: String, message: String) {
        let error = #expect(throws: WaybillError.self) { try rules.add(json: Data(text.utf8)) }
        #expect(error == WaybillError(.format, message))
    }

    @Test func everyNameOfACodeIsReadAndWritten() throws {
        let schema = try #require(
            try JSONSerialization.jsonObject(
                with: Data(contentsOf: Self.folder.appending(path: "../rules.v1.schema.json")))
                as? [String: Any])
        let fail = ((schema["$defs"] as? [String: Any])?["fail"] as? [String: Any])?["properties"] as? [String: Any]
        let words = ((fail?["code"] as? [String: Any])?["oneOf"] as? [[String: Any]])?.first?["enum"] as? [String]
        let names = try #require(words)
        #expect(names.count == 37)
        for name in names {
            try rules.add(json: Data(#"{"rules":[{"name":"\#(name)","fail":{"code":"\#(name)"}}]}"#.utf8))
        }
        let written = String(decoding: rules.json(), as: UTF8.self)
        for name in names { #expect(written.contains(#""code" : "\#(name)""#)) }
        #expect(rules.all.contains { $0.action == .fail(.timedOut) && $0.name == "timedOut" })
    }
}
