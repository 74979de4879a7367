import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// A transaction that sampling did not choose waits for its end. Then it is either delivered or booked as dropped, and
/// never both or neither.
@Suite(.timeLimit(.minutes(5))) struct SamplingTests {
    private let store: Store
    private let place: ResolvedLocation
    private let app = FactWriter()
    private let notChosen = Fact.Sampling(perMillion: 100_000, isChosen: false, slowMicroseconds: 10_000_000)

    init() throws { (store, place) = try Store.inMemory() }

    /// Appends the newly written facts, and checks that the ledgers and the rows agree.
    private func record(_ sequences: ClosedRange<Int64>? = nil) throws {
        try app.record(into: store, sequences)
        try expectSound()
    }

    private func expectSound() throws {
        #expect(try StoreReader(place).verify().problems == [])
        #expect(try store.ledgers().values.allSatisfy(\.isBalanced))
    }

    private func ledger() throws -> Ledger { try #require(try store.ledgers()[app.id]) }

    /// Leases and settles once, and returns the facts' sequences.
    private func deliver(at wall: Int64? = nil) throws -> [Int64] {
        let set = try store.lease(
            owner: GUID(high: 1, low: 1), now: 0, at: wall, expiresIn: 1_000, isAlive: { _ in false })
        guard let set else { return [] }
        #expect(try store.settle(set.id, rejections: [], at: 0))
        try expectSound()
        return set.sources.flatMap { $0.facts.map(\.sequence) }
    }

    /// Breaks when facts leave the device before their transaction's end is known, or are removed from it before or
    /// after that.
    @Test func whatSucceedsIsNeverLeasedAndCanBeLookedAt() throws {
        let id = GUID()
        let part = app.open(id, sampling: notChosen)
        let exchange = app.openExchange(part: part)
        app.event(1, part: part)
        try record()
        #expect(try deliver() == [])
        #expect(try ledger() == Ledger(recorded: 3, pending: 3))
        app.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed, status: 200), part: part)
        app.close(part, .succeeded)
        try record(4...5)
        #expect(try deliver() == [])
        #expect(try ledger() == Ledger(recorded: 5, dropped: ["sampled": 5]))
        let record = try #require(try StoreReader(place).transaction(id, now: FactWriter.wall))
        #expect(record.timeline.count == 5)
    }

    /// Breaks when a failed or slow transaction is dropped, or is delivered without the facts that led to its end.
    @Test(arguments: [TransactionOutcome.failed, .abandoned, .succeeded, .cancelled], [2, 12])
    func whatFailedOrWasSlowIsDeliveredWhole(outcome: TransactionOutcome, seconds: Int) throws {
        let part = app.open(GUID(), sampling: notChosen, at: 0)
        app.event(1, part: part, at: 1)
        try record()
        #expect(try deliver() == [])
        app.close(part, outcome, at: seconds)
        try record(3...3)
        let isKept = outcome == .failed || outcome == .abandoned || seconds > 10
        #expect(try deliver() == (isKept ? [1, 2, 3] : []))
        #expect(try ledger().dropped == (isKept ? [:] : ["sampled": 3]))
        #expect(try ledger().pending == 0)
    }

    /// Breaks when a held transaction delays others, or the facts sent in between are booked as damaged.
    @Test func othersGoOutMeanwhile() throws {
        let held = app.open(GUID(), sampling: notChosen)
        let chosen = app.open(GUID(), sampling: Fact.Sampling(perMillion: 100_000, isChosen: true))
        app.event(1, part: held)
        app.event(1, part: chosen)
        let outside = app.openExchange(part: 0)
        app.close(chosen, .succeeded)
        try record()
        #expect(try deliver() == [2, 4, outside, 6])
        app.close(held, .failed)
        try record(7...7)
        #expect(try deliver() == [1, 3, 7])
        #expect(try ledger() == Ledger(recorded: 7, delivered: 7))
        #expect(try store.connection.integer("SELECT count(*) FROM parts WHERE settled = 0 AND sequence > 0") == 0)
    }

    /// Breaks when facts recorded after the end are treated differently from the rest, or a repeated batch duplicates
    /// them.
    @Test func whatIsLateGoesTheSameWay() throws {
        let part = app.open(GUID(), sampling: notChosen)
        let exchange = app.openExchange(part: part)
        app.close(part, .succeeded)
        try record()
        app.event(1, part: part)
        app.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed, status: 200), part: part)
        try record(4...5)
        try record()
        #expect(try deliver() == [])
        #expect(try ledger() == Ledger(recorded: 5, dropped: ["sampled": 5]))
        #expect(try StoreReader(place).all().first?.eventCount == 1)
    }

    /// Breaks when a crash, or a screen that nobody returns to, is never reported.
    @Test func whatWasInterruptedOrTimedOutIsDelivered() throws {
        app.open(GUID(), timeout: 5_000_000, sampling: notChosen, at: 1)
        app.open(GUID(), sampling: notChosen, at: 2)
        try record()
        #expect(try deliver(at: FactWriter.wall + 6_000_000) == [])
        #expect(try deliver(at: FactWriter.wall + 6_000_001) == [1])
        #expect(try store.endSources { _ in false } == [app.id])
        #expect(try deliver() == [2])
        #expect(try ledger() == Ledger(recorded: 2, delivered: 2))
    }

    /// Breaks when sampling decides differently about facts from a journal that is found after its source has ended.
    @Test func whatComesFromAJournalLaterIsDecidedAlike() throws {
        try app.record(into: store)
        #expect(try store.endSources { _ in false } == [app.id])
        let succeeded = app.open(GUID(), sampling: notChosen)
        app.close(succeeded, .succeeded)
        app.open(GUID(), sampling: notChosen)
        try record()
        #expect(try deliver() == [3])
        #expect(try ledger() == Ledger(recorded: 3, delivered: 1, dropped: ["sampled": 2]))
    }

    /// Breaks when the collector waits for facts that were sampled away, or receives a set for no other reason.
    @Test func theCollectorHearsOfItWithTheNextSet() throws {
        let part = app.open(GUID(), sampling: notChosen)
        app.close(part, .succeeded)
        try record()
        #expect(try store.lease() == nil)
        app.open(GUID())
        try record(3...3)
        let set = try #require(try store.lease())
        let share = try #require(set.sources.first)
        #expect(share.dropped == [DroppedRange(first: 1, last: 2, reason: .sampled)])
        #expect(share.ledger == Ledger(recorded: 3, dropped: ["sampled": 2], pending: 1))
        let (collector, collectorPlace) = try Store.inMemory()
        let decoded = try TransactionSet.decode(set.encoded())
        #expect(decoded == set)
        #expect(try collector.ingest(decoded).acceptedCount == 1)
        let source = try #require(try StoreReader(collectorPlace).sources().first)
        #expect(source.ledger == Ledger(recorded: 3, delivered: 1, dropped: ["sampled": 2]))
        #expect(source.gaps == [])
        #expect(try store.settle(set.id, rejections: [], at: 0))
        #expect(try store.lease() == nil)
        // The source's end is reported together with the facts that were sampled away last.
        let other = app.open(GUID(), sampling: notChosen)
        app.close(other, .succeeded)
        try record(4...5)
        #expect(try store.lease() == nil)
        _ = try store.endSources { _ in false }
        let last = try #require(try store.lease()?.sources.first)
        #expect(last.hasEnded && last.dropped.sequences == SequenceRanges([1...2, 4...5]))
    }

    /// Breaks when a journal that could not be read at first adds facts after the collector learned of its source's
    /// end. Then no set would follow that reports the facts sampled away.
    @Test func whatIsSampledAwayAfterTheEndWasToldIsReportedAlone() throws {
        app.close(app.open(GUID()), .succeeded)
        try record()
        _ = try store.endSources { _ in false }
        #expect(try deliver() == [1, 2])
        #expect(try store.lease() == nil)
        let part = app.open(GUID(), sampling: notChosen)
        app.close(part, .succeeded)
        try record(3...4)
        #expect(try store.newsSetCount() == 1)
        let share = try #require(try store.lease()?.sources.first)
        #expect(share.facts == [] && share.dropped == [DroppedRange(first: 3, last: 4, reason: .sampled)])
        #expect(try deliver() == [])
        // The same holds for an event that arrives even later.
        app.event(1, part: part)
        try record(5...5)
        #expect(try store.lease()?.sources.first?.dropped.sequences == SequenceRanges([3...5]))
        #expect(try deliver() == [])
        #expect(try store.lease() == nil && store.newsSetCount() == 0)
    }

    /// Breaks when a full store keeps facts that were sampled away instead of facts that are still to be delivered.
    @Test func whatWasSampledAwayGoesBeforeWhatIsPending() throws {
        let pending = app.open(GUID())
        app.close(pending, .succeeded)
        for _ in 0..<3 { app.close(app.open(GUID(), sampling: notChosen), .succeeded) }
        try record()
        var sweep = try RetentionSweep(store.connection, budget: 6)
        try store.write { () throws(WaybillError) in try sweep.reduce(to: .bytes(0)) }
        try expectSound()
        #expect(sweep.factCount == 6)
        #expect(try deliver() == [1, 2])
        #expect(try ledger() == Ledger(recorded: 8, delivered: 2, dropped: ["sampled": 6]))
    }

    /// Breaks when a full store keeps held transactions, or loses them without a booking.
    @Test func whatIsHeldCanBeGivenUp() throws {
        app.open(GUID(), sampling: notChosen)
        try record()
        var sweep = try RetentionSweep(store.connection, budget: 100)
        try store.write { () throws(WaybillError) in try sweep.reduce(to: .bytes(0)) }
        try expectSound()
        #expect(try ledger() == Ledger(recorded: 1, dropped: ["quota": 1]))
    }

    /// Breaks when an old store, without sampling, counts the facts of an ended source differently.
    @Test func theSumsOfEndedSourcesHaveIt() throws {
        app.close(app.open(GUID(), sampling: notChosen), .succeeded)
        try record()
        _ = try store.endSources { _ in false }
        let set = try #require(try store.lease())
        #expect(try store.settle(set.id, rejections: [], at: 0))
        var sweep = try RetentionSweep(store.connection, budget: 100)
        try store.write { () throws(WaybillError) in
            try sweep.reduce(to: .bytes(0))
            try store.connection.foldTotals { _ in false }
        }
        let totals = try store.connection.totals()
        #expect(totals.map(\.ledger) == [Ledger(recorded: 2, dropped: ["sampled": 2])])
        try expectSound()
    }
}
