import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct DeliveryTests {
    private let store: Store
    private let place: ResolvedLocation
    private let app = FactWriter()

    init() throws { (store, place) = try Store.inMemory() }

    /// Writes one transaction with this number of facts.
    private func write(_ count: Int, by writer: FactWriter? = nil) {
        let writer = writer ?? app
        let part = writer.open(GUID())
        for _ in 1..<count { writer.event(1, part: part) }
    }

    /// Breaks when a set lacks the data that a collector needs to understand and to count the facts.
    @Test func aSetHoldsWhatWasRecordedAndWhatItTakesToUnderstandIt() throws {
        app.source.attributes = ["environment": "test"]
        app.source.installation = GUID()
        app.names = [RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 0, event: 1, name: "sent")]
        write(3)
        try app.record(into: store)
        let set = try #require(try store.lease())
        var expected = app.share()
        expected.ledger = Ledger(recorded: 3, pending: 3)
        #expect(set.sources == [expected])
        #expect(try store.settle(set.id, rejections: [], at: 0))
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 3, delivered: 3)])
        #expect(try store.lease() == nil)
    }

    /// Breaks when a set is larger than requested, does not start at the oldest fact, or leaves a hole.
    @Test func aLeaseTakesTheOldestFactsOfSeveralSourcesUpToItsLimit() throws {
        let other = FactWriter("other")
        write(5)
        write(5, by: other)
        try app.record(into: store)
        try other.record(into: store)
        let first = try #require(try store.lease(LeaseLimit(factCount: 7)))
        #expect(first.sources.map(\.source.id) == [app.id, other.id])
        #expect(first.sources.map { $0.facts.map(\.sequence) } == [[1, 2, 3, 4, 5], [1, 2]])
        #expect(try store.settle(first.id, rejections: [], at: 0))
        #expect(try store.lease()?.sources.map { $0.facts.map(\.sequence) } == [[3, 4, 5]])
    }

    /// Breaks when a lease looks for each sequence of a gap. With a damaged number, it would never return.
    @Test func aGapOfAnyLengthIsBookedAtOnce() throws {
        write(2)
        try app.record(into: store)
        let far = Fact(sequence: 1 << 50, part: 1, atMicroseconds: 9, content: .event(Fact.Event(code: 1)))
        try store.append(RecordedBatch(source: app.id, facts: [far]))
        let share = try #require(try store.lease()?.sources.first)
        #expect(share.facts.map(\.sequence) == [1, 2, 1 << 50])
        #expect(share.dropped == [DroppedRange(first: 3, last: 1 << 50 - 1, reason: .damaged)])
    }

    /// Breaks when large facts make a set that no collector accepts, or when a fact larger than the limit is never
    /// sent.
    @Test func aLeaseStopsAtItsBytesAndTakesAtLeastOneFact() throws {
        let part = app.open(GUID())
        for _ in 1...4 { app.event(1, part: part, attributes: ["text": .string(String(repeating: "x", count: 1_000))]) }
        try app.record(into: store)
        var sizes: [Int] = []
        try eventually("everything is delivered") {
            guard let set = try store.lease(LeaseLimit(byteCount: 2_500)) else { return true }
            sizes.append(set.factCount)
            #expect(set.encoded().count < 4_000)
            _ = try store.settle(set.id, rejections: [], at: 0)
            return false
        }
        #expect(sizes == [4, 1] || sizes == [3, 2])
        try store.append(
            RecordedBatch(
                source: app.id,
                facts: [Fact(sequence: 6, part: part, atMicroseconds: 0, content: .event(Fact.Event(code: 1)))]))
        #expect(try store.lease(LeaseLimit(factCount: 0, byteCount: 0))?.factCount == 1)
    }

    /// Breaks when facts recorded during the delivery of a set are settled with it.
    @Test func factsRecordedDuringAFlushStayPending() throws {
        write(3)
        try app.record(into: store, 1...2)
        let set = try #require(try store.lease())
        try app.record(into: store, 3...3)
        #expect(try store.settle(set.id, rejections: [], at: 0))
        #expect(try store.pendingCount() == 1)
        #expect(try store.lease()?.sources.first?.facts == [app.facts[2]])
    }

    // MARK: The end of a lease

    /// Breaks when two processes deliver the same store at once.
    @Test func aLiveLeaseOfAnotherOwnerKeepsOthersOut() throws {
        write(2)
        try app.record(into: store)
        let (mine, other) = (GUID(), GUID())
        let set = try #require(try store.lease(owner: other, now: 0, expiresIn: 100, isAlive: { _ in true }))
        #expect(try store.lease(owner: mine, now: 50, expiresIn: 100, isAlive: { _ in true }) == nil)
        #expect(try store.settle(set.id, rejections: [], at: 0))
    }

    /// Breaks when a process read its clock, then waited while another one leased, and mistakes that lease for one from
    /// an earlier boot.
    @Test func aLeaseThatWasMadeAfterTheClockWasReadIsLive() throws {
        write(2)
        try app.record(into: store)
        let set = try #require(try store.lease(owner: GUID(), now: 51, expiresIn: 100, isAlive: { _ in true }))
        #expect(try store.lease(owner: GUID(), now: 50, expiresIn: 100, isAlive: { _ in true }) == nil)
        #expect(try store.settle(set.id, rejections: [], at: 0))
    }

    /// Breaks when a flush that waits minutes for an answer mistakes the days of a background upload for a lease from
    /// an earlier boot, and sends its facts a second time.
    @Test func theLeaseOfABackgroundUploadKeepsShorterOnesOut() throws {
        write(2)
        try app.record(into: store)
        func lease(_ owner: GUID, at uptime: Int64, for microseconds: Int64 = 120_000_000) throws -> TransactionSet? {
            try store.lease(
                owner: owner, now: uptime, expiresIn: microseconds, isAlive: { $0 != app.id && $0.isOfNoProcess })
        }
        let longest = Store.longestLeaseMicroseconds
        let uploads = GUID.ofNoProcess(named: "uploads")
        let set = try #require(try lease(uploads, at: 0, for: longest))
        for uptime in [0, longest / 2, longest - 1] { #expect(try lease(GUID(), at: uptime) == nil) }
        #expect(try store.isLeased(set.id, now: longest - 1, expiresIn: longest))
        let next = try #require(try lease(GUID(), at: longest))
        #expect(next.id != set.id)
        try store.release(next.id)
        // The lease is from an earlier boot, whose uptime was higher.
        #expect(try lease(uploads, at: 5 * longest, for: longest) != nil)
        #expect(try lease(GUID(), at: 0) != nil)
    }

    /// Breaks when facts stay claimed forever by a lease that will never be settled.
    @Test(arguments: ["dead", "expired", "earlier boot", "own"])
    func aStaleLeaseIsEnded(_ why: String) throws {
        write(2)
        try app.record(into: store)
        let (mine, other) = (GUID(), GUID())
        let start: Int64 = why == "earlier boot" ? 1_000_000 : 0
        let stale = try #require(
            try store.lease(owner: why == "own" ? mine : other, now: start, expiresIn: 100, isAlive: { _ in true }))
        let now: Int64 = why == "expired" ? 100 : 50
        let set = try #require(try store.lease(owner: mine, now: now, expiresIn: 100, isAlive: { _ in why != "dead" }))
        #expect(set.id != stale.id)
        #expect(set.sources.map(\.facts) == stale.sources.map(\.facts))
        #expect(try !store.settle(stale.id, rejections: [], at: 0))
        #expect(try store.pendingCount() == 2)
    }

    /// Breaks when a late verdict settles facts that are being delivered again, or is counted.
    @Test func withoutItsLeaseAVerdictBooksNothing() throws {
        write(2)
        try app.record(into: store)
        let set = try #require(try store.lease())
        try store.release(set.id)
        let before = try store.dump()
        #expect(
            try !store.settle(
                set.id, rejections: [Receipt.Rejection(source: app.id, sequence: 1, index: 0, reason: "no")], at: 0))
        #expect(try store.dump() == before)
    }

    /// Breaks when a lost answer duplicates facts at the collector, or leaves them pending on the device.
    @Test func afterALostResponseTheFactsGoOutAgainAndAreKnown() throws {
        write(3)
        try app.record(into: store)
        let (collector, _) = try Store.inMemory()
        let lost = try #require(try store.lease())
        #expect(try collector.ingest(lost).acceptedCount == 3)
        try store.release(lost.id)
        let again = try #require(try store.lease())
        let receipt = try collector.ingest(again)
        #expect(again.id != lost.id && receipt.knownCount == 3 && receipt.acceptedCount == 0)
        #expect(try store.settle(again.id, rejections: receipt.rejections, at: 0))
        #expect(try store.pendingCount() == 0)
    }

    // MARK: Rejected, dropped, ended

    /// Breaks when a rejected fact blocks the queue, is sent forever, or is counted as delivered.
    @Test func rejectedFactsGoIntoQuarantineAndDoNotBlock() throws {
        write(4)
        try app.record(into: store)
        let set = try #require(try store.lease())
        let rejections = [
            Receipt.Rejection(source: app.id, sequence: 2, index: 1, reason: "no"),
            Receipt.Rejection(source: app.id, sequence: nil, index: 3, reason: "unreadable"),
            Receipt.Rejection(source: GUID(), sequence: 1, index: 0, reason: "of another source"),
            Receipt.Rejection(source: app.id, sequence: 17, index: 9, reason: "not in the set"),
        ]
        #expect(try store.settle(set.id, rejections: rejections, at: 5))
        #expect(try store.ledgers() == [app.id: Ledger(recorded: 4, delivered: 2, quarantined: 2)])
        let kept = try store.connection.statement("SELECT sequence, reason FROM quarantine ORDER BY sequence").rows {
            row in
            "\(row.int(0)) \(row.text(1))"
        }
        #expect(kept == ["2 no", "4 unreadable"])
        #expect(try store.lease() == nil)
        #expect(try StoreReader(place).verify().problems == [])
    }

    /// Breaks when a collector never learns that a source has ended because nothing is pending, or learns it again with
    /// every flush.
    @Test func thatASourceHasEndedIsToldOnceAlsoWithoutFacts() throws {
        write(2)
        try app.record(into: store)
        _ = try store.settle(try #require(try store.lease()).id, rejections: [], at: 0)
        #expect(try store.endSources(isAlive: { _ in false }) == [app.id])
        let lost = try #require(try store.lease())
        #expect(lost.sources.map(\.hasEnded) == [true] && lost.factCount == 0)
        try store.release(lost.id)
        let told = try #require(try store.lease())
        #expect(told.sources.map(\.hasEnded) == [true])
        _ = try store.settle(told.id, rejections: [], at: 0)
        #expect(try store.lease() == nil)
        #expect(try store.endSources(isAlive: { _ in false }) == [])
    }

    /// Breaks when news that arises during the delivery of a set is considered reported.
    @Test func newsDuringAFlushIsToldByTheNextOne() throws {
        write(2)
        try app.record(into: store)
        let set = try #require(try store.lease())
        #expect(set.sources.map(\.hasEnded) == [false])
        _ = try store.endSources(isAlive: { _ in false })
        // The source that ended does not own the lease, so the lease stays valid.
        #expect(try store.settle(set.id, rejections: [], at: 0))
        #expect(try store.lease()?.sources.map(\.hasEnded) == [true])
    }

    /// Breaks when the verdict on one of several leased sets marks the news of another set as reported, although that
    /// set was lost.
    @Test(arguments: [true, false]) func newsIsToldAgainIfTheSetThatHasItIsLost(isLostFirst: Bool) throws {
        let owner = GUID(high: 0, low: 1)
        let other = FactWriter("other")
        write(2, by: other)
        try other.record(into: store)
        _ = try store.settle(try #require(try store.lease()).id, rejections: [], at: 0)
        _ = try store.endSources(isAlive: { _ in false })
        write(4)
        try app.record(into: store)
        func lease(_ factCount: Int, besides others: Set<GUID>) throws -> TransactionSet? {
            try store.lease(
                owner: owner, besides: others, now: 0, expiresIn: 1_000, limit: LeaseLimit(factCount: factCount),
                isAlive: { _ in true })
        }
        let first = try #require(try lease(3, besides: []))
        #expect(first.sources.map(\.hasEnded) == [true, false])
        let second = try #require(try lease(5, besides: [first.id]))
        #expect(second.factCount == 1)
        #expect(try lease(5, besides: [first.id, second.id]) == nil, "news alone does not justify another set")
        if isLostFirst { try store.release(first.id) }
        #expect(try store.settle(second.id, rejections: [], at: 0))
        if !isLostFirst { try store.release(first.id) }
        let next = try #require(try lease(9, besides: []))
        #expect(next.factCount == 3)
        #expect(next.sources.map(\.hasEnded) == [true, false])
        #expect(try store.settle(next.id, rejections: [], at: 0))
        #expect(try lease(9, besides: []) == nil)
    }

    /// Breaks when a source that never recorded anything is announced.
    @Test func aSourceWithoutFactsIsNotToldOf() throws {
        try store.register(app.source)
        #expect(try store.endSources(isAlive: { _ in false }) == [app.id])
        #expect(try store.lease() == nil)
    }

    /// Breaks when the leases of a process outlive it.
    @Test func endingASourceEndsItsLeases() throws {
        write(2)
        try app.record(into: store)
        let set = try #require(try store.lease(owner: app.id))
        _ = try store.endSources(isAlive: { _ in false })
        #expect(try !store.settle(set.id, rejections: [], at: 0))
    }

    /// Breaks when delivery waits for facts whose rows are missing, or counts them as delivered.
    @Test func factsWithoutARowAreBookedAsDamaged() throws {
        write(6)
        try app.record(into: store)
        try store.connection.execute("DELETE FROM events WHERE sequence IN (3, 4)")
        let set = try #require(try store.lease())
        #expect(set.sources.first?.facts.map(\.sequence) == [1, 2, 5, 6])
        #expect(set.sources.first?.dropped == [DroppedRange(first: 3, last: 4, reason: .damaged)])
        #expect(
            try store.settle(
                set.id, rejections: [Receipt.Rejection(source: app.id, sequence: nil, index: 2, reason: "no")], at: 0))
        #expect(
            try store.ledgers() == [app.id: Ledger(recorded: 6, delivered: 3, quarantined: 1, dropped: ["damaged": 2])])
        #expect(try store.connection.integer("SELECT sequence FROM quarantine") == 5)
        #expect(try store.lease() == nil)
        #expect(try StoreReader(place).verify().problems == [])
    }

    // MARK: Cost

    /// Breaks when a flush reads more than its share. Delivery would slow down as more facts are pending, and an app
    /// that was offline would never catch up.
    @Test func aFlushCostsWhatItSendsHoweverMuchIsPending() throws {
        func steps(pending: Int) throws -> Int {
            let (store, _) = try Store.inMemory()
            let writer = FactWriter()
            for _ in 0..<(pending / 8) {
                let part = writer.open(GUID())
                for code in 1...4 { writer.event(code, part: part) }
                let exchange = writer.openExchange(part: part)
                writer.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed), part: part)
                writer.close(part, .succeeded)
            }
            try writer.record(into: store)
            // Measures the second flush, after the facts that the first one settled.
            _ = try store.settle(try #require(try store.lease()).id, rejections: [], at: 0)
            let before = store.connection.virtualMachineSteps
            let set = try #require(try store.lease())
            #expect(set.factCount == 2_000)
            _ = try store.settle(set.id, rejections: [], at: 0)
            return store.connection.virtualMachineSteps - before
        }
        let few = try steps(pending: 8_000)
        let many = try steps(pending: 200_000)
        #expect(Double(many) < 1.1 * Double(few), "\(few) steps with 8,000 pending, \(many) with 200,000")
        #expect(many < 2_000 * 60, "\(many) steps")
    }
}
