import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// The facts that a collector removes to stay within its limits.
@Suite(.timeLimit(.minutes(5))) struct ReceivedRetentionTests {
    private let store: Store
    private let place: ResolvedLocation

    init() throws { (store, place) = try Store.inMemory() }

    private func login(_ transaction: GUID = GUID(), joined: Bool = false) -> FactWriter {
        let writer = FactWriter()
        let part = writer.open(transaction, joined: joined)
        for code in 1...3 { writer.event(code, part: part) }
        writer.close(part, .succeeded)
        return writer
    }

    private func receive(_ set: TransactionSet, day: Int) throws -> Receipt {
        try store.ingest(set, receivedAt: FactWriter.wall + Int64(day) * 86_400_000_000)
    }

    private func retire(before day: Int) throws -> Int {
        try store.retire(receivedBefore: FactWriter.wall + Int64(day) * 86_400_000_000)
    }

    @Test func whatWasReceivedLongAgoGoesAndIsStillKnown() throws {
        let (old, new) = (login(), login())
        _ = try receive(old.set(), day: 0)
        _ = try receive(new.set(), day: 10)
        #expect(try retire(before: 5) == 5)
        #expect(try retire(before: 5) == 0)
        #expect(try store.facts(of: old.id).isEmpty)
        #expect(try store.facts(of: new.id) == new.facts)

        let source = try #require(try StoreReader(place).sources().first { $0.id == old.id })
        #expect(source.ledger.delivered == 5 && source.ledger.isBalanced && source.gaps.isEmpty)
        #expect(try receive(old.set(), day: 11).knownCount == 5, "Sent again, it does not come back.")
        #expect(try store.facts(of: old.id).isEmpty)
        let verification = try StoreReader(place).verify()
        #expect(verification.problems == [])
        #expect(verification.remarks.contains { $0.contains("5 facts were retired") })
    }

    /// Age counts from the time of receipt. A fact that a device kept for a year is new when it arrives.
    @Test func aTransactionStaysWhileAnythingOfItIsRecent() throws {
        let transaction = GUID()
        let (client, server) = (login(transaction), login(transaction, joined: true))
        _ = try receive(client.set(), day: 0)
        _ = try receive(server.set(1...2), day: 0)
        _ = try receive(server.set(), day: 9)
        #expect(try retire(before: 5) == 0)
        #expect(try retire(before: 10) == 10)
        #expect(try StoreReader(place).all().isEmpty)
    }

    /// Breaks when a transaction stays because another one of its source was open at the same time.
    @Test func whatIsRecentIsNoReasonToKeepWhatWasRecordedAroundIt() throws {
        let writer = FactWriter()
        let (old, new) = (writer.open(GUID()), writer.open(GUID()))
        let exchange = writer.openExchange(part: 0)
        writer.event(1, part: new)
        writer.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed), part: 0)
        writer.close(old, .succeeded)
        var late = writer.share()
        var early = late
        late.facts.removeAll { $0.part != new }
        early.facts.removeAll { $0.part == new }
        for (share, day) in [(early, 0), (late, 9)] {
            _ = try receive(TransactionSet(id: GUID(), sources: [share]), day: day)
        }
        #expect(try retire(before: 5) == 4)
        #expect(try store.facts(of: writer.id).map(\.part) == [new, new])
        #expect(try StoreReader(place).verify().problems == [])
    }

    @Test func whatTheStoreRecordedItselfStays() throws {
        let writer = login()
        try writer.record(into: store)
        #expect(try retire(before: 1_000) == 0)
        #expect(try store.retire(beyond: 0) == 0)
        #expect(try store.facts(of: writer.id) == writer.facts)
    }

    @Test func theOldestGoUntilTheStoreIsSmallEnough() throws {
        let writer = FactWriter()
        let length = 52
        for _ in 0..<100 {
            let part = writer.open(GUID())
            for code in 1...(length - 2) { writer.event(code, part: part, attributes: ["text": "as long as it takes"]) }
            writer.close(part, .succeeded)
        }
        for day in 0..<100 {
            _ = try receive(writer.set(Int64(day * length + 1)...Int64((day + 1) * length)), day: day)
        }
        let size = try store.connection.usedByteCount()
        try eventually("the store is small enough") { try store.retire(beyond: size / 2, budget: 200) == 0 }
        #expect(try store.connection.usedByteCount() <= size / 2)
        let left = try store.facts(of: writer.id)
        #expect((1_000...3_000).contains(left.count))
        #expect(left == writer.facts.suffix(left.count), "Those that came last.")
        #expect(try StoreReader(place).verify().problems == [])
    }

    /// Breaks when more transactions are removed than exceed the limit, or others than the earliest ones; or when
    /// removed ones return.
    @Test func onlySoManyTransactionsStay() throws {
        let writers = (0..<10).map { _ in login() }
        for (day, writer) in writers.enumerated() { _ = try receive(writer.set(), day: day) }
        #expect(try store.retire(beyondTransactions: 10) == 0)
        #expect(try store.retire(beyondTransactions: 7) == 15)
        #expect(try store.retire(beyondTransactions: 7) == 0)
        for (day, writer) in writers.enumerated() {
            #expect(try store.facts(of: writer.id) == (day < 3 ? [] : writer.facts))
        }
        #expect(try receive(writers[0].set(), day: 11).knownCount == 5)
        #expect(try store.retire(beyondTransactions: 7) == 0)
        let both = FactWriter()
        for _ in 0..<5 { both.close(both.open(GUID()), .succeeded) }
        _ = try receive(both.set(), day: 12)
        #expect(try store.retire(beyondTransactions: 2) == 5 * 7 + 2 * 3, "some of those that came in one set")
        #expect(try store.facts(of: both.id) == Array(both.facts[6...]))
        #expect(try StoreReader(place).verify().problems == [])
    }

    @Test func anErasureOfWhatIsRetiredIsBookedAsOne() throws {
        let writer = login()
        writer.source.installation = GUID(high: 7, low: 7)
        _ = try receive(writer.set(), day: 0)
        #expect(try retire(before: 5) == 5)
        _ = try store.erase(.installation(GUID(high: 7, low: 7)), at: FactWriter.wall)
        #expect(try receive(writer.set(), day: 6).rejections.map(\.reason) == Array(repeating: "erased", count: 5))
        #expect(try StoreReader(place).verify().problems == [])
    }
}
