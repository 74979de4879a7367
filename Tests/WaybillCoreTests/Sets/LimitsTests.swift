import Testing
import WaybillCore

/// The limits of the schemas: a value of the maximum length passes both ways, and a longer one doesn't.
@Suite(.timeLimit(.minutes(5))) struct LimitsTests {
    /// Returns `count` scalars of two UTF-8 bytes each.
    static func text(_ count: Int) -> String { String(repeating: "é", count: count) }

    static func rejections(_ content: Fact.Content, attributes: Attributes = [:]) throws -> [Receipt.Rejection] {
        let source = SourceIdentity(id: .fixed(1), attributes: attributes)
        let share = TransactionSet.Share(
            source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)],
            facts: [Fact(sequence: 5, part: 4, atMicroseconds: 0, content: content)])
        return try TransactionSet.decode(TransactionSet(id: .fixed(0), sources: [share]).encoded()).rejections
    }

    static let contents: [(String, Int, @Sendable (Int) -> Fact.Content)] = [
        (
            "/attributes", Limits.attributes,
            { count in
                let attributes = Dictionary(
                    uniqueKeysWithValues: (0..<count).map { ("\($0)", AttributeValue.bool(true)) })
                return .event(.init(code: 0, attributes: Attributes(attributes)))
            }
        ),
        ("/attributes/a", Limits.valueLength, { .event(.init(code: 0, attributes: ["a": .string(text($0))])) }),
        ("/attributes/" + text(64), Limits.nameLength, { .closed(.init(outcome: .failed, attributes: [text($0): 1])) }),
        (
            "/error/underlying", Limits.underlyingErrors,
            { .event(.init(code: 0, error: .init(code: 0, underlying: Array(repeating: .init(code: 1), count: $0)))) }
        ),
        ("/error/name", Limits.labelLength, { .event(.init(code: 0, error: .init(code: 0, name: text($0)))) }),
        ("/error/domain", Limits.labelLength, { .event(.init(code: 0, error: .init(domain: text($0), code: 0))) }),
        ("/error/text", Limits.textLength, { .event(.init(code: 0, error: .init(code: 0, text: text($0)))) }),
        ("/error/code", Limits.largestCode, { .event(.init(code: 0, error: .init(code: Int64(-$0)))) }),
        ("/event", Limits.largestCode, { .event(.init(code: $0)) }),
        ("/method", Limits.labelLength, { .exchangeOpened(.init(method: text($0), path: "")) }),
        ("/scheme", Limits.labelLength, { .exchangeOpened(.init(method: "GET", scheme: text($0), path: "")) }),
        ("/host", Limits.labelLength, { .exchangeOpened(.init(method: "GET", host: text($0), path: "")) }),
        ("/port", 65_535, { .exchangeOpened(.init(method: "GET", port: $0, path: "")) }),
        ("/path", Limits.fieldLength, { .exchangeOpened(.init(method: "GET", path: text($0))) }),
        ("/query", Limits.fieldLength, { .exchangeOpened(.init(method: "GET", path: "", query: text($0))) }),
        (
            "/headers", Limits.headerFields,
            {
                .exchangeOpened(
                    .init(
                        method: "GET", path: "", headerFields: Array(repeating: .init(name: "a", value: ""), count: $0))
                )
            }
        ),
        (
            "/headers/0/0", Limits.nameLength,
            { .exchangeOpened(.init(method: "GET", path: "", headerFields: [.init(name: text($0), value: "")])) }
        ),
        (
            "/headers/0/1", Limits.fieldLength,
            { .exchangeOpened(.init(method: "GET", path: "", headerFields: [.init(name: "a", value: text($0))])) }
        ),
        ("/status", 999, { .exchangeClosed(.init(exchange: 4, state: .completed, status: $0)) }),
    ]

    @Test(arguments: contents.dropLast()) func exactlyTheLimitIsTakenAndOneMoreIsRejected(
        pointer: String, limit: Int, content: @Sendable (Int) -> Fact.Content
    ) throws {
        #expect(try Self.rejections(content(limit)).isEmpty)
        let rejection = try #require(try Self.rejections(content(limit + 1)).first)
        #expect(rejection.sequence == 5)
        #expect(rejection.reason.hasPrefix("\(pointer): "))
    }

    /// Breaks when a WebSocket that was open for a day becomes a fact of many megabytes.
    @Test func aWebSocketHasSoManyMessagesAndNoMore() throws {
        func rejections(_ count: Int, reason: Int = 1) throws -> [Receipt.Rejection] {
            let message = Fact.WebSocket.Message(atMicroseconds: 1, isSent: true, isText: true, byteCount: 1)
            let socket = Fact.WebSocket(
                sentMessageCount: Int64(count), closeReason: Self.text(reason),
                messages: Array(repeating: message, count: count))
            let closed = Fact.ExchangeClosed(
                exchange: 4, state: .completed, transfer: Fact.Transfer(webSocket: socket))
            let share = TransactionSet.Share(
                source: SourceIdentity(id: .fixed(1)), clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)],
                facts: [Fact(sequence: 5, part: 0, atMicroseconds: 0, content: .exchangeClosed(closed))])
            return try TransactionSet.decode(TransactionSet(id: .fixed(0), sources: [share]).encoded()).rejections
        }
        #expect(try rejections(Limits.webSocketMessages, reason: Limits.labelLength).isEmpty)
        let tooMany = try #require(try rejections(Limits.webSocketMessages + 1).first)
        #expect(tooMany.reason.hasPrefix("/websocket/messages: "))
        let tooLong = try #require(try rejections(1, reason: Limits.labelLength + 1).first)
        #expect(tooLong.reason.hasPrefix("/websocket/close_reason: "))
    }

    @Test func aSourceWithTooManyAttributesRefusesTheSet() {
        let attributes = Attributes(Dictionary(uniqueKeysWithValues: (0..<33).map { ("\($0)", true) }))
        let failure = #expect(throws: SetDecodingFailure.self) {
            try Self.rejections(.event(.init(code: 0)), attributes: attributes)
        }
        #expect(failure?.pointer == "/sources/0/attributes")
    }

    @Test func sourcesClaimNoMoreThanABalanceCanHold() throws {
        let reasons = Dictionary(uniqueKeysWithValues: (0..<32).map { ("\($0)", Limits.largestInteger) })
        let ledger = Ledger(recorded: Limits.largestInteger, dropped: reasons)
        let share = TransactionSet.Share(
            source: SourceIdentity(id: .fixed(1)), clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)],
            ledger: ledger)
        let decoded = try TransactionSet.decode(TransactionSet(id: .fixed(0), sources: [share]).encoded())
        #expect(decoded.sources.first?.ledger.isBalanced == false)
    }

    /// Breaks when few bytes make very many rows, in one source of a set or in several together.
    @Test(arguments: ["names", "clocks", "dropped"]) func whatStandsBesideTheFactsOfASetHasALimit(member: String) throws
    {
        func share(_ count: Int, _ id: UInt64) -> TransactionSet.Share {
            var share = TransactionSet.Share(
                source: SourceIdentity(id: .fixed(id)), clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)])
            switch member {
            case "names": share.names = (0..<count).map { RecordedName(useCase: $0, name: "a") }
            case "clocks":
                share.clocks = (0..<Int64(count)).map { ClockAnchor(atMicroseconds: $0, offsetMicroseconds: 0) }
            default: share.dropped = (1...Int64(count)).map { DroppedRange(first: $0, last: $0, reason: .age) }
            }
            return share
        }
        func decode(_ shares: [TransactionSet.Share]) throws(SetDecodingFailure) {
            _ = try TransactionSet.decode(TransactionSet(id: .fixed(0), sources: shares).encoded())
        }
        let (most, half) = (Limits.envelopeItems, Limits.envelopeItems / 2)
        try decode([share(most, 1)])
        try decode([share(half, 1), share(half, 2)])
        let one = #expect(throws: SetDecodingFailure.self) { try decode([share(most + 1, 1)]) }
        #expect(one?.pointer == "/sources/0/\(member)" && one?.message.hasSuffix("send them in several sets") == true)
        let other = #expect(throws: SetDecodingFailure.self) { try decode([share(half, 1), share(half + 1, 2)]) }
        #expect(other?.pointer == "/sources/1/\(member)" && other?.kind == .invalid)
    }
}
