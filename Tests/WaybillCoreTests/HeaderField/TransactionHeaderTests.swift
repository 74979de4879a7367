import Testing
import WaybillCore

@Suite struct TransactionHeaderTests {
    static let id = "0199f3a2-4f80-7b44-ac6e-9f8e7d6c5b4a"
    static let source = "0199f3a2-4e10-7c22-9a4d-1f2e3d4c5b6a"

    @Test func allItsPartsAreReadAndWrittenCanonically() throws {
        let value = "\"\(Self.id)\";u=17;s=\"\(Self.source)\";n=42"
        let header = try #require(TransactionHeader(parsing: value))
        #expect(header == TransactionHeader(transaction: try #require(GUID(Self.id)), useCase: 17, source: GUID(Self.source), exchange: 42))
        #expect(header.description == value)
    }

    @Test(arguments: [
        ("\"\(id)\";u=0", "\"\(id)\";u=0"),
        ("  \"\(id.uppercased())\";  u=0  ", "\"\(id)\";u=0"),
        ("\"\(id)\";n=1;s=\"\(source)\";u=3", "\"\(id)\";u=3;s=\"\(source)\";n=1"),
        ("\"\(id)\";u=1;u=2", "\"\(id)\";u=2"),
        ("\"\(id)\";u=?0;u=2", "\"\(id)\";u=2"),
        ("\"\(id)\";u=007", "\"\(id)\";u=7"),
        ("\"\(id)\";u=-0", "\"\(id)\";u=0"),
        ("\"\(id)\";u=999999999999999", "\"\(id)\";u=999999999999999"),
        ("\"\(id)\";u=1;s=\"\(source)\"", "\"\(id)\";u=1;s=\"\(source)\""),
        // Whatever RFC 9651 allows under a name that is not ours.
        ("\"\(id)\";a;b=?1;c=1.5;d=tok/en:*;e=:aGk=:;f=@-17;g=%\"f%c3%bc\";*h=\"\\\"\\\\\";i-_.*9=-5;u=1", "\"\(id)\";u=1"),
        ("\"\(id)\";u=1;e=::;f=:aGk:", "\"\(id)\";u=1"),
    ]) func aValidFieldIsRead(value: String, canonical: String) {
        #expect(TransactionHeader(parsing: value)?.description == canonical)
    }

    @Test(arguments: [
        "", " ", "\"", "\"\"", id, "\"\(id)\"", "\"\(id)\";u", "\"\(id)\";u=", "\"\(id)\";u=-1", "\"\(id)\";u=1.0", "\"\(id)\";u=\"1\"",
        "\"\(id)\";u=1000000000000000", "\"\(id)\" ;u=1", "\"\(id)\";u =1", "\"\(id)\";u= 1", "\"\(id)\";U=1", "\"\(id)\";u=1;",
        "\"\(id)\";u=1, \"\(id)\";u=1", "\"\(id)\";u=1 x", "\t\"\(id)\";u=1", "\"\(id)\";u=1\n", "\"\(id)\";u=1;n=1",
        "\"\(id)\";u=1;s=\"x\"",
        "\"\(id)\";u=1;s=\(source)", "\"\(id)\";u=1;s=\"\(source)\";n=0", "\"\(id)\";u=1;s=\"\(source)\";n=-1",
        "\"\(id)\";u=1;s=\"\(source)\";n=?1", "\"\(id)\";u=1;s=\"\(source)\";n", "\"\(id)\";u=1;s", "\"\(id) \";u=1", "\"TXN17-\(id)\";u=1",
        "\"\(id)\";u=1;a=:a:", "\"\(id)\";u=1;a=:aGk", "\"\(id)\";u=1;a=?2", "\"\(id)\";u=1;a=@1.5", "\"\(id)\";u=1;a=@",
        "\"\(id)\";u=1;a=--1",
        "\"\(id)\";u=1;a=1.", "\"\(id)\";u=1;a=1.2345", "\"\(id)\";u=1;a=1234567890123.5", "\"\(id)\";u=1;a=%\"%C3%BC\"",
        "\"\(id)\";u=1;a=%\"%ff\"",
        "\"\(id)\";u=1;a=%x", "\"\(id)\";u=1;a=\"\\n\"", "\"\(id)\";u=1;a=\"é\"", "\"\(id)\";u=1;a=(1 2)", "(\"\(id)\");u=1",
        "\"\(id)\";u=1;9=1",
    ]) func aMalformedFieldIsNil(value: String) {
        #expect(TransactionHeader(parsing: value) == nil)
    }

    @Test func aFieldIsReadUpToItsLengthAndNoFurther() {
        let start = "\"\(Self.id)\";u=1;a=\""
        let padding = TransactionHeader.lengthLimit - start.utf8.count - 1
        #expect(TransactionHeader(parsing: start + String(repeating: "x", count: padding) + "\"") != nil)
        #expect(TransactionHeader(parsing: start + String(repeating: "x", count: padding + 1) + "\"") == nil)
    }

    @Test func anExchangeIsNotSentWithoutItsSource() {
        #expect(TransactionHeader(transaction: .fixed(1), useCase: 2, exchange: 3).description == "\"\(GUID.fixed(1))\";u=2")
    }

    /// 20,000 fields, random or a few bytes away from a right one: no crash, and what is read once is written canonically for ever.
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
