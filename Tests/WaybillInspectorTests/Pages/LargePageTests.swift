import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore

@testable import WaybillExport
@testable import WaybillInspector
@testable import WaybillQueries

/// Pages of what is large: lists that were not looked through to their end, and a transaction of thousands of facts.
@Suite(.timeLimit(.minutes(5))) struct LargePageTests {
    private let frame = InspectorFrame(store: "waybill", isLoggedIn: true, timeZone: .gmt)

    private func list(_ rows: [TransactionSummary], next: String?, _ progress: SearchProgress?) -> String {
        var page = RecordPage(rows: rows, next: next, whyEmpty: "None passes.")
        page.progress = progress
        return TransactionsPage(
            unredacted(page), errorCounts: [:], at: ListAddress([("text", "x")]), names: unredacted([]), version: 1,
            in: frame
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

    /// Breaks when a row is lost where a group begins, or when groups of a small transaction cost what they do not
    /// need.
    @Test(arguments: [(100, false), (1_000, true)]) func aLongTimelineStandsInGroupsAndLosesNoRow(
        count: Int, isLong: Bool
    ) {
        var record = HostileText.records[0]
        let event = record.timeline[1]
        record.timeline = (0..<count).map { index in
            var entry = event
            entry.id.sequence = Int64(index + 1)
            entry.timeMicroseconds += Int64(index)
            entry.label = "row \(index)."
            return entry
        }
        let html = TimelineTable(ShownRecord(record), names: SourceNames(record.sources), timeZone: .gmt)
            .html.text
        #expect(html.contains("<table class=long>") == isLong)
        #expect(html.matches(of: #/<tbody/#).count == (isLong ? count / 100 : 1))
        #expect((0..<count).allSatisfy { html.contains("row \($0).") })
    }
}
