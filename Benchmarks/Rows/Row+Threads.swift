import Foundation
import TestSupport
import Waybill
import WaybillCore
import WaybillStore

extension Row {
    /// Eight threads record at once while the writer works; against one thread.
    static let log8 = Row("log8", unit: "ns/event", against: "one thread") {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let transactions = TransactionManager(store: .directory(folder))
        let login = transactions.begin(Login.self)
        try await transactions.sync()
        let eight = Threads(count: 8)
        let one = Threads(count: 1)
        let record = { @Sendable (count: Int) -> Int in (0..<count).count { _ in login.log(.initiated) == .journaled } }
        let drain = { _ = try? transactions.sources.source?.writer.runAndWait { _, _ in } }
        return Comparison.nanoseconds(operations: 10_000, before: drain) {
            let taken = eight.run { _ in record(1_250) }
            precondition(taken == 10_000, "events were refused: the figure would be of something else")
            return taken
        } against: {
            let taken = one.run { _ in record(10_000) }
            precondition(taken == 10_000, "events were refused: the figure would be of something else")
            return taken
        }
    }

    /// The durations of the slower calls, with eight threads and the writer at work, and 200,000 events a second;
    /// against reading the clock twice.
    static let logLatencies = [(99.9, "p99.9"), (99.99, "p99.99"), (100, "max")].map { percentile, name in
        Row("log.\(name)", unit: "us/call", against: "two looks at the clock") {
            let folder = TemporaryDirectory.place()
            defer { try? FileManager.default.removeItem(at: folder) }
            let transactions = TransactionManager(store: .directory(folder))
            let login = transactions.begin(Login.self)
            try await transactions.sync()
            let calls = Threads(count: 8).latencies { login.log(.initiated) == .journaled }
            let looks = Threads(count: 8).latencies { true }
            return Comparison(value: calls.percentile(percentile), baseline: looks.percentile(percentile))
        }
    }
}

/// Threads that wait for work, to keep starting them out of the measurement.
private final class Threads: Sendable {
    private let count: Int
    private let ready = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)
    private let work = Locked<(@Sendable (Int) -> Int)?>(nil)
    private let sum = Locked(0)

    init(count: Int) {
        self.count = count
        for number in 0..<count {
            Thread.detachNewThread { [ready, done, work, sum] in
                while true {
                    ready.wait()
                    guard let work = work.withLock({ $0 }) else { return }
                    let result = work(number)
                    sum.withLock { $0 += result }
                    done.signal()
                }
            }
        }
    }

    deinit {
        work.withLock { $0 = nil }
        for _ in 0..<count { ready.signal() }
    }

    /// Runs the same body on all threads, and returns the sum of the results.
    func run(_ body: @escaping @Sendable (_ thread: Int) -> Int) -> Int {
        work.withLock { $0 = body }
        sum.withLock { $0 = 0 }
        for _ in 0..<count { ready.signal() }
        for _ in 0..<count { done.wait() }
        return sum.withLock { $0 }
    }

    /// Returns the microseconds of each call over a second: 25 calls in each millisecond of each thread.
    func latencies(of call: @escaping @Sendable () -> Bool) -> [Double] {
        let all = Locked<[Double]>([])
        _ = run { _ in
            var mine: [Double] = []
            mine.reserveCapacity(25_000)
            let start = ContinuousClock.now
            for millisecond in 0..<1_000 {
                for _ in 0..<25 {
                    let before = ContinuousClock.now
                    let isDone = call()
                    let duration = ContinuousClock.now - before
                    if isDone { mine.append(duration / .microseconds(1)) }
                }
                let next = start + .milliseconds(millisecond + 1)
                while ContinuousClock.now < next { usleep(100) }
            }
            all.withLock { $0 += mine }
            return mine.count
        }
        return all.withLock { $0.sorted() }
    }
}

extension [Double] {
    /// Returns a percentile of sorted values; 0 if there are none.
    fileprivate func percentile(_ percentile: Double) -> Double {
        isEmpty ? 0 : self[Swift.min(count - 1, Int(Double(count) * percentile / 100))]
    }
}
