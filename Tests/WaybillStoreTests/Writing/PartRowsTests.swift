import Testing
import WaybillCore

@testable import WaybillStore

/// The rows of parts, of which one statement writes several.
@Suite(.timeLimit(.minutes(5))) struct PartRowsTests {
    private let client = FactWriter()

    /// So many that each statement is used; open and closed, with events and without, and some of them late.
    init() {
        let parts = (0..<23).map { _ in client.open(GUID()) }
        for (number, part) in parts.enumerated() {
            if !number.isMultiple(of: 3) { client.event(number, part: part) }
            if !number.isMultiple(of: 4) { client.close(part, number.isMultiple(of: 2) ? .succeeded : .failed) }
            if number.isMultiple(of: 5) { client.event(100, part: part) }
        }
    }

    /// What the facts of those sets become, without what tells when they came.
    private func rows(of sets: [TransactionSet]) throws -> [String] {
        let (store, _) = try Store.inMemory()
        for set in sets { #expect(try store.ingest(set).rejections == []) }
        return try rows(in: store)
    }

    private func rows(in store: Store) throws -> [String] {
        try store.dump().filter { row in ["parts ", "events ", "ranges "].contains { row.hasPrefix($0) } }
    }

    private var singles: [TransactionSet] { (1...Int64(client.facts.count)).map { client.set($0...$0) } }

    /// Breaks when a column of rows that are written together is another one's, or when a row is left out.
    @Test func partsOfOneSetHaveTheRowsOfOneFactAfterTheOther() throws {
        let together = try rows(of: [client.set()])
        #expect(together.count { $0.hasPrefix("parts ") } == 23)
        #expect(try together == rows(of: singles))
    }

    /// Breaks when an opening is taken for the first fact of its part, where a closing of the same set has come before.
    @Test func factsOfOneSetMayStandInAnyOrder() throws {
        var set = client.set()
        set.sources[0].facts.reverse()
        #expect(try rows(of: [set]) == rows(of: singles))
    }

    /// Breaks when of two closings in one set both are taken, or when the second one's words are kept.
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
