import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// Several sets in one commit, and a limit on the facts of a transaction.
@Suite(.timeLimit(.minutes(5))) struct GroupedIngestTests {
    private let store: Store
    private let place: ResolvedLocation

    init() throws { (store, place) = try Store.inMemory() }

    private func arrival(_ set: TransactionSet) -> ReceivedSet {
        ReceivedSet(set: Redactor().redacted(set), atMicroseconds: LoginHistory.begun)
    }

    private func ingest(_ sets: [TransactionSet], limit: Int = 1_000) throws -> [Receipt] {
        store.factsPerTransaction = limit
        return try store.ingest(sets.map(arrival)).map { try $0.get() }
    }

    /// Breaks when a group produces other rows or verdicts than the same sets one by one.
    @Test func aGroupIsBookedAsItsSetsOneByOne() throws {
        let (first, second) = (FactWriter(), FactWriter())
        for writer in [first, second] {
            let part = writer.open(GUID())
            for code in 1...5 { writer.event(code, part: part) }
            writer.close(part, .succeeded)
        }
        let sets = [first.set(1...4), second.set(), first.set(3...7), second.set()]
        let (single, _) = try Store.inMemory()
        let receipts = try sets.map { try single.ingest($0, receivedAt: LoginHistory.begun) }
        #expect(try ingest(sets) == receipts)
        #expect(try store.dump() == single.dump())
    }

    /// Breaks when one set that fails makes others of its commit fail, or is stored partially.
    @Test func aSetThatFailsLeavesNothingAndTheOthersAreTaken() throws {
        let (good, bad, late) = (FactWriter(), FactWriter(), FactWriter())
        for writer in [good, bad, late] { writer.close(writer.open(GUID()), .succeeded) }
        try store.connection.execute(
            """
            CREATE TEMP TRIGGER fails BEFORE INSERT ON arrivals WHEN (SELECT app FROM sources WHERE id = new.source) = 'bad' \
            BEGIN SELECT raise(ABORT, 'as the test wants it'); END
            """)
        var poisoned = bad.set()
        poisoned.sources[0].source.app = "bad"
        let results = store.ingest([good.set(), poisoned, late.set()].map(arrival))
        #expect(results.map { (try? $0.get())?.acceptedCount } == [2, nil, 2])
        #expect(try StoreReader(place).sources().map(\.id) == [good.id, late.id])
        #expect(try StoreReader(place).verify().problems == [])
    }

    /// Breaks when a set that fails counts a transaction as finished.
    @Test func aSetThatFailsFinishesNothing() throws {
        let (first, second, other) = (FactWriter(), FactWriter(), FactWriter())
        for writer in [first, second, other] { writer.close(writer.open(GUID()), .succeeded) }
        try store.connection.execute(
            """
            CREATE TEMP TRIGGER fails BEFORE INSERT ON arrivals WHEN (SELECT app FROM sources WHERE id = new.source) = 'bad' \
            BEGIN SELECT raise(ABORT, 'as the test wants it'); END
            """)
        var set = first.set()
        set.sources += second.set().sources
        set.sources[1].source.app = "bad"
        let finishedCount = Locked(0)
        store.hooks.didFinish = { finished in finishedCount.withLock { $0 += finished.count } }
        let results = store.ingest([set, other.set()].map(arrival))
        #expect(results.map { (try? $0.get())?.acceptedCount } == [nil, 2])
        #expect(finishedCount.withLock { $0 } == 1)
    }

    /// Breaks when a failed commit stores nothing of a group, but some of its sets are acknowledged.
    @Test func whereTheCommitFailsNoSetIsAcknowledged() throws {
        let writer = FactWriter()
        writer.close(writer.open(GUID()), .succeeded)
        try store.connection.execute(
            """
            CREATE TEMP TRIGGER fails BEFORE INSERT ON arrivals BEGIN SELECT raise(ROLLBACK, 'as the test wants it'); END
            """)
        let results = store.ingest([writer.set(1...1), writer.set()].map(arrival))
        #expect(results.allSatisfy { (try? $0.get()) == nil })
        #expect(try StoreReader(place).sources().isEmpty)
    }

    /// Breaks when anyone who has learned the ID of a transaction can make it grow endlessly, with one source or with
    /// many.
    @Test func factsBeyondWhatATransactionMayHaveAreRejected() throws {
        let (owner, intruder, other) = (FactWriter(), FactWriter(), FactWriter())
        let transaction = GUID()
        let part = owner.open(transaction)
        for code in 1...5 { owner.event(code, part: part) }
        let joined = intruder.open(transaction)
        for code in 1...20 { intruder.event(code, part: joined) }
        let own = other.open(GUID())
        for code in 1...9 { other.event(code, part: own) }
        let receipts = try ingest([owner.set(), intruder.set(1...3), intruder.set(), other.set()], limit: 12)
        #expect(receipts.map(\.acceptedCount) == [6, 3, 3, 10])
        #expect(receipts[2].rejections.map(\.sequence) == Array(7...21))
        #expect(Set(receipts[2].rejections.map(\.reason)) == ["the transaction has 12 facts, and takes no more"])
        // Rejected facts stay unknown, because a rejection settles nothing.
        #expect(try ingest([intruder.set()], limit: 12)[0].rejections.count == 15)
    }

    /// Breaks when anyone who has learned the ID of a transaction can prevent its end by filling it first, with sources
    /// that joined it or with ones that claim to have begun it.
    @Test(arguments: [true, false]) func theSourceThatBeganATransactionHasRoomToFinishIt(isJoined: Bool) throws {
        let owner = FactWriter()
        let transaction = GUID()
        let part = owner.open(transaction)
        _ = try ingest([owner.set()], limit: 320)
        for _ in 0..<11 {
            let intruder = FactWriter()
            let other = intruder.open(transaction, joined: isJoined)
            for code in 1...40 { intruder.event(code, part: other) }
            _ = try ingest([intruder.set()], limit: 320)
        }
        let late = FactWriter()
        late.open(transaction, joined: isJoined)
        let refused = try ingest([late.set()], limit: 320)[0].rejections
        #expect(refused.map(\.reason) == ["the transaction has 300 facts, and takes no more of this source"])
        for code in 1...18 { owner.event(code, part: part) }
        owner.close(part, .succeeded)
        owner.event(99, part: part)
        let receipt = try ingest([owner.set(2...20), owner.set()], limit: 320)
        #expect(receipt.map(\.acceptedCount) == [19, 1])
        owner.event(100, part: part)
        #expect(try ingest([owner.set()], limit: 320)[0].rejections.count == 1, "The limit is everybody's.")
    }

    /// Breaks when the distance between a part's first and last sequence is mistaken for the number of its facts.
    @Test func aPartBetweenManyOthersIsCountedByItsFacts() throws {
        let writer = FactWriter()
        let long = writer.open(GUID())
        for _ in 0..<10 {
            let part = writer.open(GUID())
            writer.event(1, part: part)
            writer.close(part, .succeeded)
        }
        for code in 1...3 { writer.event(code, part: long) }
        #expect(try ingest([writer.set(1...32), writer.set()], limit: 5).map(\.rejections.count) == [0, 0])
        writer.event(4, part: long)
        writer.event(5, part: long)
        #expect(try ingest([writer.set()], limit: 5)[0].rejections.count == 1)
    }

    /// Breaks when openings that wait for their closings are not counted. A set could open any number of parts, with
    /// one more fact for each.
    @Test func whatOneSetOpensIsCountedBeforeItHasRows() throws {
        let (crowd, owner) = (FactWriter(), FactWriter())
        let transaction = GUID()
        for _ in 0..<TransactionQuota.partLimit + 2 { crowd.open(transaction) }
        let receipt = try ingest([crowd.set()], limit: 10_000)[0]
        #expect(receipt.acceptedCount == TransactionQuota.partLimit && receipt.rejections.count == 2)

        // Once the distance between first and last leaves no room, the facts are counted one by one.
        let first = owner.open(GUID())
        owner.event(1, part: first)
        _ = try ingest([owner.set()], limit: 4)
        let part = owner.open(try #require(owner.facts[0].content.transaction))
        for code in 1...4 { owner.event(code, part: part) }
        #expect(try ingest([owner.set()], limit: 4)[0].rejections.map(\.sequence) == [5, 6, 7])
    }
}

extension Fact.Content {
    fileprivate var transaction: GUID? { if case .opened(let content) = self { content.transaction } else { nil } }
}
