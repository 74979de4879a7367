import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore
@testable import WaybillStoreTests

/// Tests which data retention removes when space runs out or data is too old, and which data stays.
@Suite(.timeLimit(.minutes(10))) struct RetentionTests {
    private let store: Store
    private let place: ResolvedLocation
    private let app = FactWriter("app")
    private let day: Int64 = 86_400_000_000

    init() throws { (store, place) = try Store.inMemory() }

    private func expectSound() throws { #expect(try StoreReader(place).verify().problems == []) }

    private func listed() throws -> [GUID] { try StoreReader(place).all().map(\.id).reversed() }

    private func moment(days: Int64, wall: Int64? = nil, boot: String = "first") -> Moment {
        Moment(uptime: days * day, wall: FactWriter.wall + (wall ?? days) * day, boot: boot)
    }

    private func deliver(_ limit: LeaseLimit = LeaseLimit()) throws {
        let set = try #require(try store.lease(limit))
        #expect(try store.settle(set.id, rejections: [], at: 0))
    }

    /// Writes transactions of three facts each, or open transactions of two.
    private func write(_ count: Int, isOpen: Bool = false, by writer: FactWriter? = nil) throws -> [GUID] {
        let writer = writer ?? app
        let ids = (0..<count).map { _ in GUID() }
        for id in ids {
            let part = writer.open(id)
            writer.event(1, part: part)
            if !isOpen { writer.close(part, .succeeded) }
        }
        try writer.record(into: store)
        return ids
    }

    private func sweep(toBytes bytes: Int64 = 0, budget: Int = 1_000) throws -> RetentionSweep {
        var sweep = try RetentionSweep(store.connection, budget: budget)
        try store.write { () throws(WaybillError) in try sweep.reduce(to: .bytes(bytes)) }
        return sweep
    }

    private func keeper(_ days: Int64) -> RetentionKeeper {
        var retention = Retention()
        retention.maximumAge = .microseconds(days * day)
        return RetentionKeeper(retention)
    }

    // MARK: Bytes

    /// Breaks when an undelivered transaction is removed although a delivered one would have made room, or an open
    /// transaction before a closed one.
    @Test func deliveredOnesGoFirstThenPendingOnesAndOpenOnesLast() throws {
        let open = try write(1, isOpen: true)
        let delivered = try write(100)
        try deliver(LeaseLimit(factCount: 302))
        let pending = try write(100)
        var order: [GUID] = []
        try eventually("nothing is left to sweep") {
            let sweep = try sweep(budget: 1)
            if sweep.transactions.isEmpty { return true }
            order +=
                delivered.contains(where: sweep.transactions.contains)
                ? delivered.filter(sweep.transactions.contains) : []
            order +=
                pending.contains(where: sweep.transactions.contains) ? pending.filter(sweep.transactions.contains) : []
            order += open.filter(sweep.transactions.contains)
            try expectSound()
            return false
        }
        #expect(order == delivered + pending + open)
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 602, delivered: 302, dropped: ["quota": 300])])
    }

    /// Breaks when more transactions are removed than exceed the limit, in another order, or without being booked; or
    /// when exchanges outside of a transaction count as one.
    @Test func onlySoManyTransactionsStay() throws {
        var retention = Retention()
        retention.maximumTransactionCount = 4
        var keeper = RetentionKeeper(retention)
        app.openExchange(part: 0)
        let open = try write(1, isOpen: true)
        let delivered = try write(3)
        try deliver(LeaseLimit(factCount: 12))
        #expect(try keeper.step(store, at: moment(days: 0), written: 12) == [])
        let pending = try write(3)
        #expect(try keeper.step(store, at: moment(days: 0), written: 9) == Set(delivered))
        #expect(try listed() == open + pending)
        let more = try write(3)
        #expect(try keeper.step(store, at: moment(days: 0), written: 9) == Set(pending))
        #expect(try listed() == open + more)
        #expect(try keeper.step(store, at: moment(days: 0)) == [])
        let dropped = try #require(try store.ledgers()[app.id]).dropped
        #expect(dropped == ["quota": 9], "delivered ones are no loss")
        #expect(try store.facts(of: app.id).contains { $0.part == 0 })
        try expectSound()
    }

    /// Breaks when the last of very many excess transactions stay because one step does not reach them.
    @Test func whatOneStepDoesNotReachGoesInTheNext() throws {
        var retention = Retention()
        retention.maximumTransactionCount = 10
        var keeper = RetentionKeeper(retention)
        let ids = try write(500)
        try eventually("few enough are left") {
            try keeper.step(store, at: moment(days: 0), budget: 100).isEmpty
        }
        #expect(try listed() == ids.suffix(10))
        try expectSound()
    }

    @Test func whatIsDroppedIsToldToTheCollector() throws {
        _ = try write(2)
        _ = try sweep()
        let share = try #require(try store.lease()?.sources.first)
        #expect(share.facts == [] && share.dropped == [DroppedRange(first: 1, last: 6, reason: .quota)])
    }

    /// Breaks when facts in delivery are booked as dropped, or their verdict is ignored.
    @Test func whatIsBeingDeliveredStaysUntilItsVerdict() throws {
        let ids = try write(2)
        let set = try #require(try store.lease(LeaseLimit(factCount: 3)))
        #expect(try sweep().transactions == [ids[1]])
        #expect(try listed() == [ids[0]])
        #expect(try store.settle(set.id, rejections: [], at: 0))
        #expect(try sweep().transactions == [ids[0]])
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 6, delivered: 3, dropped: ["quota": 3])])
        try expectSound()
    }

    /// Breaks when a transaction loses one process's part before the others.
    @Test func aTransactionGoesWithThePartsOfAllSources() throws {
        let other = FactWriter("other")
        let id = GUID()
        app.close(app.open(id), .succeeded)
        try app.record(into: store)
        other.close(other.open(id, joined: true), .succeeded)
        try other.record(into: store)
        try deliver(LeaseLimit(factCount: 2))
        #expect(try sweep().transactions == [id])
        #expect(try store.ledgers()[other.id] == Ledger(recorded: 2, dropped: ["quota": 2]))
        try expectSound()
    }

    @Test func exchangesOutsideOfATransactionGoInTheirTurn() throws {
        let exchange = app.openExchange(part: 0)
        app.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed), part: 0)
        app.openExchange(part: 0)
        let ids = try write(1)
        #expect(try sweep(budget: 1).transactions == Set(ids))
        #expect(try store.facts(of: app.id) == [app.facts[2]])
        #expect(try sweep().factCount == 1)
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 6, dropped: ["quota": 6])])
        try expectSound()
    }

    /// Breaks when facts recorded in a removed transaction are stored without its beginning, or are lost without being
    /// counted.
    @Test func whatComesLaterOfADroppedPartIsDroppedWithIt() throws {
        _ = try write(1, isOpen: true)
        _ = try sweep()
        app.event(2, part: 1)
        app.close(1, .failed)
        try app.record(into: store)
        #expect(try store.facts(of: app.id) == [])
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 4, dropped: ["quota": 4])])
        try expectSound()
    }

    /// Breaks when the file keeps growing although its contents do not, or one step frees less room than a batch takes.
    @Test func theFileStopsGrowingAtTheQuota() throws {
        let folder = try TemporaryDirectory()
        let store = try Store(.folder(folder.url))
        var retention = Retention()
        retention.maximumByteCount = 1 << 20
        var keeper = RetentionKeeper(retention)
        try keeper.look(at: moment(days: 0), in: store)
        try store.register(app.source)
        var sizes: [Int64] = []
        for _ in 0..<60 {
            for _ in 0..<50 {
                let part = app.open(GUID())
                for code in 0..<18 { app.event(code, part: part) }
                app.close(part, .succeeded)
            }
            try store.append(RecordedBatch(source: app.id, facts: app.facts.suffix(1_000), clocks: app.clocks))
            _ = try keeper.step(store, at: moment(days: 0))
            sizes.append(try store.connection.integer("PRAGMA page_count") * 4096)
        }
        #expect(sizes.last.map { $0 < (1 << 20) + (1 << 18) } == true, "\(sizes)")
        #expect(try store.connection.usedByteCount() <= 1 << 20)
        let ledger = try #require(try store.ledgers()[app.id])
        #expect(ledger.isBalanced && ledger.recorded == 60_000)
        #expect(try StoreReader(.folder(folder.url)).verify().problems == [])
    }

    // MARK: Age

    /// Breaks when a jumping wall clock removes anything within a boot, or removes pending facts.
    @Test func withinABootAgeIsTheTimeThatPassed() throws {
        var keeper = keeper(30)
        try keeper.look(at: moment(days: 1), in: store)
        let delivered = try write(1)
        try deliver()
        let pending = try write(1)
        #expect(try keeper.step(store, at: moment(days: 2, wall: 400)) == [])
        #expect(try keeper.step(store, at: moment(days: 3, wall: -400)) == [])
        #expect(try keeper.step(store, at: moment(days: 30)) == [])
        #expect(try keeper.step(store, at: moment(days: 32)) == Set(delivered + pending))
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 6, delivered: 3, dropped: ["age": 3])])
        try expectSound()
    }

    /// Breaks when facts that were never delivered are dropped because the device says that it is another year, or stay
    /// forever.
    @Test func overBootsPendingFactsGoOnlyByTimeThatTheDeviceWasSeenRunning() throws {
        var keeper = keeper(30)
        try keeper.look(at: moment(days: 1), in: store)
        let delivered = try write(1)
        try deliver()
        let pending = try write(1)
        #expect(try keeper.step(store, at: moment(days: 1, wall: 400, boot: "second")) == Set(delivered))
        #expect(try keeper.step(store, at: moment(days: 29, wall: 400, boot: "second")) == [])
        #expect(try keeper.step(store, at: moment(days: 2, wall: 400, boot: "third")) == Set(pending))
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 6, delivered: 3, dropped: ["age": 3])])
        try expectSound()
    }

    /// Breaks when the age of an open transaction counts from its beginning, although something happens in it every
    /// day.
    @Test func ageCountsFromTheLastFact() throws {
        var keeper = keeper(30)
        try keeper.look(at: moment(days: 0), in: store)
        let part = app.open(GUID(), at: 1)
        app.event(1, part: part, at: 20 * 86_400)
        try app.record(into: store)
        #expect(try keeper.step(store, at: moment(days: 49)) == [])
        #expect(try keeper.step(store, at: moment(days: 51)).count == 1)
        try expectSound()
    }

    /// Breaks when a source's birth is set to a time before the device was last checked, which makes its facts appear
    /// older than they are.
    @Test func aSourceIsBornWhenItIsRegistered() throws {
        var early = keeper(30)
        try early.look(at: moment(days: 0), in: store)
        var later = keeper(30)
        try later.look(at: moment(days: 40), in: store)
        _ = try write(1)
        #expect(try later.step(store, at: moment(days: 69)) == [])
        #expect(try later.step(store, at: moment(days: 71)).count == 1)
    }

    @Test func ofEarlierLaunchesOnlyWhatIsPendingStays() throws {
        var keeper = RetentionKeeper(.thisLaunchOnly)
        let delivered = try write(2)
        try deliver()
        let pending = try write(1)
        let now = FactWriter("now")
        _ = try store.endSources(isAlive: { _ in false })
        let present = try write(1, by: now)
        #expect(try keeper.step(store, at: moment(days: 0)) == Set(delivered))
        #expect(try Set(listed()) == Set(pending + present))
        try deliver()
        keeper.checkAgeSoon()
        #expect(try keeper.step(store, at: moment(days: 0)) == Set(pending))
        #expect(try listed() == present)
        try expectSound()
    }

    /// Breaks when one batch has to wait for the removal of a million old facts.
    @Test func aStepDoesABoundedAmountOfWork() throws {
        var keeper = keeper(30)
        try keeper.look(at: moment(days: 0), in: store)
        _ = try write(1_000)
        let first = try keeper.step(store, at: moment(days: 40), budget: 300).count
        #expect((100...200).contains(first))
        let second = try keeper.step(store, at: moment(days: 40), budget: 10_000).count
        #expect(first + second == 1_000)
        try expectSound()
    }

    // MARK: Totals

    /// Breaks when each launch leaves something behind forever, or the totals of these remains do not add up.
    @Test(arguments: [true, false]) func aThousandLaunchesDoNotGrowTheFile(isDelivered: Bool) throws {
        let folder = try TemporaryDirectory()
        var sizes: [Int64] = []
        for launch in Int64(0)..<1_000 {
            let store = try Store(.folder(folder.url))
            var keeper = isDelivered ? RetentionKeeper(.thisLaunchOnly) : keeper(1)
            try keeper.look(at: moment(days: launch), in: store)
            let writer = FactWriter()
            writer.close(writer.open(GUID()), .succeeded)
            try writer.record(into: store)
            _ = try store.endSources { $0 == writer.id }
            _ = try keeper.step(store, at: moment(days: launch))
            if isDelivered { #expect(try store.lease().map { try store.settle($0.id, rejections: [], at: 0) } == true) }
            if launch % 100 == 99 { sizes.append(try store.connection.usedByteCount()) }
        }
        #expect(sizes.last.map { $0 <= sizes[isDelivered ? 0 : 3] + 8_192 } == true, "\(sizes)")
        let store = try Store(.folder(folder.url))
        let verification = try StoreReader(.folder(folder.url)).verify()
        #expect(verification.problems == [])
        let total = try #require(verification.totals.first)
        #expect(total.sourceCount + (try store.connection.integer("SELECT count(*) FROM sources")) == 1_000)
        let count = Int64(2 * total.sourceCount)
        #expect(
            total.ledger
                == Ledger(
                    recorded: count, delivered: isDelivered ? count : 0,
                    dropped: isDelivered ? [:] : ["age": count]))
    }

    /// Breaks when a source is forgotten although a journal would bring everything back as new, or although the
    /// collector still has to learn something about it.
    @Test func aSourceStaysWhileSomethingSpeaksOfIt() throws {
        _ = try write(1)
        _ = try store.endSources(isAlive: { _ in false })
        _ = try sweep()
        let count = { try store.connection.integer("SELECT count(*) FROM sources") }
        try store.connection.foldTotals { _ in false }
        #expect(try count() == 1, "its dropped range was not told")
        try deliver()
        try store.connection.foldTotals { _ in true }
        #expect(try count() == 1, "its journal is there")
        try store.connection.foldTotals { _ in false }
        #expect(try count() == 0)
        #expect(try store.connection.totals().map(\.ledger) == [Ledger(recorded: 3, dropped: ["quota": 3])])
        try expectSound()
    }

    @Test func verifyTellsWhatAnEventCostsByTable() throws {
        _ = try write(100)
        let tables = try StoreReader(place).verify().tables
        let events = try #require(tables.first { $0.name == "events" })
        #expect(events.bytesPerEvent == Double(events.byteCount) / 100)
        #expect(try tables.reduce(0) { $0 + $1.byteCount } == store.connection.usedByteCount())
    }
}
