import Foundation
import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct TransactionHeaderTests {
    static let id = "0199f3a2-4f80-7b44-ac6e-9f8e7d6c5b4a"
    static let source = "0199f3a2-4e10-7c22-9a4d-1f2e3d4c5b6a"

    @Test func allItsPartsAreReadAndWrittenCanonically() throws {
        let value = "\"\(Self.id)\";u=17;s=\"\(Self.source)\";n=42"
        let header = try #require(TransactionHeader(parsing: value))
        #expect(
            header
                == TransactionHeader(
                    transaction: try #require(GUID(Self.id)), useCase: 17, source: GUID(Self.source), exchange: 42))
        #expect(header.description == value)
    }

    @Test(arguments: try HeaderFieldExamples.published().valid) func aValidFieldIsRead(
        example: HeaderFieldExamples.Valid
    ) {
        let expected = TransactionHeader(
            transaction: example.transaction, useCase: example.useCase, source: example.source,
            exchange: example.exchange)
        #expect(TransactionHeader(parsing: example.value) == expected)
        #expect(TransactionHeader(parsing: expected.description) == expected)
    }

    @Test(arguments: try HeaderFieldExamples.published().malformed) func aMalformedFieldIsNil(value: String) {
        #expect(TransactionHeader(parsing: value) == nil)
    }

    @Test func aFieldInAnyCaseAndOrderIsWrittenCanonically() {
        let value = "  \"\(Self.id.uppercased())\";n=007;s=\"\(Self.source.uppercased())\";  u=3;a=1.5 "
        #expect(TransactionHeader(parsing: value)?.description == "\"\(Self.id)\";u=3;s=\"\(Self.source)\";n=7")
    }

    @Test func aFieldIsReadUpToItsLengthAndNoFurther() {
        let start = "\"\(Self.id)\";u=1;a=\""
        let padding = TransactionHeader.lengthLimit - start.utf8.count - 1
        #expect(TransactionHeader(parsing: start + String(repeating: "x", count: padding) + "\"") != nil)
        #expect(TransactionHeader(parsing: start + String(repeating: "x", count: padding + 1) + "\"") == nil)
    }

    @Test func anExchangeIsNotSentWithoutItsSource() {
        #expect(
            TransactionHeader(transaction: .fixed(1), useCase: 2, exchange: 3).description == "\"\(GUID.fixed(1))\";u=2"
        )
    }

    /// 20,000 fields, random or a few bytes away from a valid one, must not crash. A parsed field must have one
    /// canonical form.
    @Test func randomBytesAreNilOrStable() {
        var random = SeededGenerator(seed: 11)
        let original = Array("\"\(Self.id)\";u=17;s=\"\(Self.source)\";n=42;a=:aGk=:;b=%\"%c3%bc\"".utf8)
        var readCount = 0
        for round in 0..<20_000 {
            let bytes =
                round.isMultiple(of: 2)
                ? random.mutated(original)
                : (0..<Int.random(in: 0...80, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            guard let header = TransactionHeader(parsing: String(decoding: bytes, as: UTF8.self)) else { continue }
            readCount += 1
            #expect(TransactionHeader(parsing: header.description) == header)
            #expect(TransactionHeader(parsing: header.description)?.description == header.description)
        }
        #expect((500..<10_000).contains(readCount))
    }
}

/// `Schemas/examples/header-field.json`, which also tests Examples/PythonServer.
struct HeaderFieldExamples: Decodable {
    struct Valid: Decodable, Sendable {
        var value: String
        var transaction: GUID
        var useCase: Int
        var source: GUID?
        var exchange: Int64?

        enum CodingKeys: String, CodingKey {
            case value, transaction, source, exchange
            case useCase = "use_case"
        }
    }

    var valid: [Valid]
    var malformed: [String]

    static func published() throws -> HeaderFieldExamples {
        try JSONDecoder().decode(HeaderFieldExamples.self, from: Data(Schemas.example("header-field.json")))
    }
}
