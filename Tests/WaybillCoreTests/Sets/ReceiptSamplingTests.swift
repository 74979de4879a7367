import Testing
import WaybillCore

/// Sampling rates beside the verdicts of a receipt.
@Suite(.timeLimit(.minutes(5))) struct ReceiptSamplingTests {
    private static func receipt(_ sampling: String) -> [UInt8] {
        Array(
            #"{"set":"0199f3a2-5c00-7a11-8f3e-6b1d2c3e4f50","accepted":1,"known":2,"sampling":\#(sampling)}"#.utf8)
    }

    /// Breaks when a collector that sends nonsense keeps facts from being settled.
    @Test(arguments: [
        ("[]", []), ("null", [-1]), (#""0.1""#, [-1]), (#"{"sample_ppm":1}"#, [-1]), ("[0.1]", [-1]),
        (#"[{"sample_ppm":0.1},{"sample_ppm":7}]"#, [-1, 7]), (#"[{"sample_ppm":1e400}]"#, [-1]),
        (#"[{"sample_ppm":-5},{"sample_ppm":1000001}]"#, [-5, 1_000_001]), (#"[{"use_case":-1,"sample_ppm":3}]"#, [-1]),
        (#"[{"use_case":4}]"#, [-1]), (#"[{"sample_ppm":3,"later":[{}]}]"#, [3]),
        (#"[[[{"sample_ppm":3}]],null]"#, [-1, -1]),
    ])
    func whatIsWrongWithARateLeavesTheVerdicts(sampling: String, rates: [Int]) throws {
        let receipt = try Receipt.decode(Self.receipt(sampling))
        #expect(receipt.factCount == 3)
        #expect(receipt.samplingRates.map(\.perMillion) == rates)
    }

    @Test func whatIsNoJSONIsNoReceipt() {
        for sampling in ["[", "[{]", #"[{"sample_ppm":}]"#, "[1,]", #"[{"sample_ppm":1}"#] {
            #expect(throws: SetDecodingFailure.self) { try Receipt.decode(Self.receipt(sampling)) }
        }
    }

    /// Breaks when a receipt fills the memory of an app.
    @Test func oneTooManyIsKeptToShowThatThereAre() throws {
        let many = "[" + Array(repeating: #"{"sample_ppm":1}"#, count: 3_000).joined(separator: ",") + "]"
        #expect(try Receipt.decode(Self.receipt(many)).samplingRates.count == 257)
    }

    /// Breaks when the longest list of rates makes a receipt longer than clients read.
    @Test func theMostThatCanBeHandedOutFitsIntoAReceipt() {
        let rates = (0..<256).map { SamplingRate(useCase: Limits.largestCode - $0, perMillion: 1_000_000) }
        let receipt = Receipt(set: .fixed(0), acceptedCount: 0, samplingRates: rates)
        #expect(receipt.encoded().count < 16 << 10)
    }
}
