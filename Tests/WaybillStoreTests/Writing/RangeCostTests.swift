import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore

/// The cost of a set depends on its contents, and not on the facts that its source already has.
@Suite(.timeLimit(.minutes(5))) struct RangeCostTests {
    /// Returns ranges of one sequence each, with a gap of one between them.
    private static func ranges(_ count: Int, from first: Int64 = 1, _ reason: Ledger.DropReason) -> [DroppedRange] {
        (0..<Int64(count)).map { DroppedRange(first: first + 2 * $0, last: first + 2 * $0, reason: reason) }
    }

    private static func set(_ share: TransactionSet.Share) -> TransactionSet {
        TransactionSet(id: GUID(), sources: [share])
    }

    /// Returns the SQLite steps for a set with one fact and one range, from a source that has reported `count` ranges
    /// before.
    private func steps(after count: Int, _ reason: Ledger.DropReason) throws -> Int {
        let (store, _) = try Store.inMemory()
        let client = FactWriter()
        var share = client.share()
        share.ledger.recorded = 1_000_000
        share.dropped = Self.ranges(count, reason)
        try store.ingest(Self.set(share))
        func small(_ sequence: Int64) throws {
            share.dropped = [DroppedRange(first: sequence, last: sequence, reason: reason)]
            share.facts = [
                Fact(
                    sequence: sequence + 2, part: sequence + 2, atMicroseconds: sequence,
                    content: .opened(Fact.Opened(transaction: GUID(), useCase: 0)))
            ]
            #expect(try store.ingest(Self.set(share)).acceptedCount == 1)
        }
        try small(500_000)  // prepares all statements
        let before = store.connection.virtualMachineSteps
        try small(500_010)
        return store.connection.virtualMachineSteps - before
    }

    /// Breaks when a set causes all ranges of its source to be read or written. A few sets with many ranges would block
    /// all others.
    @Test(arguments: [Ledger.DropReason.quota, .erased])
    func aSmallSetCostsTheSameHoweverManyRangesItsSourceHas(_ reason: Ledger.DropReason) throws {
        let (few, many) = (try steps(after: 10, reason), try steps(after: 10_000, reason))
        #expect(Double(many) < 1.5 * Double(few), "\(few) steps after 10 ranges, \(many) after 10,000")
        let full = try steps(after: Ingestion.droppedRowLimit, reason)
        #expect(full < 3 * few, "\(few) steps after 10 ranges, \(full) where there is no room for more")
    }

    /// Breaks when many small sets fill a source's ledger endlessly; or when a source with a full ledger can't join
    /// existing ranges, has its facts refused, or is counted wrong.
    @Test func sourcesHaveTheSameRoomForWhatTheyDropHoweverSmallTheirSetsAre() throws {
        let (store, _) = try Store.inMemory()
        let limit = Ingestion.droppedRowLimit
        let client = FactWriter()
        var share = client.share()
        share.ledger.recorded = 1_000_000
        func tell(_ ranges: [DroppedRange]) throws {
            share.dropped = ranges
            try store.ingest(Self.set(share))
        }
        func rows() throws -> Int { try store.connection.integer("SELECT count(*) FROM dropped") }
        for part in 0..<Int64(limit / 1_000) { try tell(Self.ranges(1_000, from: 1 + part * 2_000, .quota)) }
        #expect(try rows() == limit)
        for part in Int64(0)..<4 {
            try tell(Self.ranges(1_000, from: 500_000 + part * 2_000, part < 2 ? .quota : .erased))
        }
        #expect(try rows() == limit, "what has no room is left out")

        client.open(GUID())
        share.facts = [Fact(sequence: 900_000, part: 900_000, atMicroseconds: 1, content: client.facts[0].content)]
        share.dropped = [DroppedRange(first: 2, last: 2, reason: .quota)]
        #expect(try store.ingest(Self.set(share)).acceptedCount == 1)
        #expect(try rows() == limit - 1, "what joins two rows needs no room")
        share.facts = []
        try tell(Self.ranges(2, from: 700_001, .age))
        #expect(try rows() == limit, "and makes room for one")
        #expect(try store.connection.integer("SELECT sum(dropped_rows) FROM sources") == limit)
    }

    /// Breaks when one wide range reads more rows than a set may cost, or its facts are lost with it.
    @Test func aRangeThatCoversVeryManyRowsIsLeftOutAndTheFactsAreTaken() throws {
        let (store, place) = try Store.inMemory()
        let client = FactWriter()
        client.open(GUID())
        var share = client.share(2...2)
        share.ledger.recorded = 200_000
        for part in Int64(0)..<6 {
            share.dropped = Self.ranges(10_000, from: 3 + part * 20_000, .erased)
            try store.ingest(Self.set(share))
        }
        share.facts = client.facts
        share.dropped = [
            DroppedRange(first: 3, last: 200_000, reason: .age),
            DroppedRange(first: 150_000, last: 150_000, reason: .age),
        ]
        #expect(try store.ingest(Self.set(share)).acceptedCount == 1)
        let ledger = try #require(try StoreReader(place).sources().first?.ledger)
        #expect(ledger.dropped == ["erased": 60_000, "age": 1])
        #expect(ledger.pending == 200_000 - 60_000 - 2)
    }

    /// Breaks when ranges changed in place overlap, or stay separate although they touch.
    @Test func rangesThatAreChangedInPlaceSayTheSameAsOneWriting() throws {
        let told = [
            DroppedRange(first: 10, last: 20, reason: .quota), DroppedRange(first: 15, last: 16, reason: .erased),
            DroppedRange(first: 21, last: 30, reason: .quota), DroppedRange(first: 40, last: 50, reason: .age),
            DroppedRange(first: 31, last: 39, reason: .quota), DroppedRange(first: 35, last: 45, reason: .damaged),
        ]
        func rows(_ orders: [[DroppedRange]]) throws -> [DroppedRange] {
            let (store, _) = try Store.inMemory()
            var share = FactWriter().share()
            share.ledger.recorded = 100
            for dropped in orders {
                share.dropped = dropped
                try store.ingest(Self.set(share))
            }
            let row = try #require(try store.connection.sourceRow(share.source.id))
            return try store.connection.droppedRanges(of: row.id)
        }
        let whole = try rows([told])
        #expect(try rows(told.map { [$0] }) == whole)
        #expect(try rows(told.reversed().map { [$0] }) == whole)
        #expect(try rows([told, told]) == whole)
        #expect(
            whole == [
                DroppedRange(first: 10, last: 14, reason: .quota), DroppedRange(first: 15, last: 16, reason: .erased),
                DroppedRange(first: 17, last: 39, reason: .quota), DroppedRange(first: 40, last: 50, reason: .age),
            ])
    }

    /// Breaks when ranges that are looked up together remove other facts, or fewer, than each range alone.
    @Test(arguments: 0..<40) func manyRangesInOneSetSayTheSameAsEachInItsOwn(seed: Int) throws {
        var random = RandomNumbers(seed: seed)
        let client = FactWriter()
        var part: Int64 = 0
        for number in 0..<200 {
            switch number % 5 {
            case 0: part = client.open(GUID())
            case 1 where random.oneIn(2): client.openExchange(part: 0)
            case 2 where random.oneIn(2): client.openExchange(part: part)
            default: client.event(1, part: part)
            }
        }
        let told = (0..<40).map { _ in
            let first = Int64.random(in: 1...200, using: &random)
            let reason: Ledger.DropReason = random.oneIn(2) ? .erased : .quota
            return DroppedRange(first: first, last: first + Int64.random(in: 0...4, using: &random), reason: reason)
        }
        let arrived = client.facts.filter { _ in !random.oneIn(3) }
        func dump(_ sets: [[DroppedRange]]) throws -> [String] {
            let (store, _) = try Store.inMemory()
            var share = client.share()
            share.ledger.recorded = 250
            share.facts = arrived
            try store.ingest(Self.set(share))
            share.facts = []
            for dropped in sets {
                share.dropped = dropped
                try store.ingest(Self.set(share))
            }
            return try store.dump()
        }
        let whole = try dump([told])
        #expect(try dump(told.map { [$0] }) == whole)
        #expect(whole.contains { $0.hasPrefix("dropped ") } && whole.contains { $0.hasPrefix("events ") })
    }

    /// Breaks when each of very many ranges searches for facts that the source has never sent.
    @Test func rangesInWhichNothingCameCostTheSameErasedAsDropped() throws {
        func steps(_ reason: Ledger.DropReason) throws -> Int {
            let (store, _) = try Store.inMemory()
            var share = FactWriter().share()
            share.ledger.recorded = 100_000
            try store.ingest(Self.set(share))
            share.dropped = Self.ranges(5_000, reason)
            let before = store.connection.virtualMachineSteps
            try store.ingest(Self.set(share))
            return store.connection.virtualMachineSteps - before
        }
        let (dropped, erased) = (try steps(.quota), try steps(.erased))
        #expect(erased < 2 * dropped, "\(dropped) steps dropped, \(erased) erased")
    }

    /// Breaks when the anchors of a set change the dates of all transactions of their source, however many it has.
    @Test func anAnchorInFrontOfVeryManyPartsIsLeftOut() throws {
        let (store, place) = try Store.inMemory()
        let client = FactWriter()
        for _ in 0..<5_001 { client.open(GUID()) }
        try store.ingest(client.set())
        var share = client.share(1...1)
        share.clocks.append(ClockAnchor(atMicroseconds: 1, offsetMicroseconds: 5))
        share.clocks.append(ClockAnchor(atMicroseconds: 1 << 40, offsetMicroseconds: 7))
        try store.ingest(Self.set(share))
        let reader = try StoreReader(place)
        let row = try #require(try reader.row(of: client.id))
        let anchors = try WallClock(of: row, reader.connection).anchors
        #expect(anchors == [share.clocks[0], share.clocks[2]])
    }

    /// Breaks when a page of sources grows with their gaps.
    @Test func ofVeryManyGapsTheFirstAreListedAndAllAreCounted() throws {
        let (store, place) = try Store.inMemory()
        var share = FactWriter().share()
        share.ledger.recorded = 10_000
        share.dropped = Self.ranges(1_500, from: 2, .quota)
        try store.ingest(Self.set(share))
        let record = try #require(try StoreReader(place).sources().first)
        #expect(record.gaps.count == SourceRecord.gapLimit && record.gapCount == 1_500)
        #expect(record.gaps.first == SourceRecord.Gap(first: 1, last: 1))
        #expect(record.ledger.dropped == ["quota": 1_500] && record.ledger.pending == 8_500)
    }
}
