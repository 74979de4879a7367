import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

@Suite(.timeLimit(.minutes(5))) struct ConcurrencyTests {
    /// Breaks when an app that logs from several threads loses or doubles events, or sees them out of order.
    @Test func eightThreadsRecordingAtOnceLoseNothing() async throws {
        let folder = try TemporaryDirectory()
        let transactions = TransactionManager(store: .directory(folder.url)) { $0.memoryCapacity = 100_000 }
        let eventsPerThread = 2_000
        let done = DispatchGroup()
        for thread in 0..<8 {
            done.enter()
            Thread.detachNewThread {
                let part = transactions.begin(useCase: 100 + thread)
                for number in 0..<eventsPerThread { part.log(number) }
                part.finish()
                done.leave()
            }
        }
        await withCheckedContinuation { continuation in done.notify(queue: .global()) { continuation.resume() } }
        try await transactions.sync()

        var codes: [Int: [Int]] = [:]
        for record in try transactions.allRecords() {
            codes[record.summary.useCase] = record.timeline.compactMap(\.code)
            #expect(record.summary.outcome == .succeeded)
        }
        #expect(codes.keys.sorted() == Array(100..<108))
        for (_, codes) in codes { #expect(codes == Array(0..<eventsPerThread)) }
        #expect(transactions.health.isGood)
    }

    /// Breaks when a server with many open requests stops recording without a hint how to fix it.
    @Test func whatIsOpenBeyondTheLimitIsRefusedWithOneHint() async throws {
        let told = Locked<[String]>([])
        var options = TransactionManager.Options()
        options.maximumOpen = 3
        options.diagnostics = { sentence in told.withLock { $0.append(sentence) } }
        let folder = try TemporaryDirectory()
        let transactions = TransactionManager(store: .directory(folder.url)) { $0 = options }
        let open = (0..<5).map { _ in transactions.begin(Login.self) }
        #expect(open.map { $0.log(.initiated) == .refused } == [false, false, false, true, true])
        try await transactions.sync()
        transactions.diagnostics.settle()
        #expect(transactions.health.hints.count { $0.contains("options.maximumOpen") } == 1)
        #expect(told.withLock { $0.count { $0.contains("options.maximumOpen") } } == 1)
        #expect(transactions.health.refused >= 2)
        open[0].finish()
        let next = transactions.begin(Login.self)
        #expect(next.log(.initiated) != .refused, "there is room again")
        for login in open + [next] { login.finish() }
    }

    /// Breaks when a flood takes the host's memory, or an open transaction can't be closed.
    @Test func overflowIsRefusedAndCountedAndWhatWasOpenedCanClose() throws {
        let transactions = TransactionManager.testing { $0.memoryCapacity = 64 }
        let open = transactions.begin(Login.self)
        var results: [LogResult] = []
        for _ in 0..<200 { results.append(open.log(.initiated)) }
        let late = transactions.begin(Login.self)
        #expect(late.log(.initiated) == .refused)
        late.finish()
        open.finish(.failed)

        #expect(results.prefix(62).allSatisfy { $0 == .inMemory }, "64 places, less the opening and its closing")
        #expect(results.dropFirst(62).allSatisfy { $0 == .refused })
        #expect(try transactions.transactions(Login.self).map(\.summary.outcome) == [.failed])
        #expect(transactions.health.refused == 138 + 1)
        #expect(open.log(.initiated) == .inMemory, "there is room again")
    }
}
