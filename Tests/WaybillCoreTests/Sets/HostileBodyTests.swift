import Foundation
import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct HostileBodyTests {
    static let login = "valid/login-from-client.json"

    static let malformed: [(String, [UInt8])] = [
        ("empty", []), ("spaces", Array("  \n".utf8)), ("text", Array("hello".utf8)),
        ("two documents", Array("{}{}".utf8)),
        ("trailing comma", Array(#"{"set":1,}"#.utf8)), ("single quotes", Array("{'set':1}".utf8)),
        ("comment", Array("{}//".utf8)),
        ("byte-order mark", [0xEF, 0xBB, 0xBF] + Array("{}".utf8)), ("UTF-16", Array("{}".utf8).flatMap { [$0, 0] }),
        ("unclosed", Array(#"{"x":[1,2"#.utf8)), ("unclosed string", Array(#"{"x"#.utf8)),
        ("bare escape", Array(#"{"\"#.utf8)),
        ("Latin-1 in a skipped string", Array(#"{"x":""#.utf8) + [0xE9] + Array(#""}"#.utf8)),
        ("overlong", Array(#"{"x":""#.utf8) + [0xC0, 0x80] + Array(#""}"#.utf8)),
        ("surrogate in UTF-8", Array(#"{"x":""#.utf8) + [0xED, 0xA0, 0x80] + Array(#""}"#.utf8)),
        ("beyond Unicode", Array(#"{"x":""#.utf8) + [0xF4, 0x90, 0x80, 0x80] + Array(#""}"#.utf8)),
        ("lone surrogate", Array(#"{"x":"\ud800"}"#.utf8)),
        ("surrogates swapped", Array(#"{"x":"\udc00\ud800"}"#.utf8)),
        ("NUL", [0]), ("control character", Array("{\"x\":\"\n\"}".utf8)), ("leading zero", Array(#"{"x":01}"#.utf8)),
        ("plus", Array(#"{"x":+1}"#.utf8)), ("bare point", Array(#"{"x":1.}"#.utf8)),
        ("bare exponent", Array(#"{"x":1e}"#.utf8)),
        ("NaN", Array(#"{"x":NaN}"#.utf8)), ("literal cut", Array(#"{"x":tru}"#.utf8)),
        ("invalid, then no JSON", Array(#"{"set":1,"sources":[}"#.utf8)),
        ("a bad fact, then no JSON", Array(#"{"sources":[{"facts":[{"kind":7},{"kind":}]}]}"#.utf8)),
    ]

    @Test(arguments: malformed) func whatIsNoJSONIsMalformed(name: String, body: [UInt8]) {
        let failure = #expect(throws: SetDecodingFailure.self) { try TransactionSet.decode(body) }
        #expect(failure?.kind == .malformed)
    }

    @Test func theMessageSaysAtWhichByte() {
        let failure = #expect(throws: SetDecodingFailure.self) {
            try TransactionSet.decode(Array(#"{"set":"\x"}"#.utf8))
        }
        #expect(failure?.pointer == "/set")
        #expect(failure?.message == "an unknown escape in a string, at byte 8")
    }

    @Test(arguments: ["[", #"{"a":"#, #"[{"a":"#]) func deepNestingIsMalformedAndEndsNoProcess(bracket: String) {
        let body = Array(String(repeating: bracket, count: 200_000).utf8)
        let failure = #expect(throws: SetDecodingFailure.self) { try TransactionSet.decode(body) }
        #expect(failure?.kind == .malformed)
        let unknown = Array(#"{"x":"#.utf8) + body
        #expect(throws: SetDecodingFailure.self) { try TransactionSet.decode(unknown) }
    }

    @Test func nestingIsAllowedUpToTheLimit() throws {
        func body(depth: Int) throws -> [UInt8] {
            var bytes = try Schemas.example("valid/minimal.json")
            let nested = String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
            bytes.replaceSubrange(0..<1, with: Array(#"{"x":\#(nested),"#.utf8))
            return bytes
        }
        #expect(try TransactionSet.decode(body(depth: 32)).sources.count == 1)
        #expect(throws: SetDecodingFailure.self) { try TransactionSet.decode(body(depth: 33)) }
    }

    @Test func anyPartOfADocumentIsMalformed() throws {
        let bytes = try Schemas.example("valid/unicode.json")
        for count in 0..<(bytes.count - 2) {
            let failure = #expect(throws: SetDecodingFailure.self) { try TransactionSet.decode(Array(bytes[..<count])) }
            #expect(failure?.kind == .malformed)
        }
    }

    @Test func aHugeBodyIsReadOrRefusedInTime() throws {
        let pieces = ["\"", "[0,", #"{"a":1,"#, "9", "\\ud83d\\ude00", " ", "{\"kind\":\"", "eyJ"]
        for piece in pieces {
            let body =
                Array(#"{"sources":[{"facts":["#.utf8)
                + Array(String(repeating: piece, count: 1_000_000 / piece.utf8.count).utf8)
            #expect(throws: SetDecodingFailure.self) { try TransactionSet.decode(body) }
        }
    }

    @Test func aSetOfNothingButBadFactsIsRefusedBeforeItsReceiptGetsHuge() throws {
        func body(_ count: Int) throws -> [UInt8] {
            var text = String(decoding: try Schemas.example("valid/minimal.json"), as: UTF8.self)
            text.replace(
                "\"clocks\"",
                with: "\"facts\":[\(Array(repeating: "0", count: count).joined(separator: ","))],\"clocks\"",
                maxReplacements: 1)
            return Array(text.utf8)
        }
        #expect(try TransactionSet.decode(body(10_000)).rejections.count == 10_000)
        let failure = #expect(throws: SetDecodingFailure.self) { try TransactionSet.decode(body(10_001)) }
        #expect(failure?.kind == .invalid)
    }

    @Test func aReasonIsShortWhateverTheFactSays() throws {
        let kind = "e" + String(repeating: "\u{301}", count: 100_000)
        var text = String(decoding: try Schemas.example("valid/unknown-kind.json"), as: UTF8.self)
        text.replace("measured", with: kind)
        let decoded = try TransactionSet.decode(Array(text.utf8))
        #expect(decoded.rejections.count == 1)
        #expect(decoded.rejections.allSatisfy { $0.reason.utf8.count < 300 })
    }

    @Test func aReceiptCutsReasonsThatNobodyCouldReadBack() throws {
        let rejection = Receipt.Rejection(
            source: .fixed(1), sequence: 1, index: 0, reason: String(repeating: "é", count: 5000))
        let receipt = try Receipt.decode(Receipt(set: .fixed(0), acceptedCount: 0, rejections: [rejection]).encoded())
        #expect(receipt.rejections.first?.reason.unicodeScalars.count == Limits.textLength)
    }

    @Test func atMostAThousandSourcesFitInASet() throws {
        func set(_ count: UInt64) -> TransactionSet {
            let shares = (0..<count).map { number in
                TransactionSet.Share(
                    source: SourceIdentity(id: .fixed(number)),
                    clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)])
            }
            return TransactionSet(id: .fixed(0), sources: shares)
        }
        #expect(try TransactionSet.decode(set(1000).encoded()) == set(1000))
        let failure = #expect(throws: SetDecodingFailure.self) { try TransactionSet.decode(set(1001).encoded()) }
        #expect(failure?.pointer == "/sources")
    }

    @Test func aSequenceGivenTwiceIsLeftToTheStore() throws {
        var set = try TransactionSet.decode(Schemas.example(Self.login))
        set.sources[0].facts.append(set.sources[0].facts[1])
        let decoded = try TransactionSet.decode(set.encoded())
        #expect(decoded == set)
        #expect(decoded.rejections.isEmpty)
    }

    /// 10,000 documents with a few changed bytes: an accepted document must mean the same after it is written and read
    /// again.
    @Test func mutatedSetsNeverCrashAndWhatIsReadIsStable() throws {
        var random = SeededGenerator(seed: 42)
        let originals = try Schemas.examples("valid").filter { !$0.hasPrefix("receipt-") }.map {
            try Schemas.example("valid/\($0)")
        }
        var taken = 0
        for round in 0..<10_000 {
            let body = random.mutated(originals[round % originals.count])
            do throws(SetDecodingFailure) {
                var kept = try TransactionSet.decode(body)
                taken += 1
                let again = try TransactionSet.decode(kept.encoded())
                kept.rejections = []
                #expect(again == kept, "\(String(decoding: body, as: UTF8.self))")
            } catch {
                #expect(error.kind == .invalid || error.message.contains("at byte"))
            }
        }
        // Otherwise the mutations would be too wild to prove anything.
        #expect((500..<9_500).contains(taken))
    }

    /// Foundation must also parse each accepted document. The test doesn't check the reverse, because Foundation
    /// accepts numbers and text that Waybill rejects.
    @Test func whatIsReadIsJSONForFoundationToo() throws {
        var random = SeededGenerator(seed: 7)
        let original = try Schemas.example("valid/every-kind-and-member.json")
        for _ in 0..<3_000 {
            let body = random.mutated(original)
            guard (try? TransactionSet.decode(body)) != nil else { continue }
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(body)) }
        }
    }
}
