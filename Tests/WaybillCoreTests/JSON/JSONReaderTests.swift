import Testing

@testable import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct JSONReaderTests {
    private func attribute(_ json: String) throws(JSONFailure) -> AttributeValue {
        try JSONReader.read(Array(json.utf8)) { reader throws(JSONFailure) in try reader.attributeValue() }
    }

    @Test(arguments: [
        ("0", AttributeValue.integer(0)), ("-0", 0), ("9007199254740991", 9_007_199_254_740_991),
        ("-9007199254740991", -9_007_199_254_740_991),
        ("0.0", .double(0)), ("-0.0", .double(-0.0)), ("1e2", .double(100)), ("1E-2", .double(0.01)),
        ("5e-324", .double(.leastNonzeroMagnitude)),
        ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)), ("0.1", .double(0.1)),
        ("9007199254740993.0", .double(9_007_199_254_740_992)),
        ("true", true), ("false", false), (#""""#, ""), (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{c}\n\r\tz"),
        (#""\u00e9\u20AC\ud83d\uDE00\u0000""#, "é€😀\u{0}"), (" \t\r\n1 ", 1),
    ]) func valuesKeepTheirTypeAndMeaning(json: String, value: AttributeValue) throws {
        #expect(try attribute(json) == value)
    }

    @Test(arguments: [
        "9007199254740992", "-9007199254740992", "99999999999999999999999999", "1e309", "-1e309", "null", "[]", "{}",
    ])
    func valuesThatNoAttributeCanHoldAreInvalid(json: String) {
        let failure = #expect(throws: JSONFailure.self) { try attribute(json) }
        #expect(failure?.kind == .invalid)
        #expect(failure?.offset == 0)
    }

    @Test func integersThatDoNotFitAWordAreInvalid() {
        for digits in [
            "9223372036854775807", "9223372036854775808", "18446744073709551616",
            "1" + String(repeating: "0", count: 400),
        ] {
            let failure = #expect(throws: JSONFailure.self) {
                try JSONReader.read(Array(digits.utf8)) { reader throws(JSONFailure) in
                    try reader.integer(in: 0...Limits.largestInteger)
                }
            }
            #expect(failure?.kind == .invalid)
        }
    }

    /// Every sequence of two bytes, and many of three and four: valid exactly when the standard library accepts it.
    @Test func stringsAreUTF8ExactlyWhenTheStandardLibrarySaysSo() {
        var random = SeededGenerator(seed: 1)
        var sequences: [[UInt8]] = []
        for first in UInt8(0x80)...0xFF { for second in UInt8(0x20)...0xFF { sequences.append([first, second]) } }
        let leads: [UInt8] = [0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xC2]
        for _ in 0..<60_000 {
            let lead = leads.randomElement(using: &random) ?? 0
            let rest = (0..<Int.random(in: 2...3, using: &random)).map { _ in
                UInt8.random(in: 0x7D...0xC1, using: &random)
            }
            sequences.append([lead] + rest)
        }
        var validCount = 0
        for sequence in sequences where !sequence.contains(UInt8(ascii: "\"")) && !sequence.contains(UInt8(ascii: "\\"))
        {
            let isValid = String(utf8: sequence) != nil
            let document = [UInt8(ascii: "\"")] + sequence + [UInt8(ascii: "\"")]
            let isSkipped =
                (try? JSONReader.read(document) { reader throws(JSONFailure) in try reader.skipValue() }) != nil
            if isSkipped != isValid { Issue.record("\(sequence): valid \(isValid), skipped \(isSkipped)") }
            validCount += isValid ? 1 : 0
        }
        #expect(validCount > 1000)
    }

    @Test func ofANameThatComesTwiceTheLastCounts() throws {
        let attributes = try JSONReader.read(Array(#"{"a":1,"\u0061":2}"#.utf8)) { reader throws(JSONFailure) in
            try reader.attributes()
        }
        #expect(attributes == ["a": 2])
    }

    @Test(arguments: [
        ("", 0), ("/a", 3), ("/b", 12), ("/b/0", 13), ("/b/1/c~1d~0", 26), ("/é", 36), ("", 99),
    ]) func aPointerNamesTheInnermostValue(path: String, offset: Int) {
        let document = Array(#"{"a": 1,"b":[2,{"c\/d~" : null}],"é":false}"#.utf8)
        document.withUnsafeBufferPointer { #expect(JSONPointer.path(to: offset, in: $0) == path) }
    }
}
