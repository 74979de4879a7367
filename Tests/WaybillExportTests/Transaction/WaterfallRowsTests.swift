import Foundation
import Testing
import WaybillCore
import WaybillQueries

@testable import WaybillExport

/// Rows that a run may replace. Breaks when the one failed request is hidden among 99 successful ones.
@Suite(.timeLimit(.minutes(5))) struct WaterfallRowsTests {
    private func waterfall(_ run: Run) -> Waterfall {
        Waterfall(ShownRecord(run.record), isDetailed: true)
    }

    private func requests(_ count: Int, failing: Set<Int> = []) -> Run {
        var run = Run(begun: 1_000_000)
        for index in 0..<count {
            let start = Int64(index) * 1000
            run.exchange("GET", "/items/\(index)", failing.contains(index) ? 500 : 200, from: start, to: start + 900)
        }
        run.close("succeeded", at: Int64(count) * 1000)
        return run
    }

    @Test func aShortTransactionShowsEachRow() {
        let bars = waterfall(requests(40)).bars
        #expect(bars.map(\.kind) == [.part] + Array(repeating: .exchange, count: 40))
    }

    @Test func equalRequestsAreARunAndOneThatFailedIsNot() {
        let bars = waterfall(requests(50, failing: [20])).bars
        #expect(bars.map(\.kind) == [.part, .run, .exchange, .run])
        #expect(bars.map(\.members.count) == [0, 20, 0, 29])
        #expect(bars[1].label == "20 × GET /items/{id}" && bars[1].note == "900 µs to 900 µs")
        #expect(bars[2].hasFailed)
    }

    /// Breaks when a run hides the one long request among quick ones.
    @Test func aLongRequestIsInNoRun() {
        var run = requests(50)
        run.exchange("GET", "/items/50", 200, from: 1_000, to: 9_000)
        let alone = waterfall(run).bars.filter { $0.kind == .exchange }
        #expect(alone.map(\.label) == ["GET /items/50"])
    }

    @Test func eventsAreNamedWhereSomethingIsDifferent() {
        var run = Run(begun: 1_000_000)
        for index in 0..<400 {
            let error = index == 100 ? RecordedError(domain: "DiskError", code: 28) : nil
            let time = Int64(index) * 1000 + (index >= 250 ? 90_000 : 0)
            run.event(index == 300 ? "retried" : "written", at: time, error: error)
        }
        let bars = waterfall(run).bars
        let named = bars.filter { $0.kind == .event }.map { ($0.start - 1_000_000) / 1000 }
        #expect(
            named == [0, 100, 249, 340, 390, 489], "the first, the error, around the pause, the rare one, the last")
        #expect(bars.flatMap(\.members).count == 394)
        #expect(bars.allSatisfy { $0.members.count <= 100 })
    }

    @Test func aTextAndASpanKeepMatchingRowsAndTheirParts() {
        var picture = waterfall(requests(50, failing: [20]))
        var excerpt = Waterfall.Excerpt()
        excerpt.text = "ITEMS/2"
        picture.select(excerpt)
        #expect(
            picture.bars.flatMap { $0.kind == .run ? $0.members : [$0] }.map(\.label).dropFirst().allSatisfy {
                $0.hasPrefix("GET /items/2")
            })
        #expect(picture.bars.first?.kind == .part)
        var zoomed = waterfall(requests(50))
        excerpt = Waterfall.Excerpt()
        (excerpt.from, excerpt.to) = (10_000, 12_500)
        zoomed.select(excerpt)
        #expect(zoomed.span == 1_010_000...1_012_500)
        #expect(zoomed.bars.map(\.label) == ["shop", "GET /items/10", "GET /items/11", "GET /items/12"])
        #expect(zoomed.ticks.allSatisfy { (10_000...12_500).contains($0) } && !zoomed.ticks.isEmpty)
    }

    @Test func pagesHoldEachRowOnceWithThePartAbove() {
        let picture = waterfall(requests(250, failing: Set(0..<250)))
        var seen: [String] = []
        var page = picture.page(at: nil)
        for _ in 0..<picture.bars.count {
            #expect(page.rows.first?.kind == .part && page.rows.count <= 101)
            seen += picture.bars[page.range].map(picture.key)
            guard let after = page.after else { break }
            page = picture.page(at: after)
        }
        #expect(seen == picture.bars.map(picture.key))
        #expect(picture.page(at: picture.errors.last).range.contains(250), "an error leads to its page")
        #expect(picture.page(at: "nothing").range.lowerBound == 0)
    }

    /// A file has no pages. Breaks when a mailed report lacks rows.
    @Test func aFileShowsEveryRowAndNoLinkToAPage() {
        let html = TransactionSection(requests(250, failing: Set(0..<250)).record, timeZone: .gmt).html.text
        #expect(html.matches(of: #/<li class="x/#).count == 250)
        #expect(!html.contains("rel=next") && !html.contains("Next error") && html.contains("<noscript>"))
    }
}
