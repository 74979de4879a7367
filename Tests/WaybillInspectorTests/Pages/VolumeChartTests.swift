import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore

@testable import WaybillExport
@testable import WaybillInspector
@testable import WaybillQueries

/// The volume chart above lists, and the time range that lists show.
@Suite(.timeLimit(.minutes(5))) struct VolumeChartTests {
    private func chart(
        _ times: ClosedRange<Int64>, _ items: [(name: String, value: String)] = [],
        _ counts: (Int) -> [[TransactionOutcome: Int]?]
    ) -> String {
        let borders = VolumeChart.steps(for: times, in: .gmt).borders
        let volume = ListVolume(times: times, borders: borders, counts: counts(borders.count - 1))
        let frame = InspectorFrame(store: "waybill", isLoggedIn: true, timeZone: .gmt).at(items)
        return VolumeChart(volume, of: "transaction", in: frame).html.text
    }

    /// Breaks when a column leads to other transactions than it counts, or drops the list's conditions.
    @Test func eachColumnLeadsToItsPartOfTheList() {
        let begun = LoginHistory.begun / 3_600_000_000 * 3_600_000_000
        let html = chart(
            begun...begun + 20 * 3_600_000_000, [("outcome", "failed"), ("since", "24h"), ("cursor", "5.6.7")]
        ) { count in
            var counts = [[TransactionOutcome: Int]?](repeating: [:], count: count)
            counts[1] = [.succeeded: 3, .failed: 1]
            return counts
        }
        let (from, to) = (Words.iso8601(begun + 3_600_000_000), Words.iso8601(begun + 7_200_000_000))
        func encoded(_ time: String) -> String { PercentEncoding.encoded("\(time.prefix(19))Z") }
        #expect(
            html.contains(
                "<a href=\"?outcome=failed&amp;since=\(encoded(from))&amp;until=\(encoded(to))\" tabindex=-1><title>"))
        #expect(html.contains("UTC: 3 succeeded, 1 failed</title>"), "failures are on top of successes")
        #expect(html.matches(of: #/<a /#).count == 1 && !html.contains("cursor"))
        #expect(html.contains("A column for each hour, in UTC."))
        #expect(html.contains("data-times=\"\(begun / 1_000_000) "))
    }

    /// Breaks when a truncated chart looks as if nothing happened earlier.
    @Test func whatWasNotCountedIsSaid() {
        let begun = LoginHistory.begun / 3_600_000_000 * 3_600_000_000
        let html = chart(begun...begun + 20 * 3_600_000_000) { count in
            [nil, nil] + Array(repeating: [.failed: 2], count: count - 2)
        }
        #expect(
            html.contains("the page does not count what was before")
                && html.matches(of: #/<rect class="failed"/#).count == 19)
        #expect(chart(begun...begun) { _ in [] }.isEmpty, "a volume of other steps is not drawn")
    }

    /// Breaks when one set from a device with a wrong clock ends the process, or makes pages of a million columns.
    @Test(arguments: [Int64.min, -1, 0, 1_772_000_000_000_000], [0, 5, 1_772_000_000_000_000, Int64.max])
    func anyTimesHaveFewColumns(first: Int64, last: Int64) {
        guard first <= last else { return }
        let bounded = first.bounded...last.bounded
        let steps = VolumeChart.steps(for: bounded, in: .gmt)
        #expect((1...200).contains(steps.count), "\(steps.count)")
        #expect(!chart(bounded) { Array(repeating: [.open: 1], count: $0) }.isEmpty)
    }

    /// Breaks when a reader without scripts can't choose a time range, or loses it with the next search.
    @Test func aRangeIsAPartOfTheForm() {
        func form(_ items: [(name: String, value: String)]) -> String {
            ListForm(address: ListAddress(items), hint: "").html.text
        }
        let none = form([("since", "24h")])
        #expect(none.contains("<option value=\"24h\" selected>") && none.contains("<details class=range><summary>"))
        #expect(none.contains("<input name=until value=\"\""))
        for items in [[("since", "2026-03-01"), ("until", "2026-03-02")], [("until", "2026-03-02")]] {
            let html = form(items)
            #expect(html.contains("<details class=range open>") && !html.contains("<select name=\"since\""))
            for (name, value) in items { #expect(html.contains("<input name=\(name) value=\"\(value)\"")) }
            #expect(!html.contains("type=hidden"), "each time is in the form once")
        }
    }

    /// Breaks when the columns above a list count other transactions than the list has under its conditions.
    @Test func theVolumeIsThatOfTheList() async throws {
        let (folder, login) = (try TemporaryDirectory(), LoginHistory())
        let store = try Store(.folder(folder.url))
        for set in [login.clientSet(), login.serverSet()] {
            _ = try store.ingest(set, receivedAt: LoginHistory.begun + 60_000_000)
        }
        let inspector = try Inspector(file: folder.url)
        func page(_ path: String, _ query: String = "") async throws -> String {
            let response = await inspector.respond(
                to: InspectorRequest(path: path, query: query, fields: ["host": "localhost"]))
            guard case .bytes(let bytes) = response.body else { throw WaybillError(.format, "No page.") }
            return String(decoding: bytes, as: UTF8.self)
        }
        for path in ["/transactions", "/network", "/endpoints"] {
            #expect(try await page(path).contains("<figure class=volume"), "\(path)")
            #expect(!(try await page(path, "filter=version:none").contains("<figure class=volume")), "\(path)")
        }
        let list = try await page("/transactions")
        #expect(list.contains("<b data-fresh>1 transaction</b>"), "the total is the sum of the columns")
        let link = try #require(list.firstMatch(of: #/<a href="(\?since=[^"]+)" tabindex/#))
        let query = String(link.1.dropFirst()).replacing("&amp;", with: "&")
        #expect(try await page("/transactions", query).contains("id=\"t-\(login.transaction)\""))
    }
}
