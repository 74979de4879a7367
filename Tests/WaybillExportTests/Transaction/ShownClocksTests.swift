import Foundation
import Testing
import WaybillCore

@testable import WaybillExport
@testable import WaybillQueries

/// Raw and aligned times in reports.
@Suite(.timeLimit(.minutes(5))) struct ShownClocksTests {
    /// Makes a run of 10 ms with a server whose clock is five minutes ahead, ±1.2 ms. The server's share spans 4 ms,
    /// from the third to the seventh.
    private func run(offset: ClockAlignment.Offset?) -> TransactionRecord {
        var run = Run(begun: 1_000_000_000)
        run.exchange("POST", "/login", 200, from: 1000, to: 9000)
        run.join(at: 300_003_000, offset: offset)
        run.event("checked", at: 300_007_000, joined: true)
        run.close("succeeded", at: 10_000)
        return run.record
    }

    private var ahead: ClockAlignment.Offset {
        ClockAlignment.Offset(source: GUID(), microseconds: -300_000_000, uncertaintyMicroseconds: 1200, sampleCount: 6)
    }

    @Test func alignedTheServersShareLiesInsideTheRequest() throws {
        let record = run(offset: ahead)
        let aligned = Waterfall(ShownRecord(record))
        #expect(aligned.span == 1_000_000_000...1_000_010_000)
        #expect(aligned.bars.map(\.label) == ["shop", "POST /login", "server"])
        #expect(aligned.bars.map(\.start) == [1_000_000_000, 1_000_001_000, 1_000_003_000])
        #expect(aligned.bars.map(\.uncertainty) == [nil, nil, 1200])
        let raw = Waterfall(ShownRecord(record, clocks: .raw))
        #expect(raw.span.upperBound == 1_300_007_000)
        #expect(raw.bars.allSatisfy { $0.uncertainty == nil })
        #expect(raw.gaps.isEmpty, "Nobody waited: the clocks are apart.")
    }

    @Test func theUncertaintyIsDrawnWithItsWidth() {
        let record = run(offset: ahead)
        let html = Waterfall(ShownRecord(record)).figure().text
        #expect(
            html.contains(
                "<g class=u><title>Its beginning ± 1.20 ms</title><rect x=18% width=24% /><rect x=18% /><rect x=42% /></g>"
            ))
        #expect(html.matches(of: #/class=u>/#).count == 1)
        #expect(
            !Waterfall(ShownRecord(record, clocks: .raw)).figure().text.contains(
                "class=u>"))
    }

    @Test func aPageSaysWhoseTimesItHasAndWhatTheClocksSaid() {
        let record = run(offset: ahead)
        let aligned = TransactionSection(record, timeZone: .gmt).content.text
        #expect(aligned.contains("Times are aligned to the clock of shop."))
        #expect(aligned.contains("clock +300.000 s ± 1.20 ms, by 6 exchanges"))
        #expect(aligned.contains("00:21:40.003</time> by its own clock</small>"))
        let raw = TransactionSection(record, clocks: .raw, timeZone: .gmt).content.text
        #expect(raw.contains("Times are raw: as each source's own clock said.") && raw.contains("by 6 exchanges"))
        #expect(!raw.contains("by its own clock</small>"))
    }

    @Test func whatIsUnknownIsSaidToBe() {
        let record = run(offset: nil)
        let html = TransactionSection(record, timeZone: .gmt).content.text
        #expect(html.contains("clock unknown"))
        #expect(html.contains("The clocks of the sources could not be compared: times are raw"))
        #expect(record.aligned.timeline == record.timeline)
        var alone = record
        alone.clocks = nil
        #expect(
            !TransactionSection(alone, timeZone: .gmt).content.text.contains("clock"),
            "A single source has nothing to be compared with.")
    }

    @Test func someKnownAndSomeNotAreToldApart() {
        var record = run(offset: ahead)
        record.sources.append(
            TransactionRecord.Source(id: GUID(), app: "printer", appVersion: "", device: "", os: "", osVersion: ""))
        let words = ShownRecord(record).clockWords
        #expect(words == "Times are aligned to the clock of shop; those of printer are raw.")
    }

    @Test(arguments: [
        (-312_000, 4000, 18, "+312.0 ms ± 4.00 ms, by 18 exchanges"), (40, 900, 1, "-40 µs ± 900 µs, by 1 exchange"),
        (300_000_312, 1200, 6, "-300.000 s ± 1.20 ms, by 6 exchanges"),
        (0, 7, 0, "+0 µs ± 7 µs, by its own exchange alone"),
        (-90_000_000_000, 10, 3, "+1 d 1 h ± 10 µs, by 3 exchanges"),
    ])
    func aClockIsAheadWhereItsTimesAreTakenBack(
        _ microseconds: Int64, _ uncertainty: Int64, _ count: Int, _ words: String
    ) {
        let (app, server) = (GUID(), GUID())
        let offset = ClockAlignment.Offset(
            source: server, microseconds: microseconds, uncertaintyMicroseconds: uncertainty, sampleCount: count)
        let clocks = ClockAlignment(reference: app, offsets: [offset])
        #expect(Words.clock(server, in: clocks) == words)
        #expect(Words.clock(app, in: clocks) == "reference")
        #expect(Words.clock(GUID(), in: clocks) == "unknown")
    }

    /// Breaks when the waterfall subtracts the client's clock from the server's: an exchange of 2 ms would seem to take
    /// minus five minutes.
    @Test func whatAnExchangeOfTheOtherSourceTookIsNoDifferenceOfTwoClocks() throws {
        var record = run(offset: ahead)
        let server = try #require(record.sources.last)
        let id = FactID(source: server.id, sequence: 100)
        let opened: Int64 = 1_300_000_000 + 4000
        record.exchanges.append(
            TransactionRecord.Exchange(
                id: id, part: record.parts[1].id.sequence, role: .client, method: "GET", url: "https://db.example.com/",
                state: .completed, status: 200, openedMicroseconds: opened, firstByteMicroseconds: nil,
                closedMicroseconds: opened + 2000, sentByteCount: nil, receivedByteCount: nil, requestHeaderFields: [],
                responseHeaderFields: [], error: nil))
        for (offset, kind) in [TransactionRecord.Kind.exchangeBegun, .exchangeFinished].enumerated() {
            record.timeline.append(
                TransactionRecord.Entry(
                    id: FactID(source: server.id, sequence: 100 + Int64(offset)), kind: kind,
                    part: record.parts[1].id.sequence, timeMicroseconds: opened + 2000 * Int64(offset), label: "GET /",
                    exchange: id))
        }
        for clocks in ShownClocks.allCases {
            let shown = ShownRecord(record, clocks: clocks)
            let bars = Waterfall(shown, isDetailed: true).bars
            #expect(bars.first { $0.url == "https://db.example.com/" }?.note == "200 · 2.00 ms", "\(clocks)")
        }
    }

    /// Breaks when drawing a long chain of callers overflows the stack and ends the process.
    @Test func aChainOfManyCallersIsDrawn() {
        var record = run(offset: nil)
        record.parts = []
        record.exchanges = []
        let sources = (0..<20_000).map { _ in GUID() }
        for (index, source) in sources.enumerated() {
            let cause = index == 0 ? nil : FactID(source: sources[index - 1], sequence: 2)
            record.parts.append(
                TransactionRecord.Part(
                    id: FactID(source: source, sequence: 1), isJoined: index > 0, cause: cause, openedMicroseconds: 1,
                    closedMicroseconds: 2, outcome: .succeeded, error: nil, attributes: [:]))
            record.exchanges.append(
                TransactionRecord.Exchange(
                    id: FactID(source: source, sequence: 2), part: 1, role: .client, method: "GET", url: "/",
                    state: .completed, status: 200, openedMicroseconds: 1, firstByteMicroseconds: nil,
                    closedMicroseconds: 2, sentByteCount: nil, receivedByteCount: nil, requestHeaderFields: [],
                    responseHeaderFields: [], error: nil))
        }
        let bars = Waterfall(ShownRecord(record)).bars
        #expect(bars.count == 40_000 && bars.last?.depth == 39_999)
    }

    @Test func aBeginningThatIsNotBelievedIsMarked() {
        var record = run(offset: nil)
        #expect(ShownRecord(record).beginningWords == nil)
        record.parts[0].openedMicroseconds = record.summary.begunMicroseconds + 86_400_000_001
        #expect(ShownRecord(record).beginningWords?.contains("more than a day after it arrived") == true)
    }

    @Test func aReportIsAlignedAndSaysSo() {
        let html = String(decoding: TransactionReport(records: [run(offset: ahead)]).html, as: UTF8.self)
        #expect(html.contains("Times are aligned to the clock of shop.") && html.contains("Its beginning ± 1.20 ms"))
        #expect(html.contains("by its own clock"), "Raw times stand in the table.")
    }
}
