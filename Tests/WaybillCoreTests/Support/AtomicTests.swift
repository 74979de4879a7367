import Dispatch
import Testing

@testable import WaybillAtomics
@testable import WaybillCore

/// A wrong count here doubles or loses a fact.
@Suite(.timeLimit(.minutes(5))) struct AtomicTests {
    @Test func everyValueComesBackAsItWas() {
        func comesBack<Value: AtomicValue & Equatable>(_ values: [Value]) -> Bool {
            values.allSatisfy { value in
                let atomic = Atomic(value)
                let loads = [
                    atomic.load(ordering: .relaxed), atomic.load(ordering: .acquiring),
                    atomic.load(ordering: .sequentiallyConsistent), atomic.exchange(value), atomic.exchange(value),
                ]
                return loads.allSatisfy { $0 == value }
            }
        }
        #expect(comesBack([true, false]))
        #expect(comesBack([Int.min, -1, 0, .max]))
        #expect(comesBack([Int32.min, -1, 0, .max]))
        #expect(comesBack([Int64.min, -1, 0, .max]))
        #expect(comesBack([UInt.min, .max]))
        #expect(comesBack([UInt64.min, .max]))
    }

    @Test func whatIsStoredIsThere() {
        let atomic = Atomic(1)
        atomic.store(2, ordering: .relaxed)
        #expect(atomic.load(ordering: .relaxed) == 2)
        atomic.store(-3, ordering: .releasing)
        #expect(atomic.exchange(4) == -3)
        atomic.store(5, ordering: .sequentiallyConsistent)
        #expect(atomic.add(2) == 7)
        atomic.subtract(10)
        #expect(atomic.load(ordering: .relaxed) == -3)
    }

    @Test func countsWrapAround() {
        let atomic = Atomic(Int32.max)
        #expect(atomic.add(1) == .min)
        atomic.subtract(1)
        #expect(atomic.load(ordering: .relaxed) == .max)
    }

    @Test func aValueIsPutOnlyWhereTheExpectedOneIs() {
        let atomic = Atomic<Int64>(-1)
        #expect(atomic.compareExchange(expected: -1, desired: 5) == (true, -1))
        #expect(atomic.compareExchange(expected: -1, desired: 6) == (false, 5))
        #expect(atomic.weakCompareExchange(expected: 4, desired: 6) == (false, 5))
        #expect(atomic.load(ordering: .relaxed) == 5)
    }

    @Test func bitsAreSetOnceAndTheOthersStay() {
        let atomic = Atomic<UInt64>(4)
        #expect(atomic.set(bits: 1) == 4)
        #expect(atomic.set(bits: 1) == 5)
        #expect(atomic.add(4) == 9)
    }

    /// Breaks when an operation is not atomic.
    @Test func threadsLoseNothing() {
        let count = Atomic(0)
        let exchanged = Atomic<UInt64>(0, isContended: true)
        let first = Atomic(false)
        let firstCount = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<10_000 {
                count.add(1)
                var old = exchanged.load(ordering: .acquiring)
                // Ends after its turn: each failure is another thread's success, or one of few spurious failures.
                for _ in 0..<1_000_000 {
                    let (isExchanged, found) = exchanged.weakCompareExchange(expected: old, desired: old + 1)
                    if isExchanged { break }
                    old = found
                }
            }
            if !first.exchange(true) { firstCount.add(1) }
        }
        #expect(count.load(ordering: .relaxed) == 40_000)
        #expect(exchanged.load(ordering: .relaxed) == 40_000)
        #expect(firstCount.load(ordering: .relaxed) == 1)
    }

    /// An acquire sees everything that was written before the release. The thread sanitizer checks this, too.
    @Test func whatIsReleasedIsSeen() {
        final class Box: @unchecked Sendable { var value = 0 }
        let box = Box()
        let isReady = Atomic(false)
        let seen = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 2) { number in
            if number == 0 {
                box.value = 42
                isReady.store(true, ordering: .releasing)
            } else {
                for _ in 0..<1_000_000_000 where isReady.load(ordering: .acquiring) {
                    seen.store(box.value, ordering: .relaxed)
                    break
                }
            }
        }
        #expect(seen.load(ordering: .relaxed) == 42)
    }

    @Test func aContendedOneHasItsLinesForItself() {
        for _ in 0..<20 {
            let atomic = Atomic(0, isContended: true)
            #expect(UInt(bitPattern: atomic.word) % 128 == 0)
        }
    }
}
