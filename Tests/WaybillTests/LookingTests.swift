import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Questions that a screen of the app, or a test, asks a manager that records at the same time.
@Suite(.timeLimit(.minutes(5))) struct LookingTests {
    @Test(arguments: [true, false]) func listsReadTheirOwnWritesPageByPage(inMemory: Bool) async throws {
        let folder = try TemporaryDirectory()
        let transactions = TransactionManager(store: inMemory ? .inMemory : .directory(folder.url))
        var begun: [GUID] = []
        for _ in 0..<5 {
            let login = transactions.begin(Login.self)
            login.log(.initiated)
            login.finish()
            begun.append(login.id)
            #expect(try await transactions.transactions().page(limit: 1).rows.map(\.id) == [login.id])
        }
        transactions.perform(Purchase.self) { $0.log(.started) }

        let filter = TransactionFilter(useCase: Login.self)
        var listed: [GUID] = []
        var next: String?
        try await eventually("the last page comes") {
            let page = try await transactions.transactions(matching: filter).page(limit: 2, after: next)
            listed += page.rows.map(\.id)
            next = page.next
            transactions.perform(Login.self) { _ in }  // a new transaction shifts no page
            return next == nil
        }
        #expect(listed == begun.reversed())
        await #expect(throws: WaybillError.self) { try await transactions.transactions().page(after: "nonsense") }
    }

    @Test func aSequenceGoesThroughAllPagesAndMissesNothing() async throws {
        let transactions = TransactionManager.testing()
        let ids = (0..<120).map { _ in
            let login = transactions.begin(Login.self)
            login.finish()
            return login.id
        }
        var read: [GUID] = []
        for try await login in transactions.transactions(matching: "useCase:login outcome:succeeded") {
            read.append(login.id)
            if read.count == 60 { transactions.perform(Login.self) { _ in } }  // shifts no page
        }
        #expect(read == ids.reversed())
        for try await _ in TransactionManager.disabled.transactions() { Issue.record("there are none") }
        await #expect(throws: FilterMistake.self) {
            for try await _ in transactions.transactions(matching: "event:requestsent") {}
        }
    }

    @Test func aLineOfTextFindsTransactions() async throws {
        let transactions = TransactionManager.testing()
        let good = transactions.begin(Login.self)
        good.log(.requestSent)
        good.finish()
        let bad = transactions.begin(Login.self)
        bad.finish(.failed)
        #expect(
            try await transactions.transactions(matching: "useCase:login outcome:failed").page().rows.map(\.id) == [
                bad.id
            ])
        #expect(try await transactions.transactions(matching: "event:requestSent").page().rows.map(\.id) == [good.id])
        #expect(
            try await transactions.transactions(matching: "event:requestSent outcome:failed").page().whyEmpty != nil)
        let filter = try await transactions.filter(parsing: "-event:requestSent")
        #expect(try await transactions.transactions(matching: filter).page().rows.map(\.id) == [bad.id])
        await #expect(throws: FilterMistake.self) {
            try await transactions.transactions(matching: "event:requestsent").page()
        }
        #expect(try await TransactionManager.disabled.transactions(matching: "").page().rows.isEmpty)
    }

    @Test func aTransactionIsMergedWithItsEventsAndExchanges() async throws {
        let server = try LoopbackServer { _ in .text("ok") }
        let transactions = TransactionManager.testing()
        let id = try await transactions.perform(Login.self) { login in
            login.log(.requestSent)
            _ = try await transactions.session.data(for: URLRequest(url: server.url("/login")))
            return login.id
        }
        let record = try #require(try await transactions.transaction(id))
        #expect(record.timeline.map(\.kind) == [.begun, .event, .exchangeBegun, .exchangeFinished, .finished])
        #expect(record.exchanges.map(\.status) == [200])
        #expect(
            record.clocks == nil && record.aligned == record,
            "There is no other source that its clock could be compared with.")
        #expect(try await transactions.transaction(GUID()) == nil)
    }

    @Test func theSummaryCountsWhatIsOpenFailedAndPending() async throws {
        let clock = ManualClock()
        let transactions = TransactionManager.testing(clock: clock, delivery: .transport(InMemoryTransport()))
        let login = transactions.begin(Login.self)
        let purchase = transactions.begin(Purchase.self)
        for _ in 0..<2 { transactions.begin(Login.self).finish(.failed) }
        #expect(try await transactions.counts == TransactionCounts(open: 2, failed: 2, pending: 6))
        clock.advance(by: .seconds(61))
        #expect(try await transactions.counts.open == 1, "a purchase times out after a minute")
        await transactions.flush()
        #expect(try await transactions.counts == TransactionCounts(open: 1, failed: 2, pending: 0))
        withExtendedLifetime((login, purchase)) {}
    }

    @Test func changesNameWhatWasJustRecorded() async throws {
        let transactions = TransactionManager.testing()
        var first = transactions.changes.makeAsyncIterator()
        var second = transactions.changes.makeAsyncIterator()
        let login = transactions.begin(Login.self)
        try await transactions.sync()
        #expect(await first.next() == .transactions([login.id]))

        let other = transactions.begin(Login.self)
        login.log(.initiated)  // its opening was in an earlier batch
        try await transactions.sync()
        #expect(await first.next() == .transactions([login.id, other.id]))
        #expect(await second.next() == .transactions([login.id, other.id]), "a slow reader gets it all at once")
    }

    /// Breaks when a screen that nobody looks at keeps every ID ever recorded.
    @Test func moreChangesThanAScreenShowsAreOneWord() async throws {
        let transactions = TransactionManager.testing()
        var changes = transactions.changes.makeAsyncIterator()
        for _ in 0..<3 {
            for _ in 0..<400 { transactions.perform(Login.self) { _ in } }
            try await transactions.sync()  // 400 each
        }
        #expect(await changes.next() == .reload)
        for _ in 0..<1_001 { transactions.perform(Login.self) { _ in } }
        try await transactions.sync()
        #expect(await changes.next() == .reload, "also in one batch")
        let login = transactions.begin(Login.self)
        try await transactions.sync()
        #expect(await changes.next() == .transactions([login.id]), "and then it goes on")
    }

    /// Breaks when a debug console shows nothing of another app's records in the same store.
    @Test func changesTellWhatAnotherProcessRecords() async throws {
        let folder = try TemporaryDirectory()
        let transactions = TransactionManager(store: .directory(folder.url))
        transactions.begin(Login.self).finish()
        try await transactions.sync()
        var changes = transactions.changes.makeAsyncIterator()
        let other = try ChildProcess("TestProcess", ["live", folder.url.path])
        let id = try #require(await Self.line(of: other).flatMap { GUID($0) })
        var (counts, looks) = ([Int](), 0)
        while counts.count < 3, looks < 1_000 {
            looks += 1
            guard let change = await changes.next() else { break }
            #expect(change == .transactions([id]))
            let count = try await transactions.transaction(id)?.summary.eventCount ?? 0
            if count > counts.last ?? 0 { counts.append(count) }
        }
        #expect(counts.count == 3, "the same transaction is seen to grow")
        #expect(try await transactions.transaction(id)?.summary.outcome == .open)
        other.kill()
    }

    /// Runs on its own thread, because it blocks.
    private static func line(of process: ChildProcess) async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: process.line()) }
        }
    }

    @Test func changesEndWithTheManager() async throws {
        var changes: TransactionChanges.Iterator
        let id: GUID
        do {
            let transactions = TransactionManager.testing()
            changes = transactions.changes.makeAsyncIterator()
            id = transactions.begin(Login.self).id
            try await transactions.sync()
        }
        #expect(await changes.next() == .transactions([id]), "what was told before is not lost")
        #expect(await changes.next() == nil)
    }

    @Test func aReaderThatIsCancelledStops() async {
        let transactions = TransactionManager.testing()
        let changes = transactions.changes
        let reader = Task {
            var count = 0
            for await _ in changes { count += 1 }
            return count
        }
        reader.cancel()
        #expect(await reader.value == 0)
    }
}
