import Testing

@testable import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct ChaCha8Tests {
    /// Returns the bytes of the stream for a key of zeros.
    private func stream(block counter: UInt32, rounds: Int) -> String {
        let block = ChaCha8.block(key: .zero, counter: counter, rounds: rounds)
        return (0..<16).map { index in
            withUnsafeBytes(of: block[index].littleEndian) {
                $0.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
            }
        }.joined()
    }

    /// RFC 8439, appendix A.1, test vectors 1 and 2: a key of zeros, counters 0 and 1.
    @Test func withTwentyRoundsItIsTheCipherOfTheRFC() {
        #expect(
            stream(block: 0, rounds: 20)
                == "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
        )
        #expect(
            stream(block: 1, rounds: 20)
                == "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"
        )
    }

    /// draft-strombergson-chacha-test-vectors, TC1, 256-bit key, 8 rounds.
    @Test func withEightRoundsItIsChaCha8() {
        #expect(
            stream(block: 0, rounds: 8)
                == "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42"
        )
    }
}
