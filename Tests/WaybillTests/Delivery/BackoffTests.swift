import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import Waybill

@Suite(.timeLimit(.minutes(5))) struct BackoffTests {
    @Test func theBoundDoublesWithEachFailureUpToAnHour() {
        let bounds = [1, 2, 3, 9, 10, 11, 1_000, .max].map { Backoff().bound(afterFailures: $0) }
        #expect(
            bounds == [.seconds(10), .seconds(20), .seconds(40), .seconds(2_560)]
                + Array(repeating: .seconds(3_600), count: 4))
    }

    /// Breaks when clients that failed together come back together.
    @Test func waitsAreSpreadEvenlyBetweenNothingAndTheBound() {
        var generator = RandomNumbers(seed: 7)
        let waits = (0..<4_000).map { _ in Backoff().wait(afterFailures: 3, using: &generator) / .seconds(40) }
        #expect(waits.allSatisfy { (0...1).contains($0) })
        for tenth in 0..<10 {
            let share = waits.count { $0 >= Double(tenth) / 10 && $0 < Double(tenth + 1) / 10 }
            #expect((320...480).contains(share), "\(tenth)")
        }
    }
}
