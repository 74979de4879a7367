import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore

@testable import WaybillExport
@testable import WaybillInspector
@testable import WaybillQueries

/// The components that only pages use.
@Suite(.timeLimit(.minutes(5))) struct InspectorPieceTests {
    private let frame = InspectorFrame(store: "waybill", isLoggedIn: true, timeZone: .gmt)

    /// Breaks when the page's UTC offset doesn't follow the given clock: it would be wrong for half of the year.
    @Test(arguments: [(1_767_225_600_000_000, "+01:00"), (1_782_864_000_000_000, "+02:00")])  // 1 January, 1 July 2026
    func theOffsetOfTheTimesIsThatOfTheClock(wall: Int64, offset: String) throws {
        struct Fixed: TransactionClock {
            var wall: Int64
            func uptimeMicroseconds() -> Int64 { 0 }
            func wallMicroseconds() -> Int64 { wall }
        }
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let frame = InspectorFrame(store: "waybill", isLoggedIn: true, timeZone: zone, clock: Fixed(wall: wall))
        let page = frame.page("A", .transactions, main: "").text
        #expect(page.contains("Times in <span id=zone>UTC\(offset)</span>"))
    }

    @Test func whateverWasRecordedStaysTextOnEveryPage() {
        let records = HostileText.records
        let names = HostileText.corpus
        let recorded = unredacted(
            names.map { RecordedName(useCase: 0, name: $0) }
                + names.map { RecordedName(useCase: 0, event: 1, name: $0) })
        let frame = frame.at([("text", names[0]), ("use_case", names[3]), ("limit", names[9])])
        var mistaken = frame
        mistaken.meant = names[3]
        var pages = [
            TransactionsPage(
                page: unredacted(RecordPage(rows: records.map(\.summary), next: names[1])), errorCounts: [:],
                names: recorded, version: 1, frame: frame
            ).html.text,
            TransactionsPage(
                page: unredacted(RecordPage(rows: [], next: nil, whyEmpty: names[0])), errorCounts: [:],
                names: unredacted([]), version: 1, frame: mistaken
            ).html.text,
            frame.message("Not Found", names[0]).text,
            InspectorFrame.loginPage(to: names[3], problem: names[2]).text,
        ]
        for record in records {
            let exchange = record.exchanges[0]
            let found = ExchangeRecord(
                exchange: exchange, state: .failed, source: record.sources[0], transaction: record.summary.id,
                useCase: 0,
                useCaseName: record.summary.useCaseName)
            let text = Array(record.summary.useCaseName.utf8)
            let body = ExchangeBody(
                contentType: record.summary.useCaseName, bytes: text, byteCount: Int64(text.count), omission: nil)
            let bodies = ExchangeBodies(request: body, response: body)
            let around = TransactionPage.Around(before: unredacted(record.summary), after: unredacted(record.summary))
            pages.append(
                TransactionPage(
                    record: unredacted(record), bodies: unredacted([exchange.id: bodies]), around: around,
                    notes: [names[0]], frame: frame
                ).html.text)
            let comparison = TransactionComparisonPage(first: unredacted(record), clocks: .aligned, frame: frame)
            let alone = [comparison.without(.before), comparison.html(without: names[0])]
            pages += (alone + [comparison.html(with: unredacted(records[0]))]).map(\.text)
            pages.append(
                ExchangePage(
                    record: unredacted(found), bodies: unredacted(bodies), transaction: unredacted(record),
                    frame: frame
                ).html.text)
            pages.append(
                ExchangesPage(
                    page: unredacted(RecordPage(rows: [found], next: nil)), names: recorded, frame: frame
                ).html.text)
        }
        for page in pages {
            #expect(page.matches(of: #/<script/#).count == 1)
            #expect(page.matches(of: #/<(img|base|iframe|object|style|a href="https)/#).isEmpty)
            #expect(!page.contains("<svg onload"))
            #expect(
                !page.contains("&lt;g&gt;") && !page.contains("&lt;aside&gt;"),
                "No markup of our own was taken for text.")
            #expect(!page.contains("\u{202E}"))
        }
        #expect(pages.count == 4 + 6 * names.count)
        #expect(pages[0].contains("&lt;script&gt;alert('hostile-0')&lt;/script&gt;"))
    }

    @Test func aListKeepsItsParametersWhenOneChanges() {
        let address = ListAddress([("text", "a b&c"), ("outcome", "failed,open"), ("cursor", "1.2.3"), ("since", "")])
        #expect(address.items.map(\.name) == ["text", "outcome", "cursor"])
        #expect(
            address.with("since", "1h") == "?text=a%20b%26c&outcome=failed%2Copen&since=1h",
            "It begins with the first page.")
        #expect(address.toggled("open", in: "outcome") == "?text=a%20b%26c&outcome=failed")
        #expect(address.toggled("cancelled", in: "outcome") == "?text=a%20b%26c&outcome=failed%2Copen%2Ccancelled")
        #expect(ListAddress([("outcome", "open")]).toggled("open", in: "outcome") == "?")
        #expect(!address.isFirstPage)
    }

    @Test func anOutlierDoesNotFlattenAllOtherStrips() {
        #expect(DurationScale([10, 20, 30]).microseconds == 30)
        #expect(DurationScale([10, 20, 30, 40, 1_000_000]).microseconds == 240)
        #expect(DurationScale([]).microseconds == 1)
        let scale = DurationScale([10, 20, 30, 40, 1_000_000])
        #expect(
            scale.strip(1_000_000).text.matches(of: #/<rect/#).count == 2,
            "What is longer than the scale is broken.")
        #expect(scale.strip(240).text.contains("<rect width=100% />"))
        #expect(DurationScale([]).strip(nil).text == "<svg class=strip aria-hidden=true></svg>")
    }

    /// Breaks when a narrow list shows times of several days without a date.
    @Test func theFirstRowOfEachDayShowsItsDate() {
        let midnight: Int64 = 1_772_323_200_000_000
        let moments = [midnight + 2, midnight + 1, midnight - 1, midnight - 2, midnight - 86_400_000_000]
        let marks = DayMarks(moments, in: .gmt)
        let days: [String] = moments.indices.map { marks[$0].text }
        #expect(days == [" day", "", " day", "", ""])
        let west = DayMarks(moments, in: TimeZone(secondsFromGMT: -3600) ?? .gmt)
        let daysInTheWest: [String] = moments.indices.map { west[$0].text }
        #expect(daysInTheWest == [" day", "", "", "", " day"])
    }

    private func list(_ summaries: [TransactionSummary]) -> [Substring] {
        let html = TransactionsPage(
            page: unredacted(RecordPage(rows: summaries, next: nil)), errorCounts: [:], names: unredacted([]),
            version: 1, frame: frame
        ).html.text
        return html.split(separator: "<li id=\"t-").dropFirst().map { $0.prefix(while: { $0 != "\n" }) }
    }

    private func summary(useCase: Int = 0, took duration: Int64 = 1000, _ attributes: Attributes = [:])
        -> TransactionSummary
    {
        TransactionSummary(
            id: GUID(), useCase: useCase, useCaseName: "case \(useCase)", outcome: .failed,
            begunMicroseconds: LoginHistory.begun,
            durationMicroseconds: duration, error: RecordedError(domain: "ShopError", code: 3), attributes: attributes,
            sourceCount: 1,
            eventCount: 1, exchangeCount: 0, isWaitingForBeginner: false)
    }

    /// Breaks when bars of 2 ms and of 200 ms look equally full because a third use case takes minutes, or none.
    @Test func aBarIsComparedWithThoseOfItsUseCaseAlone() {
        let rows = list([
            summary(useCase: 1, took: 2_000), summary(useCase: 1, took: 4_000), summary(useCase: 2, took: 100_000),
            summary(useCase: 2, took: 200_000), summary(useCase: 3, took: 60_000_000), summary(useCase: 1, took: 1_000),
        ])
        let widths = rows.compactMap { $0.firstMatch(of: #/<rect width=([0-9.]+)%/#)?.output.1 }
        #expect(widths == ["50", "100", "50", "100", "100", "25"])
    }

    /// Breaks when the attributes that distinguish a transaction from its neighbors are cut off after the shared ones,
    /// or after a whole shopping cart.
    @Test func whatTellsATransactionFromItsNeighborsStandsInFront() {
        let cart = AttributeValue.string("{\"items\":[{\"sku\":\"A-1\",\"count\":2}],\"currency\":\"EUR\"}")
        let rows = list([
            summary(["app": "shop", "cart": cart, "sku": "FLAKY"]),
            summary(["app": "shop", "cart": cart, "sku": "A-1"]),
            summary(useCase: 2, ["app": "other", "b": "2", "a": "1"]),
        ])
        #expect(rows[0].contains(">ShopError 3 · sku=FLAKY · app=shop · cart={&quot;items"))
        #expect(
            rows[1].contains("<span title=\"ShopError 3 · sku=A-1 · app=shop · cart="),
            "What is cut can be read on hover.")
        #expect(rows[2].contains(">ShopError 3 · a=1 · app=other · b=2</span>"), "One alone has them by name.")
    }

    @Test func aRequestThatFailedSaysWithWhatError() {
        var record = HostileText.records[0]
        record.exchanges[0].error = RecordedError(domain: "NSURLErrorDomain", code: -1004, text: "refused")
        let found = ExchangeRecord(
            exchange: record.exchanges[0], state: .failed, source: record.sources[0], transaction: nil, useCase: nil,
            useCaseName: nil)
        let html = ExchangesPage(
            page: unredacted(RecordPage(rows: [found], next: nil)), names: unredacted([]), frame: frame
        ).html.text
        #expect(
            html.contains("<i title=\"NSURLErrorDomain -1004: refused\">NSURLErrorDomain -1004: refused</i></span>"))
    }

    /// Breaks when a page shows a time without an exact value for the script, which would leave it in another zone than
    /// all others.
    @Test func everyMomentOfAPageIsNamedExactly() {
        let record = HostileText.records[0]
        let around = TransactionPage.Around(before: unredacted(record.summary), after: unredacted(nil))
        let pages = [
            TransactionPage(
                record: unredacted(record), bodies: unredacted([:]), around: around, notes: [], frame: frame
            ).html.text,
            TransactionComparisonPage(first: unredacted(record), clocks: .aligned, frame: frame)
                .html(with: unredacted(record)).text,
            String(decoding: TransactionReport(records: [record]).html, as: UTF8.self),
        ]
        for page in pages {
            let moments = page.matches(of: #/<time datetime="2026-03-01T[0-9:.]+Z">[^<]+<\/time>/#).count
            let all = page.matches(of: #/[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}<|[0-9]{2}:[0-9]{2}:[0-9]{2}</#).count
            #expect(moments == all && moments > 0)
        }
    }

    @Test func objectsAndArraysUnfoldAndStringsDoNot() throws {
        let html = try #require(JSONTree.html(#"{"a":{"b":[1,2],"c":"}","d":{}},"e":"x{"}"#)).text
        #expect(html.matches(of: #/<details open>/#).count == 3)
        #expect(html.matches(of: #/<\/details>/#).count == 3)
        #expect(html.contains("<p><b>&quot;c&quot;</b>: <i>&quot;}&quot;</i>,"))
        #expect(JSONTree.html("\"text\"") == nil)
        #expect(JSONTree.html("{") == nil)
    }

    @Test func aTimeWithoutAnythingIsNamed() {
        let record = record(
            [(0, "begun"), (1000, "tapped"), (61_000, "confirmed"), (62_000, "succeeded")], exchange: nil)
        var waterfall = Waterfall(ShownRecord(record))
        waterfall.address = { $0 }
        #expect(
            waterfall.gaps == [Waterfall.Gap(start: 1000, end: 61_000, after: "tapped", until: "confirmed")])
        #expect(
            waterfall.html.text.contains("<svg><g><rect x=1.6% width=96.7% /></g>"), "It is shaded in the picture, too."
        )
    }

    @Test func aTimeInWhichARequestWasUnderWayIsNone() {
        let record = record([(0, "begun"), (62_000, "succeeded")], exchange: 1000...60_000)
        #expect(Waterfall(ShownRecord(record)).gaps.isEmpty)
    }

    private func record(_ times: [(Int64, String)], exchange: ClosedRange<Int64>?) -> TransactionRecord {
        var record = HostileText.records[0]
        let source = record.sources[0].id
        record.timeline = times.enumerated().map { index, entry in
            TransactionRecord.Entry(
                id: FactID(source: source, sequence: Int64(index + 1)), kind: .event, part: 1,
                timeMicroseconds: entry.0,
                label: entry.1)
        }
        record.parts[0].cause = nil
        guard let exchange else {
            record.exchanges = []
            return record
        }
        record.exchanges[0].openedMicroseconds = exchange.lowerBound
        record.exchanges[0].closedMicroseconds = exchange.upperBound
        return record
    }
}
