import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// How sampling appears in a list, in a filter, and in SQL.
@Suite(.timeLimit(.minutes(5))) struct SampledReadingTests {
    private let store: Store
    private let reader: StoreReader
    private let ids = (0..<3).map { _ in GUID() }
    private let sampling: [Fact.Sampling?] = [
        Fact.Sampling(perMillion: 100_000, isChosen: true),
        Fact.Sampling(perMillion: 100_000, isChosen: false, slowMicroseconds: 5_000_000), nil,
    ]

    init() throws {
        let place: ResolvedLocation
        (store, place) = try Store.inMemory()
        reader = try StoreReader(place)
        let writer = FactWriter()
        for (id, sampling) in zip(ids, sampling) {
            let part = writer.open(id, sampling: sampling)
            writer.openExchange(part: part)
            writer.close(part, .failed)
        }
        writer.openExchange(part: 0)
        try store.ingest(writer.set())
    }

    /// Breaks when a summary loses the sampling data of the beginning, also when it is encoded as JSON.
    @Test func aSummarySaysHowItWasSampled() throws {
        let summaries = try ids.map { try #require(try reader.transaction($0, now: 0)).summary }
        #expect(summaries.map(\.sampling) == sampling)
        for summary in summaries {
            let json = try JSONEncoder.waybill().encode(summary)
            #expect(try JSONDecoder.waybill().decode(TransactionSummary.self, from: json) == summary)
        }
        let kept = String(decoding: try JSONEncoder.waybill().encode(summaries[1]), as: UTF8.self)
        #expect(kept.contains(#""sampling":{"sample_kept":true,"sample_ppm":100000,"slow_us":5000000}"#))
        #expect(!String(decoding: try JSONEncoder.waybill().encode(summaries[2]), as: UTF8.self).contains("sampling"))
    }

    @Test(arguments: [
        ("sampled:chosen", [0]), ("sampled:unchosen", [1]), ("sampled:none", [2]), ("-sampled:none", [0, 1]),
        ("-sampled:chosen", [1, 2]), ("sampled:chosen sampled:unchosen", []),
    ])
    func aFilterTellsThemApart(text: String, indexes: [Int]) throws {
        let filter: TransactionFilter = try FilterExpression(text).filter(names: nil, now: 0)
        let found = try reader.transactions(matching: filter, limit: 9, after: nil, now: 0).rows.map(\.id)
        #expect(Set(found) == Set(indexes.map { ids[$0] }))
        let ofExchanges: ExchangeFilter = try FilterExpression(text, about: .exchanges).filter(names: nil, now: 0)
        let exchanges = try reader.exchanges(matching: ofExchanges, limit: 9, after: nil, now: 0).rows
        #expect(Set(exchanges.map(\.transaction)) == Set(indexes.map { ids[$0] }), "what is outside of any has none")
    }

    /// Breaks when a person in the shell can't see the sampling.
    @Test func theViewHasItToo() throws {
        try store.connection.execute("PRAGMA trusted_schema = ON")  // as in a person's shell
        let rows = try store.connection.statement(
            "SELECT ifnull(sample_ppm, '-') || ' ' || ifnull(sample_kept, '-') FROM transactions ORDER BY 1"
        ).rows { row in row.text(0) }
        #expect(rows == ["- -", "100000 0", "100000 1"])
    }

    /// Breaks when SQL can't distinguish a crash from another end of the app's process.
    @Test func theViewSaysWhyATransactionWasInterrupted() throws {
        let writer = FactWriter()
        writer.open(GUID())
        writer.close(writer.open(GUID()), .succeeded)
        var set = writer.set(ended: true)
        set.sources[0].endedBy = SourceEnd(name: "SIGSEGV")
        try store.ingest(set)
        try store.connection.execute("PRAGMA trusted_schema = ON")  // as in a person's shell
        let rows = try store.connection.statement(
            "SELECT outcome || ' ' || ended_by FROM transactions WHERE ended_by IS NOT NULL"
        ).rows { row in row.text(0) }
        #expect(rows == ["interrupted SIGSEGV"])
    }
}
