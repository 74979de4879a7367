#if os(Linux)
import PowerLoss
import TestSupport
import Testing

/// The store's contents after a power loss at any moment.
@Suite(.timeLimit(.minutes(10))) struct PowerLossTests {
    /// Breaks when a fact is lost that was synced or is older than five seconds, when a fact is doubled, or when a
    /// ledger does not balance.
    @Test(arguments: seeds(0..<10))
    func whatWasSyncedOrIsFiveSecondsOldSurvivesAndNothingIsDoubled(seed: Int) async throws {
        let folder = try TemporaryDirectory()
        var trial = PowerLossTrial(seed: seed, in: folder.url)
        let result = try await trial.run()
        #expect(result.problems == [])
        #expect(result.lostCount == 0)
        #expect(result.doubledCount == 0)
    }
}
#endif
