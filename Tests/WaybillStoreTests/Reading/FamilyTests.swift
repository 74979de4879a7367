import Foundation
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// The parents and children of a transaction, as reported by sources that may claim anything.
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

    /// Breaks when a tree lacks children or reorders them, or when a list counts them differently.
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

    /// Breaks when a source that names a descendant as a parent causes endless work for a page.
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

    /// Breaks when the children of an erased transaction are erased with it, or when their parent's ID leads back to
    /// erased data.
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

    // MARK: Filters, lists and questions

    /// Records two checkouts with a payment each. One payment failed and was retried. A third payment has no known
    /// parent.
    private func shop() throws -> (failed: [GUID], good: [GUID], alone: GUID) {
        app.names = [RecordedName(useCase: 1, name: "checkout"), RecordedName(useCase: 2, name: "payment")]
        let (failed, good) = ((0..<3).map { _ in GUID() }, (0..<2).map { _ in GUID() })
        let first = app.open(failed[0], useCase: 1)
        let payment = app.open(failed[1], useCase: 2, parent: failed[0], parentPart: first)
        app.close(app.open(failed[2], useCase: 2, parent: failed[1], parentPart: payment), .failed)
        app.close(payment, .failed)
        app.close(first, .failed)
        let second = app.open(good[0], useCase: 1)
        app.close(app.open(good[1], useCase: 2, parent: good[0], parentPart: second), .succeeded)
        app.close(second, .succeeded)
        let alone = GUID()
        app.close(app.open(alone, useCase: 2, parent: GUID()), .succeeded)
        try app.record(into: store)
        return (failed, good, alone)
    }

    private func found(_ text: String) throws -> Set<GUID> {
        let request = ListRequest([.filter: text])
        let filter = try request.filter(names: app.names, now: FactWriter.wall) as TransactionFilter
        let written = try FilterExpression(text).description
        #expect(try FilterExpression(written).description == written)
        return Set(try reader.all(filter).map(\.id))
    }

    /// Breaks when the payments of failed checkouts can't be distinguished from others, or a filter mistakes one level
    /// for all levels.
    @Test func filtersFollowParentsBothWays() throws {
        let (failed, good, alone) = try shop()
        #expect(try found("parent:checkout") == [failed[1], good[1]])
        #expect(try found("useCase:payment parent:failed") == [failed[1], failed[2]])
        #expect(try found("parent:\(good[0])") == [good[1]])
        #expect(try found("parent:\(good[0].supportCode)") == [good[1]])
        #expect(try found("-parent:known") == [failed[0], good[0], alone])
        #expect(try found("root:checkout outcome:failed") == Set(failed))
        #expect(try found("root:\(failed[0])") == Set(failed))
        #expect(try found("root:payment") == [alone])
        #expect(try found("child:payment") == [failed[0], failed[1], good[0]])
        #expect(try found("child:succeeded") == [good[0]])
        #expect(try found("child:\(failed[2])") == [failed[1]])
        #expect(throws: QueryFailure.self) { try found("parent:chekout") }
    }

    /// Breaks when a folded list has a line for a transaction that another line counts, or loses one without a listed
    /// parent.
    @Test func aFoldedListHasTheTopmostAlone() throws {
        let (failed, good, alone) = try shop()
        var request = ListRequest([.fold: "true"])
        func rows(_ request: ListRequest) throws -> [TransactionSummary] {
            try reader.all(request.filter(names: app.names, now: FactWriter.wall) as TransactionFilter)
        }
        func folded(_ request: ListRequest) throws -> Set<GUID> { Set(try rows(request).map(\.id)) }
        let all = try rows(request)
        #expect(Set(all.map(\.id)) == [failed[0], good[0], alone])
        #expect(all.first { $0.id == failed[0] }?.children == .init(count: 1, failedCount: 1))

        request[.filter] = "outcome:failed useCase:payment"
        #expect(try folded(request) == [failed[1]], "what a list does not show hides nothing")
        request[.filter] = "useCase:payment"
        #expect(try folded(request) == [failed[1], good[1], alone])
        request[.filter] = "outcome:failed"
        #expect(try folded(request) == [failed[0]])
        request[.filter] = "sort:longest"
        #expect(try folded(request) == [failed[0], good[0], alone])
        #expect(try ListRequest(matching: request.filter(names: [], now: 0) as TransactionFilter)[.fold] == "true")
        request[.filter] = nil
        let itself = GUID()
        app.open(itself, parent: itself)
        try store.append(RecordedBatch(source: app.id, facts: app.facts.suffix(1)))
        #expect(try folded(request).contains(itself))
        request[.fold] = "perhaps"
        #expect(throws: QueryFailure.self) { try request.validate(about: .transactions) }
    }

    /// Breaks when a cycle causes endless work for a filter, or is said to have a top.
    @Test func aCircleHasNoTopmost() throws {
        let (a, b) = (GUID(), GUID())
        app.open(a, useCase: 1, parent: b)
        app.open(b, useCase: 1, parent: a)
        app.names = [RecordedName(useCase: 1, name: "checkout")]
        try app.record(into: store)
        #expect(try found("root:checkout").isEmpty)
        #expect(try found("-root:checkout") == [a, b])
        #expect(try found("parent:checkout") == [a, b])
    }

    /// Breaks when payments can't be grouped by the outcome of their checkout.
    @Test func questionsTellChildrenApartByTheirParent() throws {
        _ = try shop()
        let filter = TransactionFilter([.useCase(2)])
        let byOutcome = try reader.answer(
            DurationQuestion(filter: filter, segmentation: Segmentation("parent.outcome")), now: FactWriter.wall)
        #expect(byOutcome.segments.map(\.value) == [nil, "failed", "succeeded"])
        #expect(byOutcome.segments.map(\.statistics.count) == [1, 2, 1])
        let byUseCase = try reader.answer(
            DurationQuestion(filter: filter, segmentation: .parentUseCase), now: FactWriter.wall)
        #expect(byUseCase.segments.map(\.value) == [nil, "checkout", "payment"])
    }

    /// Breaks when finding children reads all parts. A page took seconds with a million of them.
    @Test func childrenAreFoundByAnIndex() throws {
        let plan = try store.connection.statement(
            "EXPLAIN QUERY PLAN SELECT count(*) FROM parts q WHERE q.parent = ? AND q.listed_us IS NOT NULL"
        ).rows(GUID()) { row in row.text(3) }
        #expect(plan.contains { $0.contains("parts_by_parent (parent=?)") }, "\(plan)")
    }
}
