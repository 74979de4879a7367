import Foundation
import Testing
import WaybillCore

@testable import WaybillReading
@testable import WaybillStore

/// What stands above and below a transaction, as others said it, who may say anything.
@Suite(.timeLimit(.minutes(5))) struct FamilyTests {
    private let store: Store
    private let reader: StoreReader
    private let app = FactWriter()

    init() throws {
        let place: ResolvedLocation
        (store, place) = try Store.inMemory()
        reader = try StoreReader(place)
    }

    private func family(_ id: GUID) throws -> TransactionRecord.Family? {
        try #require(try reader.transaction(id, now: FactWriter.wall)).family
    }

    private func summary(_ id: GUID) throws -> TransactionSummary {
        try #require(try reader.transaction(id, now: FactWriter.wall)).summary
    }

    /// Breaks when a picture has no children, another order of them, or when a list counts them otherwise.
    @Test(arguments: [false, true]) func aTreeIsToldFromEachOfItsPlaces(isReceivedBackwards: Bool) throws {
        let (checkout, payment, retry, sync, other) = (GUID(), GUID(), GUID(), GUID(), GUID())
        let part = app.open(checkout)
        let paying = app.open(payment, parent: checkout, parentPart: part)
        app.close(app.open(sync, parent: checkout), .succeeded)
        app.close(app.open(retry, parent: payment, parentPart: paying), .failed)
        app.close(paying, .failed)
        app.open(other)
        if isReceivedBackwards {
            for sequence in app.facts.map(\.sequence).reversed() { try store.ingest(app.set(sequence...sequence)) }
        } else {
            try app.record(into: store)
        }
        let top = try #require(try family(checkout))
        #expect(top.above.isEmpty && !top.isCut)
        #expect(top.below.map(\.id) == [payment, retry, sync])
        #expect(top.below.map(\.parent) == [checkout, payment, checkout])
        #expect(top.below.map(\.parentPart?.sequence) == [part, paying, nil])
        #expect(try family(retry)?.above.map(\.id) == [checkout, payment])
        #expect(try family(other) == nil)
        #expect(try summary(checkout).children == .init(count: 2, failedCount: 1))
        #expect(try summary(payment).children == .init(count: 1, failedCount: 1))
        #expect(try summary(other).children == nil && summary(checkout).parent == nil)
        #expect(try store.facts(of: app.id) == app.facts)
    }

    /// Breaks when somebody who names a parent that is below its child keeps a page from ending.
    @Test func circlesEnd() throws {
        let (a, b, own) = (GUID(), GUID(), GUID())
        app.open(a, parent: b)
        app.open(b, parent: a)
        app.open(own, parent: own)
        try app.record(into: store)
        #expect(try family(a) == .init(above: [summary(b)], below: []))
        #expect(try family(b)?.above.map(\.id) == [a])
        #expect(try family(own) == nil)
    }

    /// Breaks when a long chain or a crowd of children makes a page as long as the store.
    @Test func whatIsTooDeepOrTooMuchIsLeftOutAndToldSo() throws {
        var chain = [GUID()]
        app.open(chain[0])
        for _ in 0..<40 {
            app.open(GUID(), parent: chain[0])
            let next = GUID()
            app.open(next, parent: chain.last)
            chain.append(next)
        }
        let crowd = GUID()
        app.open(crowd)
        for _ in 0..<600 { app.open(GUID(), parent: crowd) }
        try app.record(into: store)
        let last = try #require(try family(chain[40]))
        #expect(last.isCut && last.above.map(\.id) == Array(chain[8..<40]))
        let first = try #require(try family(chain[0]))
        #expect(first.isCut && first.below.count == 41 + 31)
        let many = try #require(try family(crowd))
        #expect(many.isCut && many.below.count == 500)
        #expect(try summary(crowd).children?.count == 600)
    }

    /// Breaks when what was begun below an erased transaction goes with it, or when its parent's ID is a way back to
    /// what was erased.
    @Test func aChildStaysWhenItsParentIsErased() throws {
        let (checkout, payment) = (GUID(), GUID())
        app.open(payment, parent: checkout, parentPart: app.open(checkout))
        try app.record(into: store)
        #expect(try store.erase(.transactions([checkout]), at: 0).transactionCount == 1)
        #expect(try family(payment) == nil)
        #expect(try summary(payment).parent == checkout)
        #expect(try reader.transaction(checkout, now: FactWriter.wall) == nil)
        #expect(try reader.verify().problems == [])
    }

    /// Breaks when children are looked for by reading all parts: a page took seconds with a million of them.
    @Test func childrenAreFoundByAnIndex() throws {
        let plan = try store.connection.statement(
            "EXPLAIN QUERY PLAN SELECT count(*) FROM parts q WHERE q.parent = ? AND q.listed_us IS NOT NULL"
        ).rows(GUID()) { row in row.text(3) }
        #expect(plan.contains { $0.contains("parts_by_parent (parent=?)") }, "\(plan)")
    }
}
