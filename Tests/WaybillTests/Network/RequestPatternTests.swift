import Foundation
import Testing
import Waybill
import WaybillCore

/// A pattern matches a request that meets all its conditions, and needs only one condition.
@Suite(.timeLimit(.minutes(5))) struct RequestPatternTests {
    private struct Sent {
        var method = "POST"
        var url = "https://api.example.com:8443/v1/login?user=ada#top"
        var headerFields = [
            HeaderField(name: "Accept", value: "text/html"), .init(name: "accept", value: "application/json"),
        ]
        var body: Data? = Data(#"{"user":"ada"}"#.utf8)

        func matches(_ pattern: RequestPattern) throws -> Bool {
            pattern.matches(
                ExchangeRequest(method: method, url: try #require(URL(string: url)), headerFields: headerFields),
                body: body)
        }
    }

    static let conditions: [(matching: RequestPattern, failing: RequestPattern)] = [
        (RequestPattern(method: "POST"), RequestPattern(method: "GET")),
        (
            RequestPattern(url: "https://api.example.com:8443/v1/login?user=ada"),
            RequestPattern(url: .contains("#top"))
        ),
        (RequestPattern(host: "api.example.com"), RequestPattern(host: "example.com")),
        (RequestPattern(path: "/v1/login"), RequestPattern(path: .contains("?"))),
        (
            RequestPattern(headerFields: ["Accept": .contains("json")]),
            RequestPattern(headerFields: ["Cookie": .contains("")])
        ),
        (RequestPattern(body: .contains(#""ada""#)), RequestPattern(body: .contains("grace"))),
    ]

    @Test(arguments: conditions.indices) func eachConditionDecidesAlone(index: Int) throws {
        #expect(try Sent().matches(Self.conditions[index].matching))
        #expect(try !Sent().matches(Self.conditions[index].failing))
    }

    @Test(arguments: conditions.indices) func oneConditionThatIsNotMetIsEnoughToFail(index: Int) throws {
        let all = Self.conditions.map(\.matching).enumerated().map {
            $0.offset == index ? Self.conditions[index].failing : $0.element
        }
        let pattern = RequestPattern(
            method: all[0].method, url: all[1].url, host: all[2].host, path: all[3].path,
            headerFields: all[4].headerFields,
            body: all[5].body)
        #expect(try !Sent().matches(pattern))
    }

    @Test func allConditionsTogetherMatch() throws {
        let all = Self.conditions.map(\.matching)
        let pattern = RequestPattern(
            method: all[0].method, url: all[1].url, host: all[2].host, path: all[3].path,
            headerFields: all[4].headerFields,
            body: all[5].body)
        #expect(try Sent().matches(pattern))
    }

    @Test func withoutConditionsEveryRequestMatches() throws {
        #expect(try Sent().matches(RequestPattern()))
        #expect(try Sent(method: "GET", url: "data:,x", headerFields: [], body: nil).matches(RequestPattern()))
    }

    @Test func hostsMethodsAndNamesOfHeaderFieldsHaveNoCase() throws {
        var pattern = RequestPattern(
            method: "post", host: .glob("API.*.com"), headerFields: ["ACCEPT": .contains("json")])
        #expect(try Sent().matches(pattern))
        pattern.method = .regex("^(put|post)$")
        pattern.host = "API.example.COM"
        #expect(try Sent().matches(pattern))
        pattern.path = "/V1/login"
        #expect(try !Sent().matches(pattern), "a path has")
    }

    @Test func aUrlWithoutAPathHasTheRootAsItsPath() throws {
        #expect(try Sent(url: "https://api.example.com").matches(RequestPattern(path: "/")))
    }

    @Test func aPathIsComparedAsItIsOnTheWire() throws {
        let sent = Sent(url: "https://api.example.com/a%20b/%C3%A9")
        #expect(try sent.matches(RequestPattern(path: "/a%20b/%C3%A9")))
        #expect(try !sent.matches(RequestPattern(path: "/a b/é")))
    }

    @Test func aBodyThatCannotBeLookedAtDoesNotMatch() throws {
        #expect(try !Sent(body: nil).matches(RequestPattern(body: .contains(""))))
        #expect(try Sent(body: Data()).matches(RequestPattern(body: "")))
    }

    @Test func theBodyIsNotAskedForUnlessItDecides() throws {
        let url = try #require(URL(string: "https://example.com/"))
        func body() -> Data? {
            Issue.record("nobody needed the body")
            return nil
        }
        // Outside the macro, which would itself ask for the body.
        let withoutCondition = RequestPattern(method: "GET").matches(ExchangeRequest(url: url), body: body())
        let withOther = RequestPattern(method: "POST", body: "a").matches(ExchangeRequest(url: url), body: body())
        #expect(withoutCondition && !withOther)
    }

    @Test func aPatternIsWrittenAndReadAlike() throws {
        let pattern = RequestPattern(
            method: "POST", url: .contains("x"), host: .glob("*.example.com"), path: .regex("^/v1/"),
            headerFields: ["Accept": .contains("json")], body: .contains("ada", ignoresCase: true))
        #expect(try JSONDecoder().decode(RequestPattern.self, from: JSONEncoder().encode(pattern)) == pattern)
        #expect(try String(decoding: JSONEncoder().encode(RequestPattern()), as: UTF8.self) == "{}")
    }

    @Test(arguments: [
        #"{"methd":"POST"}"#, #"{"path":{"globb":"/v1/*"}}"#, #"{"path":{"glob":"/a","regex":"b"}}"#, #"{"path":{}}"#,
        #"{"path":null}"#,
        #"{"body":{"regex":"("}}"#, #"{"headers":["Accept"]}"#,
    ]) func aConditionThatIsNotUnderstoodIsRefusedBecauseIgnoringItWouldMatchMore(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(RequestPattern.self, from: Data(json.utf8)) }
    }
}
