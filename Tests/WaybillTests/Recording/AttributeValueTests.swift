import Foundation
import Testing
import Waybill
import WaybillQueries
import WaybillTesting

private enum Plan: String, AttributeConvertible { case paid }
private enum Level: UInt8, AttributeConvertible { case second = 2 }
private struct Money: AttributeConvertible {
    var amount: Int
    var attributeValue: AttributeValue? { .string("\(amount) EUR") }
}

/// An app's variables become attributes as they are. Breaks when code like that of the guides doesn't compile, or a
/// filter doesn't find the recorded value.
@Suite(.timeLimit(.minutes(5))) struct AttributeValueTests {
    @Test func variablesOfTheUsualTypesAreValues() throws {
        let (sku, part) = ("A-1", "xA-2".dropFirst())
        let (attempt, small, wide) = (2, Int8(-3), UInt64.max)
        let (price, share, isNew) = (9.5, Float(0.1), true)
        let exact = try #require(Decimal(string: "9.99"))
        let long = try #require(Decimal(string: "0.1234567890123456789012345"))
        let id = try #require(UUID(uuidString: "586AB00B-F16E-4AE6-8A91-0210264925C7"))
        let day = Date(timeIntervalSince1970: 1_772_366_400.25)
        let (coupon, nothing) = ("X9" as String?, nil as Int?)
        let attributes: Attributes = [
            "sku": sku, "part": part, "attempt": attempt, "small": small, "wide": wide, "price": price,
            "share": share, "isNew": isNew, "exact": exact, "long": long, "id": id, "day": day, "coupon": coupon,
            "nothing": nothing, "plan": Plan.paid, "level": Level.second, "money": Money(amount: 3),
        ]
        let expected: [String: AttributeValue] = [
            "sku": "A-1", "part": "A-2", "attempt": 2, "small": -3, "wide": "18446744073709551615", "price": 9.5,
            "share": 0.1, "isNew": true, "exact": 9.99, "long": "0.1234567890123456789012345",
            "id": "586ab00b-f16e-4ae6-8a91-0210264925c7", "day": "2026-03-01T12:00:00.250Z", "coupon": "X9",
            "plan": "paid", "level": 2, "money": "3 EUR",
        ]
        #expect(attributes == Attributes(expected))
    }

    /// A literal of `Decimal` is made from a `Double`, and has digits that are not in the source.
    @Test func aDecimalHasTheDigitsThatItWasWrittenWith() throws {
        let literals: [Decimal] = [19.99, 0.1, 3.1, 1234.56, -0.07, 100]
        let recorded = literals.map { $0.attributeValue }
        #expect(recorded == [19.99, 0.1, 3.1, 1234.56, -0.07, 100.0])
        #expect(try #require(Decimal(string: "0.1234567890123456789")).attributeValue == "0.1234567890123456789")
        #expect(Decimal.nan.attributeValue == "NaN")
    }

    @Test func aDurationIsItsSeconds() {
        #expect((["took": Duration.milliseconds(1_500)] as Attributes)["took"] == .double(1.5))
        #expect(Duration.seconds(-2).attributeValue == .double(-2))
        #expect(Duration.nanoseconds(250).attributeValue == .double(2.5e-7))
    }

    @Test func dictionariesAndVariablesConvert() {
        let texts: [String: String] = ["a": "x", "b": "y"]
        #expect(Attributes(texts) == ["a": "x", "b": "y"])
        let sparse: [String: Int?] = ["a": 1, "b": nil]
        #expect(Attributes(sparse) == ["a": 1])
        #expect(Attributes([:]).isEmpty && Attributes(["a": .integer(1)]) == ["a": 1])

        let (count, plan, missing) = (3, Plan.paid, nil as Double?)
        var attributes: Attributes = ["missing": 1]
        attributes["count"] = count
        attributes["plan"] = plan
        attributes["missing"] = missing
        attributes["took"] = Duration.seconds(2)
        attributes["literal"] = 2
        attributes["text"] = "t\(count)"
        #expect(attributes == ["count": 3, "plan": "paid", "took": 2.0, "literal": 2, "text": "t3"])
        if case .integer(let value)? = attributes["count"] { #expect(value == 3) } else { Issue.record("not a number") }
    }

    @Test func attributesNeedNoLabelInALog() throws {
        let transactions = TransactionManager.testing()
        transactions.begin(Login.self).log(.initiated, ["attempt": 2])
        transactions.begin(useCase: Login.code).log(1, ["attempt": 3])
        let events = try transactions.transactions(Login.self).flatMap { $0.timeline.filter { $0.kind == .event } }
        #expect(events.map(\.attributes) == [["attempt": 2], ["attempt": 3]])
    }

    @Test func literalsAndValuesWithTheirKindStayWhatTheyWere() {
        let text = "B"
        let attributes: Attributes = ["variant": "B", "n": -1, "share": 0.25, "wide": true, "sum": "\(text)2"]
        #expect(attributes["variant"] == "B" && attributes["n"] == -1 && attributes["share"] == 0.25)
        #expect(attributes["wide"] == true && attributes["sum"] == .string("B2"))
        #expect(
            ["a": .string(text), "b": .integer(2), "c": .double(2), "d": .bool(false)] as Attributes
                == ["a": "B", "b": 2, "c": AttributeValue.double(2), "d": false])
        #expect(([:] as Attributes).isEmpty && Attributes().isEmpty)
    }

    @Test func whatIsRecordedOfThemIsRedactedAndADateIsNot() throws {
        let transactions = TransactionManager.testing()
        let page = try #require(URL(string: "https://ada:pw@shop.example/cart?token=abcdef&step=2"))
        let (id, token) = (UUID(), "abcdef" as String?)
        let day = Date(timeIntervalSince1970: 1_772_366_400.25)
        transactions.perform(Login.self, attributes: ["page": page, "day": day, "id": id, "token": token]) { _ in }
        let recorded = try #require(transactions.transactions(Login.self).first).summary.attributes
        #expect(recorded["page"] == "https://[redacted]@shop.example/cart?token=[redacted]&step=2")
        #expect(recorded["day"] == "2026-03-01T12:00:00.250Z")
        #expect(recorded["id"] == .string(id.uuidString.lowercased()))
        #expect(recorded["token"] == "[redacted]")
    }

    /// Breaks when equal attributes are reported as different, or a name has two values.
    @Test func theOrderMakesNoDifferenceAndTheLastValueOfANameCounts() {
        let attributes: Attributes = ["a": 1, "b": "x", "a": 2]
        #expect(attributes == ["b": "x", "a": 2] && attributes.count == 2)
        #expect(attributes.keys == ["a", "b"])
        let nothing = nil as Int?
        #expect(["a": 1, "b": 2, "a": nothing, "b": 3] as Attributes == ["b": 3])
        #expect(["a": nothing, "b": 2, "a": 1] as Attributes == ["a": 1, "b": 2])
        #expect(Set([attributes, ["b": "x", "a": 2], ["a": 1, "b": "x"], ["a": 2]]).count == 3)
        var changed = attributes
        changed["a"] = nil
        changed["c"] = true
        #expect(changed == ["c": true, "b": "x"] && changed["a"] == nil && changed.keys.sorted() == ["b", "c"])
        #expect(attributes.merging(["a": 9, "z": 0]) { old, _ in old } == ["a": 2, "b": "x", "z": 0])
    }

    @Test func attributesAreAnObjectInJSONWhoseNamesAreLeftAsTheyAre() throws {
        let attributes: Attributes = ["itemCount": 2, "isNew": true]
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let json = try encoder.encode(["attributes": attributes])
        #expect(String(decoding: json, as: UTF8.self).contains("\"itemCount\":2"))
        #expect(try JSONDecoder().decode([String: Attributes].self, from: json)["attributes"] == attributes)
    }
}
