import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore

/// The data about sources that a reader keeps between two lists.
@Suite(.timeLimit(.minutes(5))) struct NewestExchangesTests {
    /// Breaks when a reader misses exchanges that arrived since its last list, or shows exchanges that were erased
    /// since. The source may be known, new, or have the reused ID of another.
    @Test(arguments: seeds(0..<16)) func aReaderThatHasListedBeforeListsWhatANewOneDoes(seed: Int) throws {
        var maker = HistoryMaker(seed: seed)
        let histories = maker.histories()
        let (store, place) = try Store.inMemory()
        let reader = try StoreReader(place)
        let own = FactWriter("own")
        let part = own.open(GUID())
        for _ in 0..<30 { own.openExchange(part: part) }
        try store.register(own.source)
        var sets = SetMaker(random: maker.random)
        var (recorded, now, count) = (0, FactWriter.wall, 0)
        for set in sets.sets(of: histories) {
            now += 1_000_000
            _ = try store.ingest(set, receivedAt: now)
            if recorded < own.facts.count {
                try store.append(
                    RecordedBatch(source: own.id, facts: [own.facts[recorded]], names: [], clocks: own.clocks))
                recorded += 1
            }
            count = max(count, try expectSameLists(reader, place))
            if maker.random.oneIn(8), let id = try reader.transactionIDs().randomElement(using: &maker.random) {
                _ = try store.erase(.transactions([id]), at: now)
            }
            if maker.random.oneIn(40) { _ = try store.retire(receivedBefore: now - 5_000_000) }
        }
        #expect(count > 1 || recorded < 3, "some histories are one set")
    }

    /// Breaks when each page asks all sources again.
    @Test func aSourceIsAskedAgainOnlyWhenItHasDeliveredSomething() throws {
        let (store, place) = try Store.inMemory()
        let writers = (0..<20).map { _ in FactWriter() }
        for writer in writers {
            writer.openExchange(part: 0)
            try store.ingest(writer.set())
        }
        let reader = try StoreReader(place)
        func asked() throws -> Int {
            try reader.newestExchanges.sources(reader.connection).count { $0.isExact }
        }
        #expect(try asked() == 20)
        #expect(try asked() == 0)
        writers[3].openExchange(part: 0)
        try store.ingest(writers[3].set(2...2))
        #expect(try asked() == 1)
    }

    /// - Returns: The number of exchanges.
    private func expectSameLists(_ reader: StoreReader, _ place: ResolvedLocation) throws -> Int {
        let other = try StoreReader(place)
        for limit in [3, 1_000] {
            let lists = try [reader, other].map { reader in
                try reader.exchanges(matching: ExchangeFilter(), limit: limit, after: nil, now: FactWriter.wall).rows
                    .map(\.id)
            }
            #expect(lists[0] == lists[1])
            let budgeted = try [reader, other].map { reader in
                try reader.exchanges(
                    matching: ExchangeFilter(), limit: limit, after: nil, now: FactWriter.wall,
                    budget: SearchBudget(stretch: 4) { false }
                ).rows.map(\.id)
            }
            #expect(budgeted[0] == budgeted[1] && budgeted[0] == lists[0])
        }
        return try other.exchangeCount()
    }
}

extension StoreReader {
    fileprivate func transactionIDs() throws -> [GUID] {
        try transactions(matching: TransactionFilter(), limit: 100, after: nil, now: FactWriter.wall).rows.map(\.id)
    }
}
