import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// Erasing facts that were recorded into this store itself.
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

    /// Writes two transactions of five facts each, including an exchange: 1 to 5 and 6 to 10. Facts 11 and 12 are an
    /// exchange outside of them.
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

    /// Breaks when facts that were dropped before are booked again, or under the reason for removing their rows.
    @Test func whatWasDroppedBeforeKeepsItsReasonUnlessItIsErased() throws {
        let (store, place) = try Store.inMemory()
        let app = FactWriter()
        app.close(app.open(GUID(), sampling: Fact.Sampling(perMillion: 0, isChosen: false)), .succeeded)
        app.close(app.open(GUID()), .succeeded)
        try app.record(into: store)
        let row = try #require(try store.connection.sourceRow(app.id))
        for reason in [Ledger.DropReason.quota, .age, .erased, .erased] {
            try store.write { () throws(WaybillError) in
                var eraser = FactEraser(store.connection, because: reason)
                try eraser.erase(SequenceRanges([1...2]), of: row)
                try eraser.finish()
            }
            let said = reason == .erased ? "erased" : "sampled"
            #expect(try store.ledgers()[app.id] == Ledger(recorded: 4, dropped: [said: 2], pending: 2), "\(reason)")
            #expect(try store.connection.droppedRanges(of: row.id).sequences == SequenceRanges([1...2]))
            #expect(try StoreReader(place).verify().problems == [])
        }
        // Erases the rest. The facts erased before are erased for the second time.
        _ = try store.erase(.all, at: 0)
        #expect(try store.ledgers()[app.id] == Ledger(recorded: 4, dropped: ["erased": 4]))
    }

    /// Breaks when facts without a transaction keep the names of use cases and events.
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

    /// Breaks when more or less than requested is erased, or when the erasure is not booked.
    @Test func erasedTransactionsAreGoneAndWhatWasPendingIsBooked() throws {
        try write()
        #expect(try erase(.transactions([gone, GUID()])) == Erasure(transactionCount: 1, factCount: 5))
        #expect(try listed() == [kept])
        #expect(try store.facts(of: app.id) == Array(app.facts[5...]))
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 12, dropped: ["erased": 5], pending: 7)])
        #expect(try erase(.transactions([gone])) == Erasure())
        try expectSound()
    }

    /// Breaks when an event is erased with the exchanges, an exchange stays, or the pending facts of an exchange are
    /// not booked.
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

    /// Breaks when the end of a request in progress enters the store although its beginning was cleared.
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

    /// Breaks when the collector does not learn about the erased range, or erased facts are sent.
    @Test func theCollectorIsToldOfTheErasedRange() throws {
        try write()
        _ = try erase(.transactions([gone]))
        let share = try #require(try store.lease()?.sources.first)
        #expect(share.dropped == [DroppedRange(first: 1, last: 5, reason: .erased)])
        #expect(share.facts == Array(app.facts[5...]))
    }

    /// Breaks when delivered facts are counted as dropped, or reported missing afterwards.
    @Test func whatIsSettledStaysSettledWithoutItsRows() throws {
        try write()
        try deliver()
        #expect(try erase(.all) == Erasure(transactionCount: 2, factCount: 12))
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 12, delivered: 12)])
        #expect(try store.lease() == nil)
        try expectSound()
    }

    /// Breaks when a verdict settles facts that were erased during the delivery of their set, or the other facts of
    /// that set are lost.
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

    /// Breaks when every erasure makes the current flush start again.
    @Test func aLeaseOfOtherFactsStands() throws {
        try write()
        let set = try #require(try store.lease(LeaseLimit(factCount: 5)))
        _ = try erase(.transactions([kept]))
        #expect(try store.settle(set.id, rejections: [], at: 0))
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 12, delivered: 5, dropped: ["erased": 5], pending: 2)])
        try expectSound()
    }

    /// Breaks when a fact of an erased transaction enters the store again, or is delivered without its beginning.
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

    /// Breaks when a transaction that the collector knows stays open there forever, because it was erased here before
    /// its end was recorded.
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

    /// Breaks when a fact that has not been delivered outlives the withdrawal of consent.
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

    /// Breaks when facts at exactly the limit are erased, or facts without a transaction stay forever.
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

    /// Breaks when resetting an installation erases the facts of another one.
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

    /// Breaks when a device remembers the IDs of transactions that it was asked to forget.
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

    /// Breaks when the collector's reason for rejecting a fact outlives the fact.
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

    /// Breaks when a damaged row is mistaken for an erasure.
    @Test func aPendingFactWithoutARowIsAProblem() throws {
        try write()
        try store.connection.execute("DELETE FROM events WHERE sequence = 2")
        #expect(
            try StoreReader(place).verify().problems.contains {
                $0.contains("12 pending facts should be there, and 11 are")
            })
    }
}
