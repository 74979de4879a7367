import Testing

@testable import WaybillCore

/// The transactions that sampling chooses, and their weights.
@Suite(.timeLimit(.minutes(5))) struct SamplingTests {
    /// The vectors of Schemas/README.md, computed in Python.
    static let places: [(String, Int)] = [
        ("00000000-0000-0000-0000-000000000000", 607_535),
        ("ffffffff-ffff-ffff-ffff-ffffffffffff", 443_936),
        ("0199f3a2-5c00-7a11-8f3e-6b1d2c3e4f50", 587_266),
        ("0199f3a2-5c00-752e-89a7-834df2a74de4", 756_217),
        ("0199f3a2-5c00-7651-8317-1ff4a6a3a450", 345_705),
        ("0199f3a2-5c00-70ed-a079-d3bde8e25d94", 91_647),
    ]

    /// Breaks when a client and a server in another version or language choose different transactions.
    @Test(arguments: places) func everybodyChoosesTheSameTransactions(id: String, place: Int) throws {
        let guid = try #require(GUID(id))
        #expect(!guid.isChosen(perMillion: place) && guid.isChosen(perMillion: place + 1))
        #expect(!guid.isChosen(perMillion: 0) && guid.isChosen(perMillion: 1_000_000))
        let published = String(decoding: try Schemas.example("../README.md"), as: UTF8.self)
        #expect(published.contains("| `\(id)` | \(place) |"))
    }

    /// Breaks when IDs made one after another are chosen together, which changes the share.
    @Test func aShareOfNewIDsIsChosen() {
        let count = (0..<100_000).count { _ in GUID().isChosen(perMillion: 100_000) }
        // Ten standard deviations: one test in 10^23 fails by chance.
        #expect(abs(count - 10_000) < 950)
    }

    /// Breaks when a transaction delivered regardless of sampling counts for others, or a chosen one does not.
    @Test func aTransactionStandsForThoseThatWouldNotBeHere() {
        let chosen = Fact.Sampling(perMillion: 100_000, isChosen: true, slowMicroseconds: 1_000)
        let kept = Fact.Sampling(perMillion: 100_000, isChosen: false, slowMicroseconds: 1_000)
        for outcome in [TransactionOutcome.succeeded, .cancelled] {
            #expect(chosen.weight(for: outcome, tookMicroseconds: 1_000) == 10_000_000)
            #expect(kept.weight(for: outcome, tookMicroseconds: 1_000) == 0)
            #expect(chosen.weight(for: outcome, tookMicroseconds: 1_001) == 1_000_000)
            #expect(kept.weight(for: outcome, tookMicroseconds: 1_001) == 1_000_000)
        }
        for outcome in [TransactionOutcome.failed, .abandoned, .interrupted, .timedOut] {
            #expect(chosen.weight(for: outcome, tookMicroseconds: 1) == 1_000_000)
            #expect(kept.weight(for: outcome, tookMicroseconds: 1) == 1_000_000)
        }
        #expect(chosen.weight(for: .open, tookMicroseconds: nil) == 10_000_000)
        let least = Fact.Sampling(perMillion: 1, isChosen: true)
        #expect(least.weight(for: .succeeded, tookMicroseconds: 1) == 10_000_000_000)
    }
}
