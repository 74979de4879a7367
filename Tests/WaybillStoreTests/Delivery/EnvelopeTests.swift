import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// The data beside the facts of a set stays within a receiver's limits, and none of it is lost.
@Suite(.timeLimit(.minutes(5))) struct EnvelopeTests {
    private let device: Store
    private let collector: Store
    private let place: ResolvedLocation

    init() throws {
        (device, _) = try Store.inMemory()
        (collector, place) = try Store.inMemory()
    }

    /// Delivers until nothing is left to send, and returns the sets.
    private func deliver(_ limit: LeaseLimit = LeaseLimit()) throws -> [TransactionSet] {
        var sets: [TransactionSet] = []
        while sets.count < 100, let set = try device.lease(limit) {
            let receipt = try collector.ingest(try TransactionSet.decode(set.encoded()))
            #expect(receipt.rejections.isEmpty)
            #expect(try device.settle(set.id, rejections: receipt.rejections, at: 0))
            sets.append(set)
        }
        return sets
    }

    /// Breaks when a source that dropped many separate ranges makes sets that are refused because of them, or when a
    /// range is never reported.
    @Test func veryManyDroppedRangesAreToldInPieces() throws {
        let app = FactWriter()
        let part = app.open(GUID())
        for _ in 0..<5_000 { app.event(1, part: part) }
        try app.record(into: device, 1...2)
        let dropped = stride(from: 3, through: 5_001, by: 2).map { DroppedRange(first: $0, last: $0, reason: .quota) }
        let kept = app.facts.filter { $0.sequence > 2 && $0.sequence % 2 == 0 }
        try device.append(RecordedBatch(source: app.id, facts: kept, dropped: dropped))
        let sets = try deliver()
        let told = sets.flatMap { $0.sources[0].dropped }
        #expect(sets.allSatisfy { $0.sources[0].dropped.count <= DroppedRange.toldLimit })
        #expect(Set(told) == Set(dropped) && told.count == dropped.count)
        #expect(try collector.ledgers(ofAll: place)[app.id] == (try device.ledgers()[app.id]))

        // Later drops are reported, too, even with a different reason for the same range.
        #expect(try device.lease() == nil)
        let late = [
            DroppedRange(first: 3, last: 3, reason: .erased), DroppedRange(first: 5_002, last: 5_003, reason: .age),
        ]
        try device.append(RecordedBatch(source: app.id, facts: [], dropped: late))
        #expect(Set(try deliver().flatMap { $0.sources[0].dropped }).isSuperset(of: late))
        #expect(try collector.ledgers(ofAll: place)[app.id] == (try device.ledgers()[app.id]))
    }

    /// Breaks when only a receiver that also has an earlier set can tell the transaction of a fact.
    @Test func aSetNamesTransactionAndUseCaseOfThePartsThatItContinues() throws {
        let app = FactWriter()
        let (first, second) = (GUID(), GUID())
        let parts = (app.open(first, useCase: 3), app.open(second, useCase: 4))
        app.event(1, part: parts.0)
        let third = app.open(GUID(), useCase: 5)
        app.event(1, part: third)
        app.close(parts.1, .succeeded)
        try app.record(into: device)
        let sets = try deliver(LeaseLimit(factCount: 2))
        #expect(
            sets.map { $0.sources[0].continuedParts } == [
                [], [ContinuedPart(part: parts.0, transaction: first, useCase: 3)],
                [
                    ContinuedPart(part: parts.1, transaction: second, useCase: 4),
                    ContinuedPart(
                        part: third, transaction: app.facts[Int(third) - 1].opened?.transaction ?? GUID(), useCase: 5),
                ],
            ])
        // Sets that another store exports name them, too.
        var handedOn: [TransactionSet] = []
        try StoreReader(place).export(.since(0), redactor: Redactor()) { handedOn.append($0) }
        #expect(handedOn.flatMap(\.sources).allSatisfy { $0.continuedParts.map(\.part) == $0.earlierParts })
    }

    /// Breaks when names or anchors that exceed the limit of a set are left out although its facts need them.
    @Test func ofVeryManyNamesAndAnchorsASetHasThoseOfItsFacts() throws {
        let app = FactWriter()
        app.names = (0..<6_000).map { (code: Int) in RecordedName(useCase: 1, event: code, name: "event \(code)") }
        app.names.append(RecordedName(useCase: 1, name: "a use case"))
        app.clocks = (0..<3_000).map {
            ClockAnchor(atMicroseconds: 1_000_000 * $0, offsetMicroseconds: FactWriter.wall + $0 * 200_000)
        }
        let part = app.open(GUID(), useCase: 1, at: 10)
        app.event(5_999, part: part, at: 2_500)
        app.close(part, .succeeded, at: 2_600)
        try app.record(into: device)
        let share = try #require(try deliver(LeaseLimit(factCount: 2)).first?.sources.first)
        #expect(share.names.map(\.name).sorted() == ["a use case", "event 5999"])
        #expect(share.clocks == [0, 10, 2_500, 2_999].map { app.clocks[$0] })
        let transaction = try #require(try StoreReader(place).all().first)
        #expect(transaction.useCaseName == "a use case")
        #expect(transaction.begunMicroseconds == FactWriter.wall + 10 * 1_200_000)
    }
}

extension Store {
    /// Returns the ledgers of received sources.
    fileprivate func ledgers(ofAll place: ResolvedLocation) throws -> [GUID: Ledger] {
        Dictionary(uniqueKeysWithValues: try StoreReader(place).sources().map { ($0.id, $0.ledger) })
    }
}

extension Fact {
    fileprivate var opened: Opened? { if case .opened(let opened) = content { opened } else { nil } }
}
