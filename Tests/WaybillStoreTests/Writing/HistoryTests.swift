import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore

/// Random histories, and everything that can happen to them in delivery.
@Suite(.timeLimit(.minutes(5))) struct HistoryTests {
    /// Breaks when a row depends on the order of arrival, or when a fact is lost, duplicated or changed.
    @Test(arguments: seeds(0..<250))
    func theSameRowsInAnyOrderOfArrival(seed: Int) throws {
        var maker = HistoryMaker(seed: seed)
        var histories = maker.histories()
        for index in histories.indices { dropSome(of: &histories[index], &maker.random) }
        let (first, _) = try Store.inMemory()
        let (second, secondPlace) = try Store.inMemory()
        var cutter = SetMaker(random: maker.random)
        try deliver(cutter.sets(of: histories), to: first)
        try deliver(cutter.sets(of: histories), to: second)

        #expect(try first.dump() == second.dump(), "seed \(seed)")
        for history in histories {
            #expect(try second.facts(of: history.source.id) == history.sentFacts, "seed \(seed)")
        }
        let reader = try StoreReader(secondPlace)
        #expect(try reader.verify().problems == [], "seed \(seed)")
        for record in try reader.sources() {
            let history = try #require(histories.first { $0.source.id == record.id })
            #expect(
                record.ledger.recorded == history.facts.count && record.ledger.pending == 0 && record.gaps.isEmpty,
                "seed \(seed)")
            #expect(record.ledger.refused == history.refused && record.hasEnded == history.hasEnded, "seed \(seed)")
        }
    }

    /// Breaks when facts lost in delivery do not appear as a gap of exactly their size.
    @Test(arguments: seeds(0..<50))
    func whatHasNotArrivedIsAGap(seed: Int) throws {
        var maker = HistoryMaker(seed: seed)
        guard let history = maker.histories().first(where: { $0.facts.count > 3 }) else { return }
        let lost = 1..<Int.random(in: 2..<history.facts.count, using: &maker.random)
        let share = TransactionSet.Share(
            source: history.source, clocks: history.clocks, ledger: Ledger(recorded: Int64(history.facts.count + 5)),
            facts: history.facts.enumerated().filter { !lost.contains($0.offset) }.map(\.element))
        let (store, place) = try Store.inMemory()
        try deliver([TransactionSet(id: GUID(), sources: [share])], to: store)
        let record = try #require(try StoreReader(place).sources().first)
        #expect(
            record.gaps == [SourceRecord.Gap(first: Int64(lost.lowerBound + 1), last: Int64(lost.upperBound))],
            "seed \(seed)")
        #expect(record.ledger.pending == Int64(lost.count + 5), "seed \(seed)")
    }

    /// Breaks when an appended fact is not leased, is leased changed, or is leased twice without need; when a ledger
    /// does not balance in between; or when the two stores differ in the end.
    @Test(arguments: seeds(0..<150))
    func whatIsRecordedArrivesOnceWhateverHappensOnTheWay(seed: Int) throws {
        var maker = HistoryMaker(seed: seed)
        let histories = maker.histories()
        var journey = try Journey(histories, maker.random)
        try eventually("everything arrives") { try !journey.step() }

        #expect(journey.surprises == [], "seed \(seed)")
        for history in histories {
            #expect(try journey.device.facts(of: history.source.id) == history.facts, "seed \(seed)")
            #expect(try journey.collector.facts(of: history.source.id) == history.facts, "seed \(seed)")
        }
        let arrived = try StoreReader(journey.collectorPlace).sources()
        for history in histories where !history.facts.isEmpty {
            let record = try #require(arrived.first { $0.id == history.source.id }, "seed \(seed)")
            #expect(record.hasEnded == history.hasEnded && record.ledger.refused == history.refused, "seed \(seed)")
        }
        // The derived columns are the same as well, settled or received.
        for table in ["parts ", "events ", "exchanges "] {
            let rows = try [journey.device, journey.collector].map { try $0.dump().filter { $0.hasPrefix(table) } }
            #expect(rows[0] == rows[1], "seed \(seed)")
        }
        #expect(try journey.device.pendingCount() == 0, "seed \(seed)")
        #expect(
            try journey.device.connection.integer("SELECT count(*) FROM parts WHERE settled = 0") == 0, "seed \(seed)")
        #expect(try StoreReader(journey.devicePlace).verify().problems == [], "seed \(seed)")
        #expect(try StoreReader(journey.collectorPlace).verify().problems == [], "seed \(seed)")
    }

    private func deliver(_ sets: [TransactionSet], to store: Store) throws {
        for set in sets {
            let receipt = try store.ingest(
                try TransactionSet.decode(set.encoded()), receivedAt: HistoryMaker.wall)
            #expect(receipt.set == set.id && receipt.factCount == set.factCount && receipt.rejections.isEmpty)
        }
    }

    private func dropSome(of history: inout SourceHistory, _ random: inout RandomNumbers) {
        guard history.facts.count > 6, random.oneIn(3) else { return }
        let first = Int64.random(in: 1...Int64(history.facts.count - 4), using: &random)
        history.dropped = [
            DroppedRange(first: first, last: first + 1, reason: .quota),
            DroppedRange(first: first + 2, last: first + 3, reason: .age),
        ]
    }
}
