import Testing
import WaybillCore

@testable import WaybillStore

/// The rows of parts. One statement writes several of them.
@Suite(.timeLimit(.minutes(5))) struct PartRowsTests {
    private let client = FactWriter()

    /// Writes enough parts to use each statement: open and closed, with and without events, and some with late ones.
    init() {
        let parts = (0..<23).map { _ in client.open(GUID()) }
        for (number, part) in parts.enumerated() {
            if !number.isMultiple(of: 3) { client.event(number, part: part) }
            if !number.isMultiple(of: 4) { client.close(part, number.isMultiple(of: 2) ? .succeeded : .failed) }
            if number.isMultiple(of: 5) { client.event(100, part: part) }
        }
    }

    /// Returns the rows that the sets produce, without those that depend on the time of arrival.
    private func rows(of sets: [TransactionSet]) throws -> [String] {
        let (store, _) = try Store.inMemory()
        for set in sets { #expect(try store.ingest(set).rejections == []) }
        return try rows(in: store)
    }

    private func rows(in store: Store) throws -> [String] {
        try store.dump().filter { row in ["parts ", "events ", "ranges "].contains { row.hasPrefix($0) } }
    }

    private var singles: [TransactionSet] { (1...Int64(client.facts.count)).map { client.set($0...$0) } }

    /// Breaks when rows written together exchange columns, or when a row is left out.
    @Test func partsOfOneSetHaveTheRowsOfOneFactAfterTheOther() throws {
        let together = try rows(of: [client.set()])
        #expect(together.count { $0.hasPrefix("parts ") } == 23)
        #expect(try together == rows(of: singles))
    }

    /// Breaks when an opening is mistaken for the first fact of its part although a closing in the same set precedes
    /// it.
    @Test func factsOfOneSetMayStandInAnyOrder() throws {
        var set = client.set()
        set.sources[0].facts.reverse()
        #expect(try rows(of: [set]) == rows(of: singles))
    }

    /// Breaks when one set has two closings and both are accepted, or the second one's text is kept.
    @Test func aSecondClosingInTheSetOfItsOpeningIsRejected() throws {
        let part = client.open(GUID())
        client.close(part, .succeeded)
        let taken = client.set()
        client.close(part, .failed)
        let (store, _) = try Store.inMemory()
        let receipt = try store.ingest(client.set())
        #expect(receipt.rejections.map(\.sequence) == [Int64(client.facts.count)])
        #expect(try rows(in: store) == rows(of: [taken]))
    }
}
