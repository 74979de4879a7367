import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct SupportCodeTests {
    @Test func itIsTheRandomTailInCrockfordsAlphabet() {
        #expect(GUID(high: 0, low: 0).supportCode.description == "0000-0000")
        #expect(GUID(high: 0, low: .max).supportCode.description == "ZZZZ-ZZZZ")
        #expect(GUID(high: 0, low: 0x00_4432_14C7).supportCode.description == "0123-4567")
    }

    @Test func randomOnesComeBackFromTheirText() {
        for _ in 0..<1000 {
            let code = GUID().supportCode
            #expect(SupportCode(code.description) == code)
            #expect(SupportCode(code.description.lowercased().replacing("-", with: "")) == code)
        }
    }

    @Test func lettersThatPeopleMixUpCountAsDigits() {
        #expect(SupportCode("olil-OLIL") == SupportCode("0111-0111"))
        #expect(SupportCode(" 0123 4567 ") == SupportCode("0123-4567"))
    }

    @Test(arguments: ["", "0123-456", "0123-45678", "0123-456U", "0123_4567", "0123-456é", "😀"])
    func anythingElseIsNil(text: String) { #expect(SupportCode(text) == nil) }
}
