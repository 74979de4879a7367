import Foundation
import Testing
import WaybillCore

@Suite struct LegacySetTests {
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
                        id: id, useCase: 17, deviceMake: "iPhone6,1", deviceOS: "iPhone OS", deviceOSVersion: "8.1.3", logs: [log, failed])
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

    @Test(arguments: [
        ("id-missing", "/apptxns/0"), ("id-without-uuid", "/apptxns/0/apptxn~1id"), ("use-case-missing", "/apptxns/0"),
        ("use-case-negative", "/apptxns/0/apptxn~1usecase"), ("event-missing", "/apptxns/0/apptxn~1logs/0"),
        ("event-a-word", "/apptxns/0/apptxn~1logs/0/apptxnlog~1usecase-event"), ("list-missing", ""), ("root-is-an-array", ""),
    ])
    func whatNobodyCanStoreIsRefusedWithWhere(name: String, pointer: String) throws {
        let failure = #expect(throws: SetDecodingFailure.self) { try decode("legacy-invalid/\(name).json") }
        #expect(failure?.kind == .invalid && failure?.pointer == pointer)
    }

    @Test func everyPublishedDefectIsTriedHere() throws {
        #expect(try Schemas.examples("legacy-invalid").count == 8)
    }

    /// Breaks when some cut or changed body traps, or is taken for another kind of failure.
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

    @Test(arguments: ["login", "empty", "from-every-kind-and-member"]) func aSetIsWrittenAsTheFirstFrameworkWroteIt(name: String) throws {
        // Its JSON library escaped slashes, which means the same.
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

    @Test(arguments: ["", "vnd.fp.", "vnd.peapptxnlog."]) func theMediaTypeThatIsWrittenIsOneThatIsRead(prefix: String) {
        #expect(LegacyMediaType.matches(LegacyMediaType.value(prefix: prefix)))
        #expect(LegacyMediaType.value(prefix: prefix) == "application/\(prefix)apptxnset-v0.0.1+json;charset=UTF-8")
    }

    @Test func theMediaTypeHasAPrefixOfAnyKind() {
        for type in ["application/vnd.fp.apptxnset-v0.0.1+json;charset=UTF-8", "Application/apptxnset-v0.0.1+json ; charset=utf-8"] {
            #expect(LegacyMediaType.matches(type))
        }
        for type in ["application/vnd.fp.apptxnset-v0.0.2+json", "application/json", TransactionSet.mediaType, "", "application/+json"] {
            #expect(!LegacyMediaType.matches(type))
        }
    }
}
