import Testing

@testable import WaybillCore

/// Sets that people write without IDs, numbers and clocks.
@Suite(.timeLimit(.minutes(1))) struct SetByHandTests {
    private func decode(_ facts: String, source: String = #""app":"shop""#) throws -> TransactionSet {
        try TransactionSet.decode(Array(#"{"sources":[{\#(source),"facts":[\#(facts)]}]}"#.utf8))
    }

    private static let begun =
        #"{"kind":"begun","transaction":"0199f3a2-5c00-7a11-8f3e-6b1d2c3e4f50","use_case":{"code":17,"name":"login"},"at":"2026-11-25T18:57:59.432Z"}"#

    /// Breaks when the example of the documentation is not a valid set, or sending it twice makes two sources.
    @Test func theExampleIsReadAndTheSameBytesAreTheSameSource() throws {
        let bytes = try Schemas.example("valid/by-hand.json")
        let decoded = try TransactionSet.decode(bytes)
        let share = try #require(decoded.sources.first)
        #expect(decoded.rejections.isEmpty)
        #expect(share.facts.map(\.sequence) == [1, 2, 3] && share.facts.map(\.part) == [1, 1, 1])
        #expect(share.facts.map(\.atMicroseconds) == [0, 18_000, 80_000])
        #expect(share.clocks == [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 1_795_633_079_432_000)])
        #expect(share.ledger == Ledger(recorded: 3, pending: 3) && share.ledger.isBalanced)
        let event = Fact.Event.code(ofName: "requestSent")
        #expect(share.facts[1].content == .event(Fact.Event(code: event)))
        #expect(
            share.names == [
                RecordedName(useCase: 17, name: "login"), RecordedName(useCase: 17, event: event, name: "requestSent"),
            ])
        #expect(try TransactionSet.decode(bytes) == decoded)
        let other = try TransactionSet.decode(bytes + [0x20])
        #expect(other.id != decoded.id && other.sources[0].source.id != share.source.id)
    }

    /// Breaks when facts after a rejected beginning are assigned to the transaction before it.
    @Test func factsAfterARejectedBeginningBelongToNoOtherTransaction() throws {
        let event = #"{"kind":"event","event":1,"at":"2026-11-25T18:58:00Z"}"#
        let decoded = try decode(
            [Self.begun, #"{"kind":"begun","at":"2026-11-25T18:58:00Z"}"#, event].joined(separator: ","))
        #expect(decoded.sources[0].facts.count == 1)
        #expect(decoded.rejections.map(\.index) == [1, 2])
        #expect(decoded.rejections.allSatisfy { $0.source == decoded.sources[0].source.id })
    }

    /// Breaks when a recorder that keeps its source loses facts because one of them lacks a number.
    @Test func aSourceWithAnIDNumbersItsFacts() throws {
        let failure = #expect(throws: SetDecodingFailure.self) {
            try decode(Self.begun, source: #""source":"0199f3a2-4e10-7c22-9a4d-1f2e3d4c5b71""#)
        }
        #expect(failure?.kind == .invalid && failure?.message.contains("`sequence` is missing") == true)
    }

    /// Breaks when a name that can't be placed is dropped silently.
    @Test func aNameAloneNeedsItsUseCase() throws {
        let decoded = try decode(
            Self.begun + #",{"kind":"event","part":9,"sequence":12,"name":"sent","at":"2026-11-25T18:58:00Z"}"#)
        #expect(decoded.rejections.map(\.reason).first?.contains("add `event`") == true)
    }

    /// Breaks when a time is parsed wrongly, or an invalid time is accepted.
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29t23:59:59.999999999z", 951_868_799_999_999),
            ("2026-11-25T19:57:59.432+01:00", 1_795_633_079_432_000),
            ("2026-03-01T00:00:00-00:30", 1_772_325_000_000_000),
            ("2100-02-29T00:00:00Z", nil), ("2026-11-31T00:00:00Z", nil), ("2026-13-01T00:00:00Z", nil),
            ("9999-01-01T00:00:00Z", nil), ("2026-11-25T18:57:59", nil), ("2026-11-25T18:57:59.Z", nil),
            ("2026-11-25T18:57:59.1234567890Z", nil), ("2026-11-25T18:57:59+1:00", nil), ("yesterday", nil),
        ] as [(String, Int64?)])
    func timesAreThoseOfRFC3339(text: String, expected: Int64?) throws {
        let fact =
            #"{"kind":"begun","transaction":"0199f3a2-5c00-7a11-8f3e-6b1d2c3e4f50","use_case":17,"at":"\#(text)"}"#
        let decoded = try? decode(fact, source: #""clocks":[{"at_us":0,"offset_us":0}]"#)
        #expect(decoded?.sources[0].facts.first?.atMicroseconds == expected)
    }

    /// Breaks when a fact of a later version's kind is lost or changed on its way through this version.
    @Test func unknownKindsArePassedOnAsTheyCame() throws {
        let decoded = try TransactionSet.decode(Schemas.example("valid/unknown-kind.json"))
        #expect(
            decoded.sources[0].facts[1].content
                == .unknown(
                    Fact.Unknown(kind: "measured", members: #"{"quantity":"battery","value":0.83,"tags":["charging"]}"#)
                ))
        #expect(decoded.sources[0].facts[2].content == .unknown(Fact.Unknown(kind: "paused", members: "{}")))
        #expect(try TransactionSet.decode(decoded.encoded()) == decoded)
    }
}
