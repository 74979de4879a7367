import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore

@testable import WaybillExport
@testable import WaybillInspector
@testable import WaybillQueries

/// The pages about sources and delivery.
@Suite(.timeLimit(.minutes(5))) struct SourcesPageTests {
    private let frame = InspectorFrame(store: "waybill", isLoggedIn: true, timeZone: .gmt)

    private func record(
        _ ledger: Ledger, gaps: [SourceRecord.Gap] = [], text: String = "app", heard: Int64? = LoginHistory.begun
    )
        -> SourceRecord
    {
        SourceRecord(
            SourceIdentity(
                id: GUID(), app: text, appVersion: text, device: text, os: text, osVersion: text,
                attributes: [text: .string(text)]),
            startedMicroseconds: nil, heardMicroseconds: heard, hasEnded: false, ledger: ledger, gaps: gaps)
    }

    private func clocks(_ offset: Int64, uncertainty: Int64, samples: Int, app: String = "server") -> SourceClocks {
        let source = TransactionRecord.Source(
            id: GUID(), app: app, appVersion: app, device: app, os: app, osVersion: app)
        let offset = ClockAlignment.Offset(
            source: source.id, microseconds: offset, uncertaintyMicroseconds: uncertainty, sampleCount: samples)
        return SourceClocks(
            anchors: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: LoginHistory.begun)],
            others: [SourceClocks.Other(source: source, offset: offset, transaction: GUID())])
    }

    private func page(_ record: SourceRecord, _ clocks: SourceClocks? = nil, gaps: [SourceDetails.GapTime] = [])
        -> String
    {
        var details = SourceDetails()
        (details.clocks, details.gaps) = (clocks, gaps)
        return SourcePage(record: unredacted(record), details: unredacted(details), frame: frame).html.text
    }

    @Test func aLedgerIsToldInWordsWithEveryReason() {
        let ledger = Ledger(
            recorded: 20, delivered: 9, quarantined: 1, dropped: ["quota": 2, "age": 1], pending: 7, refused: 4)
        let bar = LedgerBar(ledger, missing: 3)
        #expect(
            bar.words == "9 delivered, 4 pending, 3 missing, 1 quarantined, 1 dropped: age, 2 dropped: quota, 4 refused"
        )
        #expect(bar.imbalance == nil && bar.tone == "failed")
        #expect(LedgerBar(Ledger(recorded: 3, delivered: 3)).tone == "succeeded")
        #expect(LedgerBar(Ledger()).words == "nothing recorded")
        let page = page(record(ledger))
        #expect(
            page.contains("dropped: quota<td class=n>2<td>Given up before they were delivered: the store had no room."))
        #expect(page.contains("refused<td class=n>4<td>Never taken"))
    }

    /// Breaks when a hundred launches of several apps become one long list.
    @Test func sourcesAreGroupedByAppAndDay() {
        let day: Int64 = 86_400_000_000
        let records = [("shop", 0), ("server", 0), ("shop", 0), ("shop", day)].map { app, age in
            record(Ledger(), text: app, heard: LoginHistory.begun - age)
        }
        let html = SourcesPage(
            page: unredacted(RecordPage(rows: records, next: nil)), details: unredacted([:]),
            apps: unredacted([]), frame: frame
        ).html.text
        let groups = html.split(separator: "<h2>").filter { $0.prefix { $0 != "<" }.hasSuffix(", ") }
        let apps: [String] = groups.map { group in String(group.prefix { $0 != "," }) }
        let counts: [Int] = groups.map { group in group.split(separator: "<li class=").count - 1 }
        #expect(apps == ["shop", "server", "shop"])
        #expect(counts == [2, 1, 1])
        #expect(html.contains("<h2>shop, <time datetime=\"2026-03-01T12:00:00.000000Z\">2026-03-01</time></h2>"))
    }

    /// Breaks when unaccounted facts look delivered.
    @Test func aLedgerThatDoesNotBalanceSaysSo() {
        let bar = LedgerBar(Ledger(recorded: 10, delivered: 9))
        #expect(bar.imbalance == "The ledger does not balance: 10 facts recorded, 9 accounted for.")
        #expect(bar.words == "9 delivered, does not balance" && bar.tone == "failed")
        #expect(page(record(Ledger(recorded: 10, delivered: 9))).contains("<p class=bad>The ledger does not balance"))
    }

    @Test func theSharesOfABarFillItAndASingleFactIsSeen() throws {
        let html = LedgerBar(Ledger(recorded: 1_000_000, delivered: 999_998, quarantined: 1, pending: 1)).html.text
        let widths = try html.matches(of: #/width=([0-9.]+)%/#).map { try #require(Double($0.1)) }
        #expect(widths.count == 3 && widths.allSatisfy { $0 >= 1 })
        #expect(abs(widths.reduce(0, +) - 100) < 0.001)
    }

    /// Breaks when an operator trusts a clock that nothing is known about.
    @Test func whatIsNotKnownOfAClockIsNotZero() {
        #expect(ClockText(clocks: nil).short == "clock not compared")
        let alone = page(record(Ledger()), SourceClocks(anchors: [], others: []))
        #expect(
            alone.contains("How far it is from other clocks is unknown") && alone.contains("No clock anchor is known"))
        #expect(!alone.contains("±"))
        let near = clocks(3_000, uncertainty: 9_000, samples: 0)
        #expect(ClockText(clocks: near).short == "within 12 ms of server", "It may be no difference at all.")
        #expect(ClockText(clocks: clocks(-1_200_000, uncertainty: 9_000, samples: 5)).short == "1.2 s behind server")
        let told = page(record(Ledger()), clocks(2_000_000, uncertainty: 9_000, samples: 5))
        #expect(told.contains("2 s ahead of it<td class=n>± 9 ms<td>6 requests, <a"))
        #expect(page(record(Ledger()), near).contains("one request alone"))
    }

    @Test func aGapIsShownWithItsSequencesAndAboutWhen() {
        let gap = SourceRecord.Gap(first: 3, last: 5)
        let time = SourceDetails.GapTime(
            gap: gap, after: LoginHistory.begun, before: LoginHistory.begun + 2_500_000)
        let page = page(record(Ledger(recorded: 6, delivered: 3, pending: 3), gaps: [gap]), gaps: [time])
        #expect(
            page.contains(
                "3 to 5<td class=n>3<td><time datetime=\"2026-03-01T12:00:00.000000Z\">2026-03-01 12:00:00.000</time> to <time "
            ))
        #expect(page.contains("3 facts have not come in"))
        let unknown = SourceDetails.GapTime(gap: gap, after: nil, before: nil)
        #expect(self.page(record(Ledger(), gaps: [gap]), gaps: [unknown]).contains("<td>unknown"))
    }

    @Test func aCollectorDoesNotPretendToKnowTheQuarantineOfASource() {
        #expect(page(record(Ledger(recorded: 1, delivered: 1))).contains("quarantined<td class=n>?"))
        #expect(!page(record(Ledger(recorded: 1, delivered: 1), heard: nil)).contains("quarantined<td class=n>?"))
    }

    private func delivery(
        _ state: DeliveryState, _ collected: DeliveryPage.Collected? = nil, _ names: [NameConflict] = [],
        starts: [AppVersion: Int64] = [:]
    ) -> String {
        DeliveryPage(
            state: unredacted(state), collected: unredacted(collected),
            names: unredacted(ChangedNames(names, useCases: [:], starts: starts)), frame: frame
        ).html.text
    }

    private func collected(rejected: RejectedFacts = RejectedFacts(), count: Int = 0) -> DeliveryPage.Collected {
        var collected = DeliveryPage.Collected(since: LoginHistory.begun)
        (collected.accepted, collected.rejected, collected.rejections) = (6, count, rejected)
        collected.refusals = [("requests without a token", count)]
        return collected
    }

    private let empty = DeliveryState(own: nil, quarantine: [], quarantinedCount: 0, hours: [])

    @Test func whatIsEmptySaysWhy() {
        let atACollector = delivery(empty, collected())
        #expect(atACollector.contains("Nothing was rejected: every set that came was taken."))
        #expect(atACollector.contains("<dt>Turned away<dd>no request"))
        #expect(atACollector.contains("No set has come in yet."))
        #expect(atACollector.contains("None: every code has had one name"))
        #expect(delivery(empty).contains("a rejected fact stays with its source"))
        var state = empty
        state.own = DeliveryState.Own(
            pendingCount: 2, deliveredCount: 0, sending: nil, settled: nil, pause: nil, totals: [])
        #expect(delivery(state).contains("nothing has been delivered from here yet"))
        state.own?.deliveredCount = 2
        #expect(delivery(state).contains("every set that went out was taken"))
    }

    @Test func rejectionsOfOneReasonStandTogether() {
        var facts = RejectedFacts()
        let source = GUID()
        for sequence: Int64 in [4, 2, 9] {
            facts.add(Receipt.Rejection(source: source, sequence: sequence, index: 0, reason: "too many"), at: sequence)
        }
        facts.add(Receipt.Rejection(source: source, sequence: nil, index: 0, reason: "no fact"), at: 10)
        #expect(facts.groups.map(\.reason) == ["no fact", "too many"], "What came last is in front.")
        #expect(facts.groups[1].count == 3 && facts.groups[1].first == 2 && facts.groups[1].last == 9)
        #expect(facts.groups[1].firstMicroseconds == 4 && facts.groups[1].lastMicroseconds == 9)
        #expect(facts.groups[0].first == nil)
        let page = delivery(empty, collected(rejected: facts, count: 4))
        #expect(page.contains("<b>too many</b> <span>3 facts, sequences between 2 and 9</span>"))
        #expect(page.contains("without a readable sequence"))
        #expect(page.contains("<dt>Turned away<dd>4 requests without a token"))
        for index in Int64(0)..<600 {
            facts.add(Receipt.Rejection(source: GUID(), sequence: 1, index: 0, reason: "r"), at: index)
        }
        #expect(facts.groups.count == 500 && facts.othersCount == 104, "It takes no more than so much memory.")
    }

    @Test func aNameThatChangedIsToldWithVersionsAndSinceWhen() {
        let conflict = NameConflict(
            useCase: 0, event: 1,
            names: [
                NameConflict.Use(name: "checked", app: "accounts", versions: ["4"]),
                NameConflict.Use(name: "sent", app: "shop", versions: ["1.2", "1.9"]),
                NameConflict.Use(name: "requestSent", app: "shop", versions: ["1.10"]),
            ])
        let page = delivery(
            empty, nil, [conflict], starts: [AppVersion(app: "shop", version: "1.10"): LoginHistory.begun])
        #expect(page.contains("event 1 of use case 0"))
        #expect(page.contains("<td><b>sent</b><td>shop<td>1.2, 1.9<td>unknown"))
        #expect(page.contains("<td><u>then</u> <b>requestSent</b><td>shop<td>1.10<td>2026-03-01"))
    }

    @Test func aFactInQuarantineIsWrittenAsJSONAndRedacted() {
        let fact = Fact(
            sequence: 2, part: 1, atMicroseconds: 5,
            content: .event(Fact.Event(code: 1, attributes: ["password": "hunter2", "a": "b"])))
        let entry = QuarantinedFact(
            id: FactID(source: GUID(), sequence: 2), reason: "too \"large\"", rejectedAtMicroseconds: 9, fact: fact)
        let text = String(decoding: QuarantineJSON.bytes(Redactor().redacted([entry])), as: UTF8.self)
        #expect(text.contains("\"reason\":\"too \\\"large\\\"\",\"rejected_at_us\":9,\"fact\":{\"kind\":\"event\""))
        #expect(!text.contains("hunter2"))
        #expect(String(decoding: QuarantineJSON.bytes(Redactor().redacted([])), as: UTF8.self) == "[]")
    }

    private struct Total: Encodable {
        var app: String
        var sourceCount = 1
        var ledger = Ledger()
    }

    @Test func whateverASourceSaysStaysText() throws {
        for text in HostileText.corpus {
            let hostile = record(
                Ledger(recorded: 2, dropped: [text: 1], pending: 1), gaps: [SourceRecord.Gap(first: 1, last: 1)],
                text: text)
            let clocks = clocks(5, uncertainty: 1, samples: 1, app: text)
            let summary = HostileText.records[0].summary
            let fact = Fact(
                sequence: 1, part: 1, atMicroseconds: 0,
                content: .event(Fact.Event(code: 1, attributes: [text: .string(text)])))
            let group = DeliveryState.QuarantineGroup(
                source: GUID(), app: text, reason: text, count: 1, first: 1, last: 1, firstMicroseconds: 0,
                lastMicroseconds: 0,
                sample: fact)
            var state = DeliveryState(
                own: nil, quarantine: [group], quarantinedCount: 1,
                hours: [DeliveryState.Hour(beginMicroseconds: 0, setCount: 1, factCount: 1)])
            let total = try JSONDecoder().decode(AppTotal.self, from: JSONEncoder().encode(Total(app: text)))
            state.own = DeliveryState.Own(
                pendingCount: 0, deliveredCount: 1, sending: nil, settled: summary, pause: nil, totals: [total])
            var rejections = RejectedFacts()
            rejections.add(Receipt.Rejection(source: GUID(), sequence: 1, index: 0, reason: text), at: 0)
            let use = NameConflict.Use(name: text, app: text, versions: [text])
            var details = SourceDetails()
            (details.clocks, details.transactions) = (clocks, [summary])
            (details.latestFact, details.firstArrival) = (LoginHistory.begun, LoginHistory.begun)
            let pages = [
                SourcesPage(
                    page: unredacted(RecordPage(rows: [hostile], next: text, whyEmpty: nil)),
                    details: unredacted([hostile.id: details]),
                    apps: unredacted([text]), frame: frame.at([("app", text), ("text", text)])
                ).html.text,
                SourcePage(record: unredacted(hostile), details: unredacted(details), frame: frame).html.text,
                delivery(
                    state, collected(rejected: rejections, count: 1),
                    [NameConflict(useCase: 0, event: nil, names: [use, use])]),
            ]
            for page in pages {
                #expect(page.matches(of: #/<script/#).count == 1)
                #expect(page.matches(of: #/<(img|base|iframe|object|style|a href="https)/#).isEmpty)
                #expect(!page.contains("<svg onload") && !page.contains("\u{202E}"))
                #expect(
                    !page.contains("&lt;td&gt;") && !page.contains("&lt;p&gt;"),
                    "No markup of our own was taken for text.")
            }
        }
    }
}
