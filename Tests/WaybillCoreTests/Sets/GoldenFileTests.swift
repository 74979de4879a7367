import Foundation
import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct GoldenFileTests {
    /// Files by other writers or a newer version: they mean the same, but look different.
    static let uncanonical: Set = [
        "any-order-and-escapes.json", "by-hand.json", "by-hand-exchange.json", "unknown-members.json",
    ]

    static func valid(receipts: Bool) throws -> [String] {
        try Schemas.examples("valid").filter { $0.hasPrefix("receipt-") == receipts }
    }

    @Test(arguments: try valid(receipts: false)) func everyValidSetIsReadWrittenAndReadAgainAlike(name: String) throws {
        let bytes = try Schemas.example("valid/\(name)")
        let decoded = try TransactionSet.decode(bytes)
        #expect(decoded.rejections.isEmpty)
        let encoded = decoded.encoded()
        #expect(try TransactionSet.decode(encoded) == decoded)
        guard !Self.uncanonical.contains(name) else { return }
        var text = String(decoding: encoded, as: UTF8.self)
        let golden = withoutInsignificantSpaces(bytes)
        // The version is optional.
        if !golden.hasPrefix("{\"version\"") { text.replace("{\"version\":1,", with: "{", maxReplacements: 1) }
        #expect(text == golden)
    }

    @Test(arguments: try valid(receipts: true)) func everyValidReceiptIsReadWrittenAndReadAgainAlike(name: String)
        throws
    {
        let bytes = try Schemas.example("valid/\(name)")
        let receipt = try Receipt.decode(bytes)
        #expect(String(decoding: receipt.encoded(), as: UTF8.self) == withoutInsignificantSpaces(bytes))
        #expect(try Receipt.decode(receipt.encoded()) == receipt)
    }

    @Test func aSetSaysItsVersionAndTheReaderOfAnotherSaysWhatToDo() throws {
        let set = TransactionSet(id: .fixed(1), sources: [])
        #expect(String(decoding: set.encoded(), as: UTF8.self).hasPrefix("{\"version\":\(TransactionSet.version),"))
        #expect(TransactionSet.mediaType.contains(".v\(TransactionSet.version)+"))
        let failure = #expect(throws: SetDecodingFailure.self) {
            try TransactionSet.decode(Schemas.example("invalid/version-2.json"))
        }
        #expect(failure?.message.contains("version 2; update Waybill") == true)
    }

    @Test func membersThatAreNotKnownChangeNothing() throws {
        let plain = try TransactionSet.decode(Schemas.example("valid/login-from-client.json"))
        #expect(try TransactionSet.decode(Schemas.example("valid/unknown-members.json")) == plain)
    }

    @Test func orderOfMembersAndEscapesChangeNothing() throws {
        let set = try TransactionSet.decode(Schemas.example("valid/any-order-and-escapes.json"))
        let share = try #require(set.sources.first)
        #expect(share.source.id == GUID("0199f3a2-4e10-7c22-9a4d-1f2e3d4c5b6a"))
        #expect(share.facts.first?.sequence == 2)
        #expect(share.facts.first?.content == .closed(Fact.Closed(outcome: .succeeded)))
        guard case .opened(let opened)? = share.facts.last?.content else {
            return #expect(Bool(false), "no opened fact")
        }
        #expect(opened.attributes == ["😀": "é/", "e": .double(100)])
    }

    /// Breaks when set attributes count as events, or are lost.
    @Test func attributesSetIsAKindOfItsOwn() throws {
        let name = "valid/attributes-set.json"
        let facts = try #require(try TransactionSet.decode(Schemas.example(name)).sources.first).facts
        #expect(
            facts[2...4].map(\.content) == [
                .attributesSet(Fact.AttributesSet(attributes: ["user": "kfjaopecbdmnlghi"])),
                .attributesSet(
                    Fact.AttributesSet(attributes: ["coupon": "SUMMER", "variant": "B"], removed: ["tenant"])),
                .attributesSet(Fact.AttributesSet(removed: ["coupon"])),
            ])
    }

    @Test func everyKindIsReadWithItsMembers() throws {
        let share = try #require(
            try TransactionSet.decode(Schemas.example("valid/every-kind-and-member.json")).sources.first)
        #expect(share.hasEnded)
        #expect(share.ledger == Ledger(recorded: 12, pending: 12, refused: 3))
        #expect(share.facts.count == 12)
        let source = GUID("0199f39f-0b00-7d33-8b5c-0a1b2c3d4e5f") ?? .fixed(0)
        let transaction = GUID("0199f3a2-4f80-7b44-ac6e-9f8e7d6c5b4a") ?? .fixed(0)
        let attributes: Attributes = [
            "bool": true, "double": 0.25, "exponent": 1e-7, "integer": -3, "string": "", "whole_double": .double(2),
        ]
        let opened = Fact.Opened(
            transaction: transaction, useCase: 0, isJoined: true, timeoutMicroseconds: 0,
            cause: FactID(source: source, sequence: 9),
            attributes: attributes)
        #expect(share.facts[0] == Fact(sequence: 1, part: 1, atMicroseconds: 0, content: .opened(opened)))
        #expect(
            share.facts[1].content
                == .event(
                    Fact.Event(
                        code: 1,
                        error: RecordedError(domain: "NSURLErrorDomain", code: -1001, text: "The request timed out."),
                        attributes: ["attempt": 2])))
        #expect(
            share.facts[3].content
                == .exchangeOpened(
                    Fact.ExchangeOpened(
                        method: "GET", scheme: "http", host: "127.0.0.1", port: 8477, path: "/a%20b",
                        query: "token=[redacted]&q=",
                        headerFields: [.init(name: "Accept", value: "*/*"), .init(name: "Cookie", value: "[redacted]")])
                ))
        #expect(
            share.facts[4].content
                == .exchangeClosed(
                    Fact.ExchangeClosed(
                        exchange: 4, state: .failed, sentByteCount: 0,
                        error: RecordedError(domain: "NSURLErrorDomain", code: -1004))))
    }

    @Test func whatIsBelowAnotherTransactionIsRead() throws {
        let share = try #require(
            try TransactionSet.decode(Schemas.example("valid/parent-and-child.json")).sources.first)
        let opened = share.facts.compactMap { fact -> Fact.Opened? in
            if case .opened(let opened) = fact.content { opened } else { nil }
        }
        #expect(opened.map(\.parent) == [nil, opened[0].transaction, GUID("0199f3a1-0000-7b44-ac6e-777788889999")])
        #expect(opened.map(\.parentPart) == [nil, 1, nil])
    }

    @Test func thePartsThatASetContinuesAreReadAndPassedOverByReadersOfBefore() throws {
        let text = String(decoding: try Schemas.example("valid/continues.json"), as: UTF8.self)
        let share = try #require(try TransactionSet.decode(Array(text.utf8)).sources.first)
        #expect(share.continuedParts.map(\.part) == share.earlierParts)
        #expect(share.continuedParts.map(\.useCase) == [17, 0])
        // The set as a reader that doesn't know the member sees it.
        let before = try TransactionSet.decode(Array(text.replacing("\"continues\"", with: "\"new\"").utf8))
        #expect(before.sources[0].facts == share.facts && before.rejections.isEmpty)
    }

    @Test func howAnExchangeWentOnItsWayIsRead() throws {
        let share = try #require(
            try TransactionSet.decode(Schemas.example("valid/exchange-transfer.json")).sources.first)
        let transfers = share.facts.compactMap { fact -> Fact.Transfer? in
            guard case .exchangeClosed(let closed) = fact.content else { return nil }
            return closed.transfer
        }
        let redirects = [
            Fact.Redirect(status: 301, url: "https://api.example.com/new", atMicroseconds: 70_000),
            Fact.Redirect(status: 307, url: "https://www.example.com/new?token=[redacted]", atMicroseconds: 80_000),
        ]
        #expect(
            transfers == [
                Fact.Transfer(
                    httpVersion: "2", receivedWireByteCount: 41, sentAtMicroseconds: 62_000,
                    phases: Fact.Phases(
                        lookupMicroseconds: 4_000, connectMicroseconds: 20_000, secureMicroseconds: 31_000),
                    isConnectionReused: false, redirects: redirects),
                Fact.Transfer(isMocked: true, rule: "maintenance"),
                Fact.Transfer(isConnectionReused: true, rule: "cut after 100 bytes"),
            ])
    }

    @Test func whatWentOverAWebSocketIsRead() throws {
        let share = try #require(
            try TransactionSet.decode(Schemas.example("valid/websocket.json")).sources.first)
        let sockets = share.facts.compactMap { fact -> Fact.WebSocket? in
            guard case .exchangeClosed(let closed) = fact.content else { return nil }
            return closed.transfer.webSocket
        }
        #expect(
            sockets == [
                Fact.WebSocket(
                    sentMessageCount: 1, receivedMessageCount: 2, pingCount: 1, closeCode: 1000,
                    closeReason: "delivered",
                    messages: [
                        .init(atMicroseconds: 43_000, isSent: true, isText: true, byteCount: 21),
                        .init(atMicroseconds: 1_043_000, isSent: false, isText: true, byteCount: 30),
                        .init(atMicroseconds: 8_390_000, isSent: false, isText: false, byteCount: 300),
                    ]),
                Fact.WebSocket(closeCode: 1011),
            ])
    }

    // MARK: Invalid

    /// Returns the position of the mistake in each invalid example, as a JSON pointer.
    static func places() throws -> [String: String] {
        try JSONDecoder().decode([String: String].self, from: Data(Schemas.example("where.json")))
    }

    @Test func everyInvalidExampleHasAPlace() throws {
        let files = try ["invalid", "invalid-records"].flatMap { folder in
            try Schemas.examples(folder).map { "\(folder)/\($0)" }
        }
        #expect(files.sorted() == (try Self.places()).keys.sorted())
        #expect(files.count > 60)
    }

    @Test(arguments: try Schemas.examples("invalid")) func everyInvalidEnvelopeIsRefusedWithWhere(name: String) throws {
        let bytes = try Schemas.example("invalid/\(name)")
        let failure = #expect(throws: SetDecodingFailure.self) {
            if name.hasPrefix("receipt-") {
                _ = try Receipt.decode(bytes)
            } else {
                _ = try TransactionSet.decode(bytes)
            }
        }
        #expect(failure?.kind == .invalid)
        #expect(failure?.pointer == (try Self.places())["invalid/\(name)"])
        #expect(failure?.message.isEmpty == false)
    }

    @Test(arguments: try Schemas.examples("invalid-records")) func everyInvalidRecordIsRejectedAloneWithWhere(
        name: String
    ) throws {
        let decoded = try TransactionSet.decode(Schemas.example("invalid-records/\(name)"))
        let share = try #require(decoded.sources.first)
        #expect(share.facts.map(\.sequence) == [1, 9])
        let rejection = try #require(decoded.rejections.first)
        #expect(decoded.rejections.count == 1)
        #expect(rejection.source == share.source.id)
        #expect(rejection.index == 1)
        let pointer = try #require(try Self.places()["invalid-records/\(name)"])
        #expect(pointer.isEmpty ? !rejection.reason.hasPrefix("/") : rejection.reason.hasPrefix("\(pointer): "))
        let isReadable = !name.contains("sequence-") && name != "not-an-object.json"
        #expect((rejection.sequence != nil) == isReadable || name == "cause-without-sequence.json")
    }
}
