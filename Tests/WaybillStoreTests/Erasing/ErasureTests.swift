import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// Erasing what was recorded into this very store.
@Suite(.timeLimit(.minutes(5))) struct ErasureTests {
    private let store: Store
    private let place: ResolvedLocation
    private let app = FactWriter()
    private let kept = GUID()
    private let gone = GUID()

    init() throws { (store, place) = try Store.inMemory() }

    private func erase(_ scope: ErasureScope) throws -> Erasure { try store.erase(scope, at: 0) }
    private func listed() throws -> [GUID] { try StoreReader(place).all().map(\.id) }
    private func expectSound() throws { #expect(try StoreReader(place).verify().problems == []) }

    /// Two transactions of four facts each, with an exchange each: 1 to 5 and 6 to 10; and 11 and 12, an exchange
    /// outside of them.
    private func write() throws {
        for id in [gone, kept] {
            let part = app.open(id)
            app.event(1, part: part)
            let exchange = app.openExchange(part: part)
            app.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed), part: part)
            app.close(part, .succeeded)
        }
        let exchange = app.openExchange(part: 0)
        app.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed), part: 0)
        try app.record(into: store)
    }

    private func deliver(_ limit: LeaseLimit = LeaseLimit()) throws {
        let set = try #require(try store.lease(limit))
        #expect(try store.settle(set.id, rejections: [], at: 0))
    }

    /// Breaks when facts that were given up before are booked a second time, or under the reason of what removes their rows.
    @Test func whatWasDroppedBeforeKeepsItsReasonUnlessItIsErased() throws {
        let (store, place) = try Store.inMemory()
        let app = FactWriter()
        app.close(app.open(GUID(), sampling: Fact.Sampling(perMillion: 0, isChosen: false)), .succeeded)
        app.close(app.open(GUID()), .succeeded)
        try app.record(into: store)
        let row = try #require(try SourceRows(connection: store.connection).find(app.id))
        for reason in [Ledger.DropReason.quota, .age, .erased, .erased] {
            try store.write { () throws(WaybillError) in
                var eraser = FactEraser(store.connection, because: reason)
                try eraser.erase(SequenceRanges([1...2]), of: row)
                try eraser.finish()
            }
            let said = reason == .erased ? "erased" : "sampled"
            #expect(try store.ledgers()[app.id] == Ledger(recorded: 4, dropped: [said: 2], pending: 2), "\(reason)")
            let rows = RangeRows(connection: store.connection)
            #expect(try rows.dropped(of: row.id).sequences == SequenceRanges([1...2]))
            #expect(try StoreReader(place).verify().problems == [])
        }
        // The rest is erased, and what was erased with it for the second time.
        _ = try store.erase(.all, at: 0)
        #expect(try store.ledgers()[app.id] == Ledger(recorded: 4, dropped: ["erased": 4]))
    }

    /// Breaks when what belongs to no transaction keeps names of use cases and events.
    @Test func namesGoWithTheLastTransactionAlsoWhereExchangesOutsideOfAnyAreLeft() throws {
        let (store, place) = try Store.inMemory()
        let (app, transaction) = (FactWriter(), GUID())
        app.names = [RecordedName(useCase: 0, name: "login")]
        app.close(app.open(transaction), .succeeded)
        app.openExchange(part: 0)
        try store.ingest(app.set())
        #expect(try StoreReader(place).names() == app.names)
        _ = try store.erase(.transactions([transaction]), at: FactWriter.wall)
        #expect(try StoreReader(place).names() == [])
    }

    /// Breaks when more than what was asked for is erased, or less, or when it is not booked.
    @Test func erasedTransactionsAreGoneAndWhatWasPendingIsBooked() throws {
        try write()
        #expect(try erase(.transactions([gone, GUID()])) == Erasure(transactionCount: 1, factCount: 5))
        #expect(try listed() == [kept])
        #expect(try store.facts(of: app.id) == Array(app.facts[5...]))
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 12, dropped: ["erased": 5], pending: 7)])
        #expect(try erase(.transactions([gone])) == Erasure())
        try expectSound()
    }

    /// Breaks when an event goes with the exchanges, an exchange stays, or what was pending of one is not booked.
    @Test(arguments: [false, true]) func networkLogsGoAloneAndEventsStay(isDelivered: Bool) throws {
        try write()
        if isDelivered { try deliver(LeaseLimit(factCount: 5)) }
        #expect(try erase(.networkLogs) == Erasure(transactionCount: 0, factCount: 6))
        #expect(Set(try listed()) == [gone, kept])
        #expect(try StoreReader(place).all().allSatisfy { $0.outcome == .succeeded && $0.eventCount == 1 })
        #expect(try StoreReader(place).all().allSatisfy { $0.exchangeCount == 0 })
        let left = app.facts.filter { ![3, 4, 8, 9, 11, 12].contains($0.sequence) }
        #expect(try store.facts(of: app.id) == left)
        let dropped: Int64 = isDelivered ? 4 : 6
        #expect(
            try store.ledgers() == [
                app.id: Ledger(
                    recorded: 12, delivered: isDelivered ? 5 : 0, dropped: ["erased": dropped],
                    pending: isDelivered ? 3 : 6)
            ])
        let share = try #require(try store.lease()?.sources.first)
        #expect(share.facts == left.filter { !isDelivered || $0.sequence > 5 })
        #expect(try erase(.networkLogs) == Erasure())
        try expectSound()
    }

    /// Breaks when the end of a request that was under way comes into the store though its beginning was cleared.
    @Test func anExchangeThatIsUnderWayStaysClearedWhenItEnds() throws {
        let part = app.open(gone)
        let exchange = app.openExchange(part: part)
        try app.record(into: store)
        _ = try erase(.networkLogs)
        app.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed), part: part)
        app.event(1, part: part)
        try app.record(into: store)
        #expect(try store.facts(of: app.id).map(\.sequence) == [1, 4])
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 4, dropped: ["erased": 2], pending: 2)])
        try expectSound()
    }

    /// Breaks when the collector is not told what was given up, or erased facts are sent.
    @Test func theCollectorIsToldOfTheErasedRange() throws {
        try write()
        _ = try erase(.transactions([gone]))
        let share = try #require(try store.lease()?.sources.first)
        #expect(share.dropped == [DroppedRange(first: 1, last: 5, reason: .erased)])
        #expect(share.facts == Array(app.facts[5...]))
    }

    /// Breaks when what was delivered is counted as dropped, or called missing afterwards.
    @Test func whatIsSettledStaysSettledWithoutItsRows() throws {
        try write()
        try deliver()
        #expect(try erase(.all) == Erasure(transactionCount: 2, factCount: 12))
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 12, delivered: 12)])
        #expect(try store.lease() == nil)
        try expectSound()
    }

    /// Breaks when a verdict settles facts that were erased while their set was on its way, or the other facts of that
    /// set are lost.
    @Test func aLeaseThatHoldsAnErasedFactEnds() throws {
        try write()
        let set = try #require(try store.lease())
        _ = try erase(.transactions([gone]))
        #expect(try !store.settle(set.id, rejections: [], at: 0))
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 12, dropped: ["erased": 5], pending: 7)])
        try deliver()
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 12, delivered: 7, dropped: ["erased": 5])])
        try expectSound()
    }

    /// Breaks when every erasure makes the flush under way go out again.
    @Test func aLeaseOfOtherFactsStands() throws {
        try write()
        let set = try #require(try store.lease(LeaseLimit(factCount: 5)))
        _ = try erase(.transactions([kept]))
        #expect(try store.settle(set.id, rejections: [], at: 0))
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 12, delivered: 5, dropped: ["erased": 5], pending: 2)])
        try expectSound()
    }

    /// Breaks when a fact of an erased transaction comes back in, or goes out without its beginning.
    @Test func whatComesLaterOfAnErasedPartIsErasedToo() throws {
        let part = app.open(gone)
        let outside = app.openExchange(part: 0)
        try app.record(into: store)
        _ = try erase(.all)
        app.event(1, part: part)
        app.closeExchange(Fact.ExchangeClosed(exchange: outside, state: .completed), part: 0)
        app.close(part, .succeeded)
        try app.record(into: store)
        #expect(try store.facts(of: app.id) == [])
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 5, dropped: ["erased": 5])])
        try expectSound()
    }

    /// Breaks when a transaction that the collector knows stays open there for ever, because its end was erased here
    /// before it was recorded.
    @Test func theEndOfAPartThatWasDeliveredStillGoesOut() throws {
        let part = app.open(gone)
        try app.record(into: store)
        try deliver()
        _ = try erase(.all)
        app.close(part, .succeeded)
        try app.record(into: store)
        #expect(try listed() == [])
        #expect(try store.lease()?.sources.first?.facts == [app.facts[1]])
        try expectSound()
    }

    // MARK: Scopes

    /// Breaks when something that nobody has seen yet outlives the withdrawal of a consent.
    @Test func erasingPendingTakesWholeTransactionsAndNothingThatIsSettled() throws {
        try write()
        try deliver(LeaseLimit(factCount: 7))
        #expect(try erase(.pending) == Erasure(transactionCount: 1, factCount: 7))
        #expect(try listed() == [gone])
        #expect(try store.pendingCount() == 0)
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 12, delivered: 7, dropped: ["erased": 5])])
        #expect(try erase(.pending) == Erasure())
        try expectSound()
    }

    @Test func erasingPendingReachesExchangesAndPartsWithoutATransaction() throws {
        let part = app.open(gone)
        let first = app.openExchange(part: 0)
        app.openExchange(part: 0)
        try app.record(into: store)
        try deliver()
        _ = try erase(.transactions([gone]))
        app.event(1, part: part)
        app.closeExchange(Fact.ExchangeClosed(exchange: first, state: .completed), part: 0)
        try app.record(into: store)
        #expect(try erase(.pending) == Erasure(transactionCount: 0, factCount: 3))
        #expect(try store.facts(of: app.id) == [app.facts[2]])
        #expect(try store.pendingCount() == 0)
        try expectSound()
    }

    /// Breaks when the limit itself goes, or what has no transaction stays for ever.
    @Test func whatBeganBeforeATimeIsErased() throws {
        app.open(gone, at: 1)
        app.openExchange(part: 0, at: 2)
        app.open(kept, at: 3)
        app.openExchange(part: 0, at: 3)
        try app.record(into: store)
        #expect(
            try erase(.begunBefore(Date(microseconds: FactWriter.wall + 3_000_000)))
                == Erasure(transactionCount: 1, factCount: 2))
        #expect(try store.facts(of: app.id) == Array(app.facts[2...]))
        try expectSound()
    }

    /// Breaks when resetting an installation erases what another one recorded.
    @Test func anInstallationIsErasedWithoutOthers() throws {
        let other = FactWriter("other")
        app.source.installation = GUID()
        other.source.installation = GUID()
        try write()
        other.open(GUID())
        try other.record(into: store)
        #expect(
            try erase(.installation(try #require(app.source.installation)))
                == Erasure(transactionCount: 2, factCount: 12))
        #expect(try store.facts(of: app.id) == [] && store.facts(of: other.id) == other.facts)
        #expect(try store.ledgers()[app.id] == Ledger(recorded: 12, dropped: ["erased": 12]))
        try expectSound()
    }

    /// Breaks when a device remembers the IDs of what it was told to forget.
    @Test(arguments: ["all", "ids", "installation", "before"])
    func aStoreOfItsOwnRecordingsKeepsNoTombstones(scope: String) throws {
        app.source.installation = GUID()
        try write()
        switch scope {
        case "all": _ = try erase(.all)
        case "ids": _ = try erase(.transactions([gone]))
        case "before": _ = try erase(.begunBefore(.distantFuture))
        default: _ = try erase(.installation(try #require(app.source.installation)))
        }
        #expect(try listed().contains(gone) == false)
        #expect(try store.connection.integer("SELECT count(*) FROM erased") == 0)
    }

    /// Breaks when the collector's words about a fact outlive it.
    @Test func theReasonOfAQuarantinedFactIsErasedWithIt() throws {
        try write()
        let set = try #require(try store.lease())
        _ = try store.settle(
            set.id, rejections: [Receipt.Rejection(source: app.id, sequence: 2, index: 1, reason: "bad: hunter2")],
            at: 0)
        _ = try erase(.all)
        #expect(
            try store.connection.statement("SELECT reason FROM quarantine").rows { row in row.text(0) } == ["erased"])
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 12, delivered: 11, quarantined: 1)])
        try expectSound()
    }

    /// Breaks when the damage of a row is taken for an erasure.
    @Test func aPendingFactWithoutARowIsAProblem() throws {
        try write()
        try store.connection.execute("DELETE FROM events WHERE sequence = 2")
        #expect(
            try StoreReader(place).verify().problems.contains {
                $0.contains("12 pending facts should be there, and 11 are")
            })
    }
}
