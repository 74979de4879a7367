#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct BearerTokenTests {
    private let text = "0123456789abcdef"

    @Test(arguments: ["Bearer 0123456789abcdef", "bearer 0123456789abcdef", "BEARER 0123456789abcdef"])
    func theSchemeIsReadInAnyCase(field: String) {
        #expect(BearerToken(fieldValue: field)?.text == text)
    }

    @Test(arguments: [
        "", "Bearer", "Bearer ", "0123456789abcdef", "Basic 0123456789abcdef", "Bearer  0123456789abcdef",
        "Bearer a b c",
    ])
    func nothingElseIsRead(field: String) {
        #expect(BearerToken(fieldValue: field) == nil)
    }

    @Test func newTokensHave256RandomBitsAndCanBeSent() throws {
        let tokens = (0..<50).map { _ in BearerToken.random().text }
        #expect(Set(tokens).count == 50)
        for token in tokens {
            #expect(token.wholeMatch(of: #/waybill_[A-Za-z0-9_-]{43}/#) != nil)
            #expect(try BearerToken(token).text == token)
        }
    }

    @Test(arguments: ["", "short", "0123456789 abcdef", "0123456789abcdef\n", "0123456789abcdé"])
    func aTokenThatCannotBeSentIsRefused(text: String) {
        #expect(throws: WaybillError.self) { try BearerToken(text) }
    }

    @Test func aFileMayEndWithANewline() throws {
        let folder = try TemporaryDirectory()
        try Data("\(text)\n".utf8).write(to: folder.file("token"))
        #expect(try BearerToken(contentsOf: folder.file("token")).fieldValue == "Bearer \(text)")
        #expect(throws: WaybillError.self) { try BearerToken(contentsOf: folder.file("none")) }
    }

    @Test func noDescriptionHoldsIt() throws {
        let token = try BearerToken(text)
        var dumped = ""
        dump(token, to: &dumped)
        #expect(!"\(token) \(String(reflecting: token)) \(dumped)".contains(text))
    }
}
#endif
