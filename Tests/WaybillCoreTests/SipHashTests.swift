import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct SipHashTests {
    private let key: SipHash.Value = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)

    private func hash(_ pieces: [[UInt8]]) -> [UInt8] {
        var hash = SipHash(key: key)
        for piece in pieces { piece.withUnsafeBytes { hash.update($0) } }
        return [hash.value.0, hash.value.1].flatMap { withUnsafeBytes(of: $0.littleEndian, Array.init) }
    }

    /// `vectors_sip128` of the reference implementation (github.com/veorq/SipHash).
    @Test(
        arguments: [
            (0, "a3817f04ba25a8e66df67214c7550293"), (1, "da87c1d86b99af44347659119b22fc45"),
            (2, "8177228da4a45dc7fca38bdef60affe4"),
            (3, "9c70b60c5267a94e5f33b6b02985ed51"),
        ] as [(UInt8, String)])
    func theVectorsOfItsAuthorsHold(count: UInt8, expected: String) {
        #expect(hash([Array(0..<count)]).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == expected)
    }

    @Test func piecesMakeNoDifference() {
        let bytes = (0..<200).map { UInt8($0) }
        for size in 1...33 {
            #expect(
                hash(stride(from: 0, to: 200, by: size).map { Array(bytes[$0..<min(200, $0 + size)]) }) == hash([bytes])
            )
        }
    }
}
