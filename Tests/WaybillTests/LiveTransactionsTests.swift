import Observation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// The contents of an app's own badge.
@Suite(.timeLimit(.minutes(5))) struct LiveTransactionsTests {
    @Test func theSequenceBeginsWithWhatThereIsAndGoesOnWithWhatIsNew() async throws {
        let transactions = TransactionManager.testing()
        transactions.begin(Login.self).finish(.failed)
        var states = transactions.live.makeAsyncIterator()
        let first = try #require(await states.next())
        #expect(first.counts == TransactionCounts(open: 0, failed: 1, pending: 2))
        #expect(first.lastFailures == (try await transactions.transactions(matching: "outcome:failed").page().rows))
        #expect(first.recording == .on)

        let login = transactions.begin(Login.self)
        try await transactions.sync()
        #expect(await states.next()?.counts == TransactionCounts(open: 1, failed: 1, pending: 3))
        withExtendedLifetime(login) {}
    }

    @Test func theLastFiveFailuresAreNamed() async throws {
        let transactions = TransactionManager.testing()
        var failed: [GUID] = []
        for _ in 0..<7 {
            let login = transactions.begin(Login.self)
            login.finish(.failed)
            failed.append(login.id)
            transactions.perform(Login.self) { _ in }
        }
        var states = transactions.live.makeAsyncIterator()
        let state = try #require(await states.next())
        #expect(state.lastFailures.map(\.id) == failed.suffix(5).reversed())
        #expect(state.counts.failed == 7)
    }

    /// Neither of these is a recorded fact.
    @Test func deliveryAndTheSwitchAreNewToo() async throws {
        let transactions = TransactionManager.testing(delivery: .transport(InMemoryTransport()))
        transactions.begin(Login.self).finish(.failed)
        var states = transactions.live.makeAsyncIterator()
        #expect(await states.next()?.counts.pending == 2)
        await transactions.flush()
        #expect(await states.next()?.counts == TransactionCounts(open: 0, failed: 1, pending: 0))
        transactions.recording = .off
        #expect(await states.next()?.recording == .off)
        transactions.recording = .on
        #expect(await states.next()?.recording == .on)
        try await transactions.erase(.all)
        let erased = try #require(await states.next())
        #expect(erased.counts.failed == 0 && erased.lastFailures.isEmpty)
    }

    /// Breaks when the store of an app that records a thousand facts a second is counted as often.
    @Test func itIsReadFiveTimesASecondAtMostHoweverMuchIsNew() async throws {
        let transactions = TransactionManager.testing()
        var states = transactions.live.makeAsyncIterator()
        let began = ContinuousClock.now
        _ = await states.next()
        let writer = Task {
            var logins: [UseCaseTransaction<Login>] = []
            for _ in 0..<200 {
                logins.append(transactions.begin(Login.self))
                try await transactions.sync()
            }
            return logins
        }
        var reads = 1
        try await eventually("all that was begun is counted") {
            reads += 1
            return await states.next()?.counts.open == 200
        }
        let length = ContinuousClock.now - began
        #expect(.milliseconds(200) * (reads - 1) <= length, "\(reads) within \(length)")
        _ = try await writer.value
    }

    @Test func theSequenceEndsWithTheManager() async throws {
        var states: LiveTransactions.Iterator
        do {
            let transactions = TransactionManager.testing()
            states = transactions.live.makeAsyncIterator()
            #expect(await states.next() != nil)
        }
        #expect(await states.next() == nil)
    }

    @Test func aReaderThatIsCancelledStops() async {
        let transactions = TransactionManager.testing()
        let live = transactions.live
        let reader = Task {
            var count = 0
            for await _ in live { count += 1 }
            return count
        }
        reader.cancel()
        #expect(await reader.value <= 1)
        #expect(!transactions.sources.changes.isWatched)
    }

    @Test func aManagerThatIsDisabledHasNothingToShow() async {
        var states = TransactionManager.disabled.live.makeAsyncIterator()
        #expect(await states.next() == LiveTransactions.State())
    }
}

/// Live transactions in a SwiftUI view: it reads a property when it is made, and is made again after a change.
@MainActor @Suite(.timeLimit(.minutes(5))) struct ObservedTransactionsTests {
    /// Shows the number of failures, and updates after each change.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor private final class Badge {
        private let live: LiveTransactions
        private(set) var shown: [Int] = []

        init(_ live: LiveTransactions) {
            self.live = live
            show()
        }

        private func show() {
            shown.append(
                withObservationTracking {
                    live.counts.failed
                } onChange: { [weak self] in
                    Task { @MainActor in self?.show() }
                })
        }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func aViewIsToldOfEachChangeUntilItGoesAway() async throws {
        let transactions = TransactionManager.testing()
        let changes = transactions.sources.changes
        #expect(!changes.isWatched, "nobody has looked yet")
        var badge: Badge? = Badge(transactions.live)
        for count in 1...3 {
            transactions.begin(Login.self).finish(.failed)
            try await transactions.sync()
            try await eventually("the badge shows \(count)") { badge?.shown.last == count }
        }
        #expect(changes.isWatched)

        badge = nil
        // The first change reaches no badge, which ends the observation.
        for _ in 0..<2 {
            let failed = transactions.begin(Login.self)
            failed.finish(.failed)
            try await transactions.sync()
        }
        try await eventually("nothing is read any more") {
            transactions.recording = transactions.recording == .on ? .off : .on
            return !changes.isWatched
        }

        transactions.recording = .on
        badge = Badge(transactions.live)
        try await eventually("a badge that comes back shows what was missed") { badge?.shown.last == 5 }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func everyViewIsTold() async throws {
        let transactions = TransactionManager.testing()
        let badges = [Badge(transactions.live), Badge(transactions.live)]
        transactions.begin(Login.self).finish(.failed)
        try await transactions.sync()
        try await eventually("both show it") { badges.allSatisfy { $0.shown.last == 1 } }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func aBadgeThatOutlivesTheManagerKeepsWhatItShowed() async throws {
        var transactions: TransactionManager? = .testing()
        let live = try #require(transactions?.live)
        let badge = Badge(live)
        transactions?.begin(Login.self).finish(.failed)
        try await transactions?.sync()
        try await eventually("the badge shows it") { badge.shown.last == 1 }
        transactions = nil
        #expect(live.counts.failed == 1)
    }
}
