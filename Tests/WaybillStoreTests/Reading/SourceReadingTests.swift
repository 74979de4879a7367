import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// Information about sources, individually and as a list.
@Suite(.timeLimit(.minutes(5))) struct SourceReadingTests {
    private let store: Store
    private let place: ResolvedLocation

    init() throws { (store, place) = try Store.inMemory() }

    private func list(
        _ order: SourceFilter.Order = .newest, app: String? = nil, text: String? = nil, limit: Int = 10,
        after cursor: String? = nil
    ) throws -> RecordPage<SourceRecord> {
        var filter = SourceFilter()
        (filter.order, filter.app, filter.text) = (order, app, text)
        return try StoreReader(place).sources(matching: filter, limit: limit, after: cursor)
    }

    private func details(
        of source: FactWriter, clocks: Int = 0, gaps: Int = 0, transactions: Int = 0, in reader: StoreReader? = nil
    ) throws -> SourceDetails? {
        let limits = SourceDetails.Limits(clocks: clocks, gaps: gaps, transactions: transactions)
        let reader = try reader ?? StoreReader(place)
        return try reader.details(of: source.id, upTo: limits, now: FactWriter.wall)
    }

    /// Breaks when a server that has run for a year is listed after yesterday's phones.
    @Test func theSourceThatWasHeardLastStandsInFrontOnEveryPage() throws {
        let writers = (0..<5).map { FactWriter("app \($0)") }
        for (index, writer) in writers.enumerated() {
            writer.open(GUID())
            _ = try store.ingest(writer.set(), receivedAt: FactWriter.wall + Int64(index))
        }
        writers[1].open(GUID())
        _ = try store.ingest(writers[1].set(2...2), receivedAt: FactWriter.wall + 100)
        var (told, cursor): ([GUID], String?) = ([], nil)
        try eventually("the last page comes") {
            let page = try list(limit: 2, after: cursor)
            told += page.rows.map(\.id)
            cursor = page.next
            return cursor == nil
        }
        #expect(told == [1, 4, 3, 2, 0].map { writers[$0].id })
        #expect(try list(.oldest).rows.map(\.id) == writers.map(\.id))
        for wrong in ["x", "1", "1.", "-1.2", "1.2.3", ""] {
            let error = #expect(throws: WaybillError.self) { try list(after: wrong) }
            #expect(error?.code == .format, "\(wrong)")
        }
    }

    @Test func whatRecordsIntoThisStoreStandsBeforeWhatWasReceived() throws {
        let (own, other) = (FactWriter("own"), FactWriter("other"))
        own.open(GUID())
        other.open(GUID())
        try own.record(into: store)
        _ = try store.ingest(other.set(), receivedAt: FactWriter.wall + 1_000_000)
        #expect(try list().rows.map(\.app) == ["own", "other"])
        #expect(try list(limit: 1, after: list(limit: 1).next).rows.map(\.app) == ["other"])
    }

    @Test func everyWordOfTheSearchIsFoundInWhatASourceSays() throws {
        let (phone, server) = (FactWriter("shop", version: "4.2"), FactWriter("100%_sure", version: "1"))
        (phone.source.device, phone.source.os, phone.source.osVersion) = ("iPhone17,1", "iOS", "18.5")
        for writer in [phone, server] {
            writer.open(GUID())
            try store.ingest(writer.set())
        }
        for text in ["iphone", "ios 18.5", "4.2 IOS", phone.id.description, ""] {
            #expect(try list(text: text).rows.contains { $0.id == phone.id }, "\(text)")
        }
        #expect(try list(text: "ios linux").rows.isEmpty, "Every word has to be there.")
        #expect(try list(text: "%").rows.map(\.app) == ["100%_sure"], "It means itself.")
        #expect(try list(app: "shop").rows.map(\.id) == [phone.id])
        #expect(try list(app: "sho").rows.isEmpty, "An app is named whole.")
        let reader = try StoreReader(place)
        #expect(try reader.apps(limit: 9) == ["100%_sure", "shop"])
        #expect(try reader.whyEmpty(SourceFilter()) == "None of the 2 sources here passes the filter.")
    }

    /// Breaks when an operator looks for lost facts at the wrong time.
    @Test func aGapIsToldWithTheTimesAroundIt() throws {
        let writer = FactWriter()
        let part = writer.open(GUID(), at: 10)
        for second in [11, 12, 13] { writer.event(1, part: part, at: second) }
        writer.close(part, .succeeded, at: 20)
        writer.open(GUID(), at: 60)
        try store.ingest(writer.set(1...2))
        try store.ingest(writer.set(5...5))
        let reader = try StoreReader(place)
        let gaps = try #require(try reader.source(writer.id)).gaps
        #expect(gaps == [SourceRecord.Gap(first: 3, last: 4)])
        let time = try #require(try details(of: writer, gaps: 1)?.gaps.first)
        #expect(time.after == FactWriter.wall + 11_000_000)
        #expect(time.before == FactWriter.wall + 20_000_000)
        let outside = [SourceRecord.Gap(first: 1, last: 1), SourceRecord.Gap(first: 9, last: 9)]
        let row = try #require(try reader.row(of: writer.id))
        let times = try reader.times(of: outside, in: row, WallClock(of: row, reader.connection))
        #expect(times[0].after == nil, "Nothing is there before the first.")
        #expect(times[1].before == nil, "Nothing is there behind the last.")
    }

    @Test func aWallClockThatWasSetIsToldAndDriftIsNot() throws {
        let writer = FactWriter()
        writer.open(GUID())
        writer.clocks += [
            ClockAnchor(atMicroseconds: 5_000_000, offsetMicroseconds: FactWriter.wall + 90_000),
            ClockAnchor(atMicroseconds: 9_000_000, offsetMicroseconds: FactWriter.wall + 3_600_090_000),
        ]
        try store.ingest(writer.set())
        let clocks = try #require(try details(of: writer, clocks: 5)?.clocks)
        #expect(clocks.anchors.count == 3)
        #expect(
            clocks.changes == [
                SourceClocks.Change(atMicroseconds: FactWriter.wall + 9_090_000, byMicroseconds: 3_600_000_000)
            ],
            "The second anchor is 90 ms of drift.")
        #expect(clocks.others == [], "It met nobody: nothing is known, and nothing is zero.")
        #expect(try details(of: FactWriter(), clocks: 5)?.clocks == nil)
    }

    /// The server's clock is an hour ahead, and the database's a day behind.
    @Test func aClockIsComparedWithThoseOfTheSourcesItMet() throws {
        var sources = ClockAlignmentTests.Sources()
        for number in 0..<4 { sources.run(at: 60 * number) }
        let reader = try sources.reader()
        func offset(_ source: FactWriter, beside other: FactWriter) throws -> ClockAlignment.Offset {
            let others = try #require(try details(of: source, clocks: 5, in: reader)?.clocks).others
            #expect(others.count == 2)
            return try #require(others.first { $0.source.id == other.id }).offset
        }
        let ahead = try offset(sources.server, beside: sources.client)
        #expect(
            abs(ahead.microseconds - 3_600_000_000) <= ahead.uncertaintyMicroseconds, "Above 0: the server's is ahead.")
        let behind = try offset(sources.client, beside: sources.server)
        #expect(behind.microseconds == -ahead.microseconds)
        #expect(behind.sampleCount == 3 && (1_000_000...1_010_000).contains(behind.uncertaintyMicroseconds))
        let between = try offset(sources.database, beside: sources.server)
        #expect(
            abs(between.microseconds + 90_000_000_000) <= between.uncertaintyMicroseconds,
            "Both are aligned by the client.")
        #expect(try details(of: sources.client, clocks: 1, in: reader)?.clocks?.others.count == 1)
        let all = try details(of: sources.client, clocks: 5, in: reader)?.clocks?.others
        #expect(all?.first?.transaction == sources.last)
    }

    @Test func aSourceLeadsToTheTransactionsItTookPartInTheLatestFirst() throws {
        var sources = ClockAlignmentTests.Sources()
        var runs: [GUID] = []
        for number in 0..<4 {
            sources.run(at: 60 * number)
            runs.append(sources.last)
        }
        let reader = try sources.reader()
        for writer in [sources.client, sources.database] {
            let found = try details(of: writer, transactions: 3, in: reader)?.transactions
            #expect(found?.map(\.id) == Array(runs.reversed().prefix(3)))
        }
        let client = try details(of: sources.client, transactions: 1, in: reader)
        #expect(client?.latestFact == FactWriter.wall + 190_000_000)
        #expect(client?.firstArrival == FactWriter.wall)
    }
}
