#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
@testable import WaybillQueries
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct SetWriterTests {
    private let folder: TemporaryDirectory
    private let writer: SetWriter
    private let counters = Counters()

    init() throws {
        folder = try TemporaryDirectory()
        let counters = counters
        writer = SetWriter(.folder(folder.url)) { counters.count($0) }
    }

    /// Breaks when every request waits for its own sync.
    @Test func setsThatWaitAtTheSameTimeShareACommit() async throws {
        let hold = DispatchSemaphore(value: 0)
        writer.thread.perform { _ in hold.wait() }
        let receipts = try await withThrowingTaskGroup(of: Receipt.self) { group in
            for _ in 0..<50 {
                group.addTask { [writer] in
                    try await writer.add(
                        ReceivedSet(
                            set: Redactor().redacted(LoginHistory().clientSet()),
                            atMicroseconds: LoginHistory.begun))
                }
            }
            do {
                defer { hold.signal() }  // waiting sets could not be cancelled
                try await eventually("50 sets wait") { writer.waitingCount == 50 }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(receipts.map(\.acceptedCount) == Array(repeating: 6, count: 50))
        #expect(counters.values.commits == 1)
        #expect(counters.values.acceptedFacts == 300)
    }

    /// Breaks when a client that sends many large sets at once delays all others until all of its sets are written.
    @Test func aSmallSetWaitsForTheFirstLargeOneAndNotForAll() async throws {
        let commits = Locked<[[Int]]>([])
        let writer = SetWriter(.folder(folder.file("other"))) { results in
            commits.withLock { $0.append(results.compactMap { try? $0.get().acceptedCount }) }
        }
        let hold = DispatchSemaphore(value: 0)
        writer.thread.perform { _ in hold.wait() }
        try await withThrowingTaskGroup(of: Receipt.self) { group in
            do {
                defer { hold.signal() }
                for (number, count) in [20_000, 20_000, 20_000, 6].enumerated() {
                    group.addTask {
                        var set = LoginHistory().clientSet(1...1)
                        set.sources[0].facts += (2...Int64(count)).map {
                            Fact(sequence: $0, part: 1, atMicroseconds: $0, content: .event(Fact.Event(code: 1)))
                        }
                        return try await writer.add(
                            ReceivedSet(
                                set: Redactor().redacted(set), atMicroseconds: LoginHistory.begun))
                    }
                    try await eventually("\(number + 1) sets wait") { writer.waitingCount == number + 1 }
                }
            }
            try await group.waitForAll()
        }
        #expect(commits.withLock { $0 } == [[20_000, 6], [20_000], [20_000]])
    }

    /// A large set ends its commit, to keep later sets from making the commit even larger.
    @Test func aCommitTakesNoMoreThanItsShareOfFacts() async throws {
        let hold = DispatchSemaphore(value: 0)
        writer.thread.perform { _ in hold.wait() }
        try await withThrowingTaskGroup(of: Receipt.self) { group in
            for _ in 0..<4 {
                group.addTask { [writer] in
                    var set = LoginHistory().clientSet(1...1)
                    set.sources[0].facts += (2...15_000).map {
                        Fact(sequence: $0, part: 1, atMicroseconds: $0, content: .event(Fact.Event(code: 1)))
                    }
                    return try await writer.add(
                        ReceivedSet(set: Redactor().redacted(set), atMicroseconds: LoginHistory.begun))
                }
            }
            do {
                defer { hold.signal() }
                try await eventually("four sets wait") { writer.waitingCount == 4 }
            }
            for try await receipt in group { #expect(receipt.acceptedCount == 15_000) }
        }
        #expect(counters.values.commits == 2)
    }
}
#endif
