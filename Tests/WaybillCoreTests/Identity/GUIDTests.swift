import Foundation
import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct GUIDTests {
    /// RFC 9562, section 5.7: version 7 in the 13th digit, variant 8, 9, a or b in the 17th, and milliseconds in the
    /// first twelve.
    @Test func aNewOneIsAUUIDOfVersion7() {
        let before = Int64(Date().timeIntervalSince1970 * 1000)
        for _ in 0..<1000 {
            let text = Array(GUID().description)
            #expect(text[14] == "7")
            #expect("89ab".contains(text[19]))
        }
        let after = Int64(Date().timeIntervalSince1970 * 1000)
        #expect((before...after + 1).contains(GUID().millisecondsSince1970) || GUID().millisecondsSince1970 >= before)
    }

    /// Every random bit is 0 about as often as 1.
    @Test func theRestIsRandom() {
        let ids = (0..<4000).map { _ in GUID() }
        let randomBits = (0..<64).filter { $0 < 62 }
        for bit in randomBits {
            #expect((1700..<2300).contains(ids.count { $0.low >> UInt64(bit) & 1 == 1 }), "bit \(bit)")
        }
        for bit in 0..<12 {
            #expect((1700..<2300).contains(ids.count { $0.high >> UInt64(bit) & 1 == 1 }), "bit \(bit)")
        }
    }

    /// Both types write the canonical form, `UUID` in capitals, and the same text means the same bits.
    @Test func aUUIDAndBackIsTheSame() {
        for guid in [GUID(), GUID(high: 0, low: 0), GUID(high: 1, low: 2), GUID(high: .max, low: .max)] {
            #expect(UUID(guid).uuidString.lowercased() == guid.description)
            #expect(GUID(UUID(guid)) == guid)
        }
        let uuid = UUID()
        #expect(GUID(uuid).description == uuid.uuidString.lowercased())
        #expect(UUID(GUID(uuid)) == uuid)
    }

    @Test func fourThreadsMake100000WithoutTwoAlike() {
        let made = Locked(Set<GUID>())
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            let ids = (0..<25_000).map { _ in GUID() }
            made.withLock { $0.formUnion(ids) }
        }
        #expect(made.withLock(\.count) == 100_000)
    }

    @Test func textIsReadInEitherCaseAndWrittenInLowerCase() throws {
        let text = "01890a5d-ac96-774b-bcce-b302099a8057"
        #expect(try #require(GUID(text)).description == text)
        #expect(try #require(GUID(text.uppercased())).description == text)
        #expect(GUID(text)?.millisecondsSince1970 == 0x0189_0a5d_ac96)
        #expect(UUID(uuidString: GUID().description) != nil)
    }

    @Test func randomOnesComeBackFromTextAndBytes() {
        for _ in 0..<1000 {
            let id = GUID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
            #expect(GUID(id.description) == id)
            #expect(id.withBytes { GUID(bytes: $0) } == id)
            #expect(UUID(uuidString: id.description)?.uuidString.lowercased() == id.description)
        }
    }

    @Test(arguments: [
        "", "01890a5d-ac96-774b-bcce-b302099a805", "01890a5d-ac96-774b-bcce-b302099a80577",
        "01890a5dac96-774b-bcce-b302099a8057-",
        "g1890a5d-ac96-774b-bcce-b302099a8057", "{01890a5d-ac96-774b-bcce-b302099a8057}",
        "01890a5d-ac96-774b-bcce-b302099a805é",
        "01890a5d ac96 774b bcce b302099a8057", "01890a5dac96774bbcceb302099a8057",
        "TXN17-586AB00B-F16E-4AE6-8A91-021026492",
    ]) func anythingElseIsNil(text: String) { #expect(GUID(text) == nil) }

    @Test func orderIsTheOrderOfTheBytes() {
        let ids = (0..<500).map { _ in GUID(high: .random(in: .min ... .max), low: .random(in: .min ... .max)) }
        #expect(ids.sorted().map(\.description) == ids.map(\.description).sorted())
    }

    @Test func codableIsItsText() throws {
        let data = try JSONEncoder().encode([GUID.fixed(7)])
        #expect(String(decoding: data, as: UTF8.self) == "[\"0199f3a2-5c00-7000-8000-000000000007\"]")
        #expect(try JSONDecoder().decode([GUID].self, from: data) == [.fixed(7)])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([GUID].self, from: Data(#"["x"]"#.utf8)) }
    }
}
