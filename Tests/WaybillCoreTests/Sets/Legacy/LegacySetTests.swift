import Foundation
import Testing
import WaybillCore

@testable import WaybillLegacy

@Suite(.timeLimit(.minutes(5))) struct LegacySetTests {
    private func decode(_ name: String) throws -> LegacySet { try LegacySet.decode(Schemas.example(name)) }

    @Test func theGoldenSetIsRead() throws {
        let log = LegacySet.Log(event: 0, timestamp: "Fri, 06 Feb 2015 00:59:27 EST")
        let failed = LegacySet.Log(
            event: 3, timestamp: log.timestamp, errorCode: .number(-1001), errorDescription: "The request timed out.")
        let id = try #require(GUID("586AB00B-F16E-4AE6-8A91-0210264925C7"))
        #expect(
            try decode("legacy/login.json")
                == LegacySet(transactions: [
                    LegacySet.Transaction(
                        id: id, useCase: 17, deviceMake: "iPhone6,1", deviceOS: "iPhone OS", deviceOSVersion: "8.1.3",
                        logs: [log, failed])
                ]))
        #expect(try decode("legacy/empty.json") == LegacySet(transactions: []))
    }

    @Test func whatClientsAreKnownToDoIsUnderstood() throws {
        let set = try decode("legacy/quirks.json")
        #expect(set.transactions.map(\.useCase) == [4, 0, 9])
        #expect(set.transactions[0].deviceMake == nil && set.transactions[0].deviceOSVersion == "8.1")
        #expect(set.transactions.map(\.logs.count) == [4, 0, 0])
        let logs = set.transactions[0].logs
        #expect(logs.map(\.event) == [1, 2, 3, 4])
        #expect(logs.map(\.errorCode) == [.number(42), .text("E_TIMEOUT"), nil, nil])
        #expect(logs.map { LegacyDate.microseconds($0.timestamp) } == [1_423_202_367_000_000, nil, nil, nil])
        #expect(logs[3].timestamp.isEmpty && logs[3].context == "{:user-id 7}")
    }

    @Test(arguments: ["list-missing", "root-is-an-array"]) func whatIsNoSetIsRefused(name: String) throws {
        let failure = #expect(throws: SetDecodingFailure.self) { try decode("legacy-invalid/\(name).json") }
        #expect(failure?.kind == .invalid && failure?.pointer == "")
    }

    @Test(arguments: [
        ("id-missing", "/apptxns/0", false), ("id-without-uuid", "/apptxns/0/apptxn~1id", false),
        ("use-case-missing", "/apptxns/0", true),
        ("use-case-negative", "/apptxns/0/apptxn~1usecase", true), ("event-missing", "/apptxns/0/apptxn~1logs/0", true),
        ("event-a-word", "/apptxns/0/apptxn~1logs/0/apptxnlog~1usecase-event", true),
    ])
    func aTransactionThatCannotBeReadIsSetApartWithWhere(name: String, pointer: String, hasID: Bool) throws {
        let set = try decode("legacy-invalid/\(name).json")
        #expect(set.transactions.isEmpty)
        let unread = try #require(set.unread.first)
        #expect(unread.reason.hasPrefix("\(pointer): "), "\(unread.reason)")
        #expect((unread.transaction == GUID("586AB00B-F16E-4AE6-8A91-0210264925C7")) == hasID)
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(unread.json)) }
    }

    /// Breaks when one bad transaction costs all others of its set, and its client resends the set endlessly.
    @Test func theOthersOfASetAreReadWhereverTheBadOneStands() throws {
        func transaction(_ number: Int) -> String {
            #"{"apptxn/id":"TXN\#(number)-586AB00B-F16E-4AE6-8A91-0210264925C\#(number)"}"#
        }
        for bad in [#"{"apptxn/id":"TXN7"}"#, "7", "[]", #""x""#, #"{"apptxn/logs":[{},{"a":["]"]}]}"#] {
            for place in 0...2 {
                var elements = [transaction(1), transaction(2)]
                elements.insert(bad, at: place)
                let set = try LegacySet.decode(Array("{\"apptxns\":[\(elements.joined(separator: " , "))]}".utf8))
                #expect(set.transactions.map(\.useCase) == [1, 2])
                #expect(set.unread.map(\.json) == [Array(bad.utf8)])
                #expect(set.unread.allSatisfy { $0.reason.hasPrefix("/apptxns/\(place)") })
            }
        }
    }

    @Test func everyPublishedDefectIsTriedHere() throws {
        #expect(try Schemas.examples("legacy-invalid").count == 8)
    }

    /// Breaks when a cut or changed body traps, or fails with another kind of error.
    @Test func nothingThatIsReadTraps() throws {
        let bytes = try Schemas.example("legacy/quirks.json")
        for end in stride(from: 0, to: bytes.count - 2, by: 3) {
            #expect(throws: SetDecodingFailure.self) { try LegacySet.decode(Array(bytes[..<end])) }
        }
        for index in bytes.indices {
            var changed = bytes
            changed[index] = UInt8(ascii: "7")
            do { _ = try LegacySet.decode(changed) } catch { #expect(!error.message.isEmpty) }
        }
    }

    @Test(arguments: try Schemas.examples("legacy")) func whatIsReadIsWrittenAndReadAgainAlike(name: String) throws {
        let set = try decode("legacy/\(name)")
        #expect(try LegacySet.decode(set.encoded()) == set)
    }

    @Test(arguments: ["login", "empty", "from-every-kind-and-member"]) func aSetIsWrittenAsTheFirstFrameworkWroteIt(
        name: String
    ) throws {
        // The framework's JSON library escaped slashes, which means the same.
        let golden = withoutInsignificantSpaces(try Schemas.example("legacy/\(name).json")).replacing("\\/", with: "/")
        #expect(String(decoding: try decode("legacy/\(name).json").encoded(), as: UTF8.self) == golden)
    }

    @Test func longTextsAreCutRatherThanRefused() throws {
        let long = String(repeating: "ü", count: 5_000)
        let body =
            #"{"apptxns":[{"apptxn/id":"TXN1-586AB00B-F16E-4AE6-8A91-0210264925C7","apptxn/logs":[{"apptxnlog/usecase-event":1,"apptxnlog/in-ctx-err-desc":"\#(long)"}]}]}"#
        let set = try LegacySet.decode(Array(body.utf8))
        #expect(set.transactions[0].logs[0].errorDescription?.count == Limits.textLength)
    }

    @Test(arguments: ["", "vnd.fp.", "vnd.peapptxnlog."], ["0.0.1", "1.0.0"])
    func theMediaTypeThatIsWrittenIsOneThatIsRead(prefix: String, version: String) {
        let type = LegacyMediaType.value(prefix: prefix, version: version)
        #expect(LegacyMediaType.matches(type))
        #expect(type == "application/\(prefix)apptxnset-v\(version)+json;charset=UTF-8")
    }

    @Test func theMediaTypeHasAPrefixOfAnyKind() {
        for type in [
            "application/vnd.fp.apptxnset-v0.0.1+json;charset=UTF-8",
            "Application/apptxnset-v0.0.1+json ; charset=utf-8",
            "application/vnd.peapptxnlog.apptxnset-v1.0.0+json",
        ] {
            #expect(LegacyMediaType.matches(type))
        }
        for type in [
            "application/vnd.fp.apptxnset-v0.0.2+json", "application/apptxnset-v11.0.0+json", "application/json",
            TransactionSet.mediaType,
            "", "application/+json",
        ] {
            #expect(!LegacyMediaType.matches(type))
        }
    }
}
