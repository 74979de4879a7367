import Foundation
import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct JSONWriterTests {
    private func json(_ attributes: Attributes) -> String {
        var writer = JSONWriter()
        writer.attributes(attributes)
        return writer.text
    }

    @Test(
        arguments: [
            (["a": 1.0], #"{"a":1.0}"#), (["a": 1], #"{"a":1}"#), (["a": -0.0], #"{"a":-0.0}"#),
            (["a": 1e22], #"{"a":1e+22}"#),
            (["a": .double(.nan)], #"{"a":"nan"}"#), (["a": .double(-.infinity)], #"{"a":"-inf"}"#),
            (["b": true, "a": false], #"{"a":false,"b":true}"#),
            (["a": .integer(Int64.min)], #"{"a":-9223372036854775808}"#),
            (["a": .integer(Int64.max)], #"{"a":9223372036854775807}"#), ([:], "{}"),
            (["\"\u{1}\u{1f}": "\\/\n\u{7f}é"], "{\"\\\"\\u0001\\u001f\":\"\\\\/\\n\u{7f}é\"}"),
        ] as [(Attributes, String)]) func attributesAreWrittenCanonically(attributes: Attributes, text: String)
    { #expect(json(attributes) == text) }

    /// Any double keeps its bits, any integer stays an integer, and any string keeps its scalars.
    @Test func randomAttributesComeBackAsTheyWere() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<5_000 {
            let double = Double(bitPattern: random.next())
            let scalars = (0..<8).compactMap { _ in
                Unicode.Scalar(
                    UInt32.random(in: 0...0x11_0000, using: &random) >> UInt32.random(in: 0...20, using: &random))
            }
            let attributes: Attributes = [
                "d": .double(double.isFinite ? double : 0),
                "i": .integer(Int64.random(in: -Limits.largestInteger...Limits.largestInteger, using: &random)),
                "s": .string(String(String.UnicodeScalarView(scalars))),
            ]
            let bytes = Array(json(attributes).utf8)
            #expect(try JSONReader.read(bytes) { reader throws(JSONFailure) in try reader.attributes() } == attributes)
            #expect((try? JSONSerialization.jsonObject(with: Data(bytes))) != nil)
        }
    }
}
