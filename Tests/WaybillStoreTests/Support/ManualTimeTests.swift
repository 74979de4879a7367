import Dispatch
import PowerLoss
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ManualTimeTests {
    /// Breaks when a store that repeatedly sets its timer without a delay hangs a test instead of failing it.
    @Test func aTimerThatSetsItselfAgainWithoutDelayIsAnError() {
        let time = ManualTime()
        let queue = DispatchQueue(label: "again")
        @Sendable func again() { time.run(after: .zero, on: queue) { again() } }
        again()
        #expect(throws: DidNotHappen.self) { try time.advance(by: .seconds(1), within: .milliseconds(50)) }
    }
}
