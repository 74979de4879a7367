import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore

@testable import WaybillExport
@testable import WaybillInspector
@testable import WaybillQueries

/// Pages of long lists with an unfinished search, and of large transactions.
@Suite(.timeLimit(.minutes(5))) struct LargePageTests {
    private let frame = InspectorFrame(store: "waybill", isLoggedIn: true, timeZone: .gmt)

    private func list(_ rows: [TransactionSummary], next: String?, _ progress: SearchProgress?) -> String {
        var page = RecordPage(rows: rows, next: next, whyEmpty: "None passes.")
        page.progress = progress
        return TransactionsPage(
            page: unredacted(page), errorCounts: [:], names: unredacted([]), version: 1,
            frame: frame.at([("text", "x")])
        ).html.text
    }

    @Test func aListThatWasNotLookedThroughSaysHowFarItGotAndLeadsOn() {
        let progress = SearchProgress.lookedAt(24_000, through: .time(LoginHistory.begun))
        let time = HTML.moment(LoginHistory.begun, .dateAndTime, in: .gmt).text
        let unfinished = list([], next: "9.1.1", progress)
        #expect(unfinished.contains("Looked at 24000 transactions so far, to \(time)."))
        #expect(unfinished.contains("<a rel=next href=\"?text=x&amp;cursor=9.1.1\">Look further</a>"))
        #expect(unfinished.contains("Nothing yet"))
        #expect(!unfinished.contains("No transactions"))
        let finished = list([], next: nil, nil)
        #expect(finished.contains("<b>No transactions</b><p>None passes."))
        #expect(!finished.contains("rel=next"))
        let byID = list([HostileText.records[0].summary], next: "9.1.1", .foundByID)
        #expect(byID.contains("Found by its ID or support code."))
        #expect(byID.contains(">Look for it in texts</a>"))
    }

    private func page(of transaction: GUID, in reader: StoreReader, _ items: [(name: String, value: String)]) throws
        -> String
    {
        let record = try #require(try reader.transaction(transaction, now: LoginHistory.begun))
        let frame = frame.at(items)
        return TransactionPage(
            record: unredacted(record), bodies: unredacted([:]),
            excerpt: try Waterfall.Excerpt(frame.address),
            around: TransactionPage.Around(before: unredacted(nil), after: unredacted(nil)), notes: [], frame: frame
        ).html.text
    }

    /// Breaks when a page of a large transaction grows with it, or when its pages together lack a row or repeat one.
    @Test func pagesOfALargeTransactionAreShortAndShowEachRequestOnce() throws {
        let (sample, reader) = try SampleStoreTests.sample()
        var requests: [Substring] = []
        var items: [(name: String, value: String)] = []
        for _ in 0..<10 {
            let html = try page(of: sample.manyRequests, in: reader, items)
            #expect(html.matches(of: #/<li class="/#).count <= 310)
            requests += html.matches(of: #/id="(x0-[0-9]+)"><details>/#).map(\.output.1)
            guard let next = html.firstMatch(of: #/rel=next href="\?at=([^"]+)"/#) else { break }
            items = [("at", String(next.output.1))]
        }
        #expect(requests.count == 300 && Set(requests).count == 300)
    }

    /// Breaks when somebody has to search 300 rows for the four that failed.
    @Test func aPageLeadsFromOneErrorToTheNext() throws {
        let (sample, reader) = try SampleStoreTests.sample()
        let html = try page(of: sample.manyRequests, in: reader, [])
        #expect(html.contains(">First of 4 errors</a>"))
        #expect(html.matches(of: #/>Next error<\/a>/#).count >= 1)
    }

    @Test func aSpanOrATextSelectsRowsWithTheirPart() throws {
        let (sample, reader) = try SampleStoreTests.sample()
        let all = try page(of: sample.manyEvents, in: reader, [("find", "DiskError")])
        #expect(all.matches(of: #/<li class="e/#).count == 2 && all.contains("com.example.shop"))
        #expect(all.contains(">Whole transaction</a>"))
        let span = try page(of: sample.manyRequests, in: reader, [("from", "1000.5"), ("to", "2000")])
        #expect(span.contains("Scale: 1.00 s to 2 s.") || span.contains("Scale: 1 s to 2 s."))
        #expect(throws: QueryFailure.self) { try page(of: sample.manyRequests, in: reader, [("from", "soon")]) }
        let absurd = try page(of: sample.manyRequests, in: reader, [("from", "1e300"), ("to", "-1e300")])
        #expect(absurd.contains("Scale: "))
    }
}
