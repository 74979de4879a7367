import Testing
import WaybillCore

@testable import WaybillAnalysis
@testable import WaybillReading
@testable import WaybillStore

/// Numbers that a set may hold, and whose sum no integer does.
@Suite(.timeLimit(.minutes(5))) struct GreatSumsTests {
    /// Broken, the sets of one client end the process that is asked about them.
    @Test func aSumIsAtMostTheGreatestNumberOfTheFormat() throws {
        let writer = FactWriter()
        let end = Int(Limits.largestInteger / 1_000_000)
        for _ in 0..<1_100 {
            let part = writer.open(GUID(), at: 0)
            let exchange = writer.openExchange(part: part, at: 0)
            let closed = Fact.ExchangeClosed(
                exchange: exchange, state: .completed, sentByteCount: Limits.largestInteger,
                receivedByteCount: Limits.largestInteger)
            writer.closeExchange(closed, part: part, at: end)
            writer.close(part, .succeeded, at: end)
        }
        let (store, place) = try Store.inMemory()
        try store.ingest(writer.set())
        let reader = try StoreReader(place)
        let group = try #require(try reader.answer(NetworkQuestion(), now: FactWriter.wall).groups.first)
        #expect((group.sentByteCount, group.receivedByteCount) == (Limits.largestInteger, Limits.largestInteger))
        let legs = try reader.answer(LegsQuestion(filter: TransactionFilter()), now: FactWriter.wall).total.legs
        #expect(legs.first { $0.leg == .exchange }?.total ?? .zero >= .seconds(end - 1))
    }
}
