import Foundation
import Testing
import Waybill

/// The texts that a pattern matches. No pattern can delay its caller for long.
@Suite(.timeLimit(.minutes(5))) struct TextPatternTests {
    @Test(arguments: [
        (TextPattern.exact("/login"), "/login", true),
        (.exact("/login"), "/login/", false),
        (.exact("/login"), "/Login", false),
        (.exact("/login", ignoresCase: true), "/LogIn", true),
        (.exact(""), "", true),
        (.exact(""), "a", false),
        (.exact("a*c"), "abc", false),
        (.contains("log"), "/login", true),
        (.contains("log"), "/lo", false),
        (.contains("abab"), "abaabab", true),
        (.contains("?"), "abc", false),
        (.contains(""), "", true),
        (.contains("STRASSE", ignoresCase: true), "die strasse hier", true),
        (.glob("*.example.com"), "api.example.com", true),
        (.glob("*.example.com"), "example.com", false),
        (.glob("/v1/*"), "/v1/a/b", true),
        (.glob("/v1/*"), "/v1", false),
        (.glob("/v?/*/items"), "/v2/users/7/items", true),
        (.glob("/v?/*/items"), "/v22/users/items", false),
        (.glob("*a*b*c*"), "xxaxxbxxcxx", true),
        (.glob("*a*b*c*"), "xxaxxcxxbxx", false),
        (.glob("?"), "é", true),
        (.glob("*??"), "é", false),
        (.glob("***"), "", true),
        (.glob("?*"), "", false),
        (.glob("/A*", ignoresCase: true), "/abc", true),
        (.regex("^/v[12]/login$"), "/v2/login", true),
        (.regex("^/v[12]/login$"), "/v3/login", false),
        (.regex("log"), "/login", true),
        (.regex("LOG"), "/login", false),
        (.regex("LOG", ignoresCase: true), "/login", true),
        (.regex("a|b$"), "xb", true),
        (.regex(#""user":\s*"(ada|grace)""#), #"{"user": "grace"}"#, true),
        (.regex("^b"), "ab", false),
        (.regex("(.)\\1"), "abba", true),
    ]) func aTextMatchesOrNot(pattern: TextPattern, text: String, isMatch: Bool) {
        #expect(pattern.matches(text) == isMatch)
        #expect(pattern.matches(Data(text.utf8)) == isMatch)
    }

    @Test(arguments: ["(", "a)(b", "[", "*", "(?x) # a comment"]) func whatIsNoRegularExpressionMatchesNothingAndSaysSo(
        text: String
    ) throws {
        let pattern = TextPattern.regex(text)
        #expect(!pattern.matches("a") && !pattern.matches("") && !pattern.matches(text))
        #expect(try #require(pattern.problem).message == "“\(text)” is no regular expression; it matches nothing.")
    }

    @Test func aPatternThatIsTooLongMatchesNothingAndSaysSo() {
        #expect(TextPattern.contains(String(repeating: "a", count: 2048)).problem == nil)
        let pattern = TextPattern.contains(String(repeating: "a", count: 2049))
        #expect(pattern.problem?.code == .setting)
        #expect(!pattern.matches(pattern.text))
    }

    /// Without bounds, each of these would exceed the tests' time limit.
    @Test(arguments: [
        (TextPattern.regex("(a+)+$"), String(repeating: "a", count: 60_000) + "b"),
        (.regex("(x+x+)+y"), String(repeating: "x", count: 60_000)),
        (.regex("(?:a|aa)*c"), String(repeating: "a", count: 60_000)),
        (.glob("*" + String(repeating: "a?", count: 1000) + "b*c"), String(repeating: "a", count: 65_000)),
    ]) func aPatternThatWouldTakeForEverGivesUp(pattern: TextPattern, text: String) {
        #expect(!pattern.matches(text))
    }

    @Test func aWordAtTheEndOfAllThatIsLookedAtIsFound() {
        let filler = String(repeating: "ab", count: TextPattern.maximumTextByteCount / 2 - 4)
        for pattern in [TextPattern.regex("login$"), .contains("login"), .glob("*login")] {
            #expect(pattern.matches(filler + "abclogin"))
            #expect(!pattern.matches(filler + "abcdlogin"), "the last letter is out of sight")
        }
    }

    @Test func anExactPatternLooksAtAllOfALongText() {
        let text = String(repeating: "a", count: 2048)
        #expect(
            !TextPattern.exact(text).matches(text + String(repeating: "a", count: TextPattern.maximumTextByteCount)))
    }

    @Test func bytesThatAreNoTextAreComparedAsBytes() {
        #expect(TextPattern.contains("ab").matches(Data([0xFF, 0x61, 0x62, 0x00])))
        #expect(TextPattern.regex("ab").matches(Data([0xFF, 0x61, 0x62, 0x00])))
        #expect(!TextPattern.exact("ab").matches(Data([0x61, 0x62, 0xFF])))
    }

    @Test(arguments: [
        (TextPattern.exact("a"), #""a""#),
        (.exact("a", ignoresCase: true), #"{"exact":"a","ignores_case":true}"#),
        (.contains("a"), #"{"contains":"a"}"#),
        (.glob("/v1/*"), #"{"glob":"/v1/*"}"#),
        (.regex("^a", ignoresCase: true), #"{"ignores_case":true,"regex":"^a"}"#),
    ]) func aPatternIsWrittenAndReadAlike(pattern: TextPattern, json: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(String(decoding: try encoder.encode(pattern), as: UTF8.self) == json)
        let read = try JSONDecoder().decode(TextPattern.self, from: Data(json.utf8))
        #expect(read == pattern)
        #expect(read.matches("a") == pattern.matches("a"))
    }
}
