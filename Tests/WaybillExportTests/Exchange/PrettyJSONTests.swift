import Testing

@testable import WaybillExport

@Suite(.timeLimit(.minutes(5))) struct PrettyJSONTests {
    @Test func membersKeepTheirOrderAndNumbersTheirDigits() {
        let json = #"{"b":1.10,"a":[1,{"c":"x, {y}: \"z\\"}],"e":{},"f":[ ]}"#
        let pretty = """
            {
              "b": 1.10,
              "a": [
                1,
                {
                  "c": "x, {y}: \\"z\\\\"
                }
              ],
              "e": {},
              "f": []
            }
            """
        #expect(PrettyJSON.text(json) == pretty)
        #expect(PrettyJSON.text(pretty) == pretty)
    }

    @Test(arguments: [
        "", "x", "17", "\"text\"", "{", "{]", "[1,]", "{} {}", "{broken}", String(repeating: "[", count: 100_000),
    ])
    func whatIsNoObjectOrArrayIsLeftAlone(_ text: String) {
        #expect(PrettyJSON.text(text) == nil)
    }
}
