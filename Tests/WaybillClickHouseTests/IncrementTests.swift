#if ClickHouse
import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillStore
import WaybillTesting

@testable import WaybillClickHouse

/// The hourly jobs of an operator, which do not read all facts.
@Suite(.timeLimit(.minutes(15)), .enabled(if: ClickHouseEngine.isThere)) struct IncrementTests {
    /// Breaks when an increment that is read alone lacks the request of a later answer, or the transaction of an event
    /// that arrived before its opening.
    @Test func anIncrementHasWhatItsFactsBelongTo() async throws {
        var all = try await ClickHouseStore(ClickHouseEngine.shared.database())
        var alone = all
        (all.readsAll, alone.factLimit) = (true, 0)
        let (whole, store) = (all, alone)
        var recorder = Recorder("proxy", GUID())
        let request = recorder.add(
            .exchangeOpened(Fact.ExchangeOpened(method: "GET", scheme: "https", host: "a.example", path: "/b")), part: 0
        )
        let part = recorder.add(.opened(Fact.Opened(transaction: GUID(), useCase: 1)))
        recorder.add(.event(Fact.Event(code: 1)), part: part)
        recorder.add(
            .exchangeClosed(Fact.ExchangeClosed(exchange: request, state: .completed, status: 200)), part: 0)
        // The opening of this part never arrives.
        let lost = recorder.add(.opened(Fact.Opened(transaction: GUID(), useCase: 1)))
        let other = recorder.add(
            .exchangeOpened(Fact.ExchangeOpened(method: "GET", scheme: "https", host: "b.example", path: "/c")),
            part: lost)
        recorder.add(
            .exchangeClosed(Fact.ExchangeClosed(exchange: other, state: .completed, status: 200)), part: lost)
        func add(_ sequences: Int64..., at time: TimeInterval) async throws {
            let facts = recorder.facts.filter { sequences.contains($0.sequence) }
            let set = TransactionSet(id: GUID(), sources: [recorder.share(facts)])
            let receipt = try await store.add(ReceivedSet(set, received: Date(timeIntervalSince1970: time)))
            #expect(receipt.acceptedCount == sequences.count)
        }
        func expectTheSame(_ facts: ExportedFacts, _ word: String) async throws {
            var texts: [String] = []
            for store in [whole, store] {
                let export = try await store.export(facts, as: .ndjson)
                var bytes: [UInt8] = []
                while let piece = try await export.next() { bytes += piece.bytes }
                texts.append(String(decoding: bytes, as: UTF8.self))
            }
            #expect(texts[0] == texts[1])
            #expect(texts[0].contains(word))
        }
        try await add(1, at: 1_800_000_000)
        let cursor = try await store.export(.after("0"), as: .ndjson).cursor
        try await add(4, at: 1_800_000_001)
        try await expectTheSame(.after(cursor), "a.example")
        try await add(3, at: 1_800_000_100)
        try await add(2, at: 1_800_000_050)
        try await expectTheSame(.since(Date(timeIntervalSince1970: 1_800_000_100)), "transaction_id")
        try await add(other, at: 1_800_000_200)
        try await add(other + 1, at: 1_800_000_300)
        try await expectTheSame(.since(Date(timeIntervalSince1970: 1_800_000_300)), "b.example")
    }

    /// Breaks when a transaction is exported while servers still have rows of its erased installation.
    @Test func anErasedInstallationIsNotExported() async throws {
        let store = try await ClickHouseStore(ClickHouseEngine.shared.database())
        var alone = store
        alone.factLimit = 0
        let (installation, transaction) = (GUID(), GUID())
        var recorder = Recorder("shop", GUID(), of: installation)
        let part = recorder.add(.opened(Fact.Opened(transaction: transaction, useCase: 1)))
        recorder.add(.closed(Fact.Closed(outcome: .succeeded)), part: part)
        let set = TransactionSet(id: GUID(), sources: [recorder.share(recorder.facts)])
        try await store.add([set])
        func isExported() async throws -> Bool {
            try await alone.export(.some([transaction]), as: .ndjson).next()?.bytes.isEmpty == false
        }
        #expect(try await isExported())
        try await store.tables.insert([Tombstone(id: installation, isWithInstallation: false, at: 1)])
        #expect(try await !isExported())
    }

    /// Breaks when retired transactions come back, or when anything else is retired.
    @Test func whatIsTooOldIsRetired() async throws {
        let clock = ManualClock(wallMicroseconds: 1_800_100_000_000_000)
        let store = try await ClickHouseStore(ClickHouseEngine.shared.database(), clock: clock)
        var shop = Shop(seed: 9)
        for _ in 0..<3 { shop.buy() }
        let old = shop.transactions
        try await store.add(shop.sets())
        var next = Shop(seed: 10)
        next.buy()
        try await store.add(next.sets(), at: 1_800_100_000)
        func retire(_ age: Duration) async throws -> Int {
            try await store.retire(RetirementLimits(maximumAge: age))
        }
        #expect(try await retire(.seconds(200_000)) == 0)
        #expect(try await retire(.seconds(1_000)) > 0)
        #expect(try await retire(.seconds(1_000)) == 0)
        #expect(try await store.transactions(ListRequest()).rows.map(\.id) == next.transactions)
        await #expect(throws: QueryFailure.self) { try await store.transaction("\(old[0])") }
        for set in shop.sets() {
            let receipt = try await store.add(ReceivedSet(set, received: Date(timeIntervalSince1970: 1_800_100_000)))
            #expect(receipt.acceptedCount == 0, "what was retired stays away")
        }
    }
}
#endif
