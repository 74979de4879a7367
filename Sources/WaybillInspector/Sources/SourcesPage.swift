import WaybillCore
import WaybillExport
import WaybillQueries

struct SourcesPage {
    @Redacted var page: RecordPage<SourceRecord>
    @Redacted var details: [GUID: SourceDetails]
    @Redacted var apps: [String]
    let frame: InspectorFrame

    var html: HTML { frame.page("Sources", .sources, main: main) }

    private var main: HTML {
        """
        <div class=heads><h1>Sources</h1>\(Self.views(current: "sources"))</div>
        \(form)\(list)\(ListPaging(page: page, noun: "source", frame: frame).html)
        """
    }

    static func views(current: String) -> HTML {
        let links = [("sources", "Sources"), ("delivery", "Delivery and names")].map { path, name in
            "<a href=\(path == "sources" ? "sources" : "delivery")\(" aria-current=page", if: path == current)>\(name)</a>"
                as HTML
        }
        return "<nav class=views aria-label=\"Sources and delivery\">\(links)</nav>"
    }

    private var form: HTML {
        ListForm(
            address: frame.address, hint: "Version, device, system, ID ...",
            choices: [("app", "Every app", apps.map { ($0, $0) })], hasAges: false
        ).html
    }

    private var list: HTML {
        guard !page.rows.isEmpty else { return NoRows(title: "No sources", why: page.whyEmpty, frame: frame).html }
        var groups: [(record: SourceRecord, rows: [SourceRecord])] = []
        var places: [String: Int] = [:]
        for record in page.rows {
            let key = "\(day(record)) \(record.appName)"
            if let place = places[key] {
                groups[place].rows.append(record)
            } else {
                places[key] = groups.count
                groups.append((record, [record]))
            }
        }
        return "\(groups.map { group($0.record, $0.rows) })"
    }

    /// The launches of an app on a day. A page may end within a day.
    private func group(_ first: SourceRecord, _ rows: [SourceRecord]) -> HTML {
        let day: HTML = seen(first).map { HTML.moment($0, .date, in: frame.timeZone) } ?? "without a time"
        return "<h2>\(first.appName), \(day)</h2>\n<ol class=\"rows src\">\(rows.map(row))</ol>\n"
    }

    private func day(_ record: SourceRecord) -> String {
        seen(record).map { WallTime($0, in: frame.timeZone).date } ?? ""
    }

    private func row(_ record: SourceRecord) -> HTML {
        let bar = LedgerBar(record)
        let place = [record.device, record.system].filter { !$0.isEmpty }.joined(separator: " · ")
        return """
            <li class=\(bar.tone)><a href="sources/\(record.id.description)"><b>\(record.appName) <u>\(record.appVersion)</u></b> \
            <span>\(place)</span> \(bar.html) <em>\(bar.words)</em> <small>\(ClockText(clocks: details[record.id]?.clocks).short)</small> \
            \(time(record))</a>

            """
    }

    private func time(_ record: SourceRecord) -> HTML {
        seen(record).map { HTML.moment($0, .row, in: frame.timeZone) } ?? "<time>never</time>"
    }

    private func seen(_ record: SourceRecord) -> Int64? {
        record.heardMicroseconds ?? details[record.id]?.latestFact ?? record.startedMicroseconds
    }
}

struct SourcePage {
    static let limits = SourceDetails.Limits(clocks: 10, gaps: 100, transactions: 10)

    @Redacted var record: SourceRecord
    @Redacted var details: SourceDetails
    let frame: InspectorFrame

    var html: HTML { frame.page("\(record.appName) \(record.appVersion)", .sources, main: main) }

    private var bar: LedgerBar { LedgerBar(record) }
    private var links: UseCaseLinks { UseCaseLinks(root: frame.root, parameters: []) }

    private var main: HTML {
        """
        <nav class=around aria-label="Around it"><a rel=up href="../sources">All sources</a></nav>
        <header class="what source \(bar.tone)"><h1>\(record.appName) \(record.appVersion) <em class=state>\(end)</em></h1>
        \(ValueMenu.attributes(record.attributes, links).html)<dl>\(cells)</dl>
        <p class=actions><button type=button class=copier data-copy=link hidden>Copy link</button></header>
        <div class=panels>\(ledger)\(gaps)\(clocks)\(transactions)</div>

        """
    }

    private var end: String {
        guard record.hasEnded else { return "has not told its end" }
        return record.endedBy.map { "ended: \($0.name)" } ?? "ended"
    }

    private var cells: HTML {
        let isOwn = record.heardMicroseconds == nil
        let cells: [(String, HTML)] = [
            ("App", ValueMenu.app(record.app, record.appVersion, links).html),
            ("Device", ValueMenu.device(record.device, record.os, record.osVersion, links).html),
            ("Started", record.startedMicroseconds.map(time) ?? "unknown"),
            isOwn
                ? ("Facts", "\(record.ledger.recorded)")
                : ("First set", details.firstArrival.map(time) ?? ""),
            record.heardMicroseconds.map { ("Last set", time($0)) } ?? ("Sets", "none: it records into this store"),
            ("Latest fact", details.latestFact.map(time) ?? "none"),
            ("Source", "\(record.id.description)"), ("Transactions", ValueMenu.session(record.id, links).html),
            ("Installation", record.installation.map { ValueMenu.installation($0, links).html } ?? ""),
        ]
        return .cells(cells.map { ($0.0, $0.1.bytes.isEmpty ? "not told" : $0.1) })
    }

    private var ledger: HTML {
        var rows = bar.shares.map { ($0.word, "\($0.count)", $0.meaning, $0.tone) }
        if record.heardMicroseconds != nil {
            rows.append(
                ("quarantined", "?", "The source keeps what is rejected, and does not tell how much that is.", ""))
        }
        if record.ledger.refused > 0 {
            let meaning = "Never taken, for want of room: they have no sequence, and are not among the recorded."
            rows.append(("refused", "\(record.ledger.refused)", meaning, "failed"))
        }
        let told = rows.map { word, count, meaning, tone in
            "<tr class=\"\(tone)\"><th scope=row>\(word)<td class=n>\(count)<td>\(meaning)</tr>" as HTML
        }
        let imbalance: HTML = bar.imbalance.map { "<p class=bad>\($0)" } ?? ""
        return """
            <section class=panel><h2>Ledger</h2>\(imbalance)\(bar.html)<table class="facts ledger"><tr><th scope=row>recorded<td class=n>\
            \(record.ledger.recorded)<td>Facts that were given a sequence.</tr>\(told)</table></section>
            """
    }

    private var gaps: HTML {
        guard !record.gaps.isEmpty else {
            let why =
                record.heardMicroseconds == nil
                ? "It records into this very store." : "Nothing is missing before the latest that came."
            return "<section class=panel><h2>Gaps</h2><p class=why>No gaps. \(why)</section>\n"
        }
        let rows = details.gaps.map { time in
            """
            <tr><td class=n>\(time.gap.first == time.gap.last ? "\(time.gap.first)" : "\(time.gap.first) to \(time.gap.last)")\
            <td class=n>\(time.gap.last - time.gap.first + 1)<td>\(about(time))</tr>
            """ as HTML
        }
        let more = (record.gapCount ?? record.gaps.count) - details.gaps.count
        let rest: HTML = "<p class=why>And \(Words.count(more, "more gap")).</p>"
        return """
            <section class=panel><h2>Gaps</h2><p>\(Words.count(record.missingCount, "fact")) \(record.missingCount == 1 ? "has" : "have") \
            not come in, although later ones have.</p>
            <table class=facts><thead><tr><th class=n>Sequences<th class=n>Facts<th>Recorded about</tr></thead>\(rows)</table>\
            \(rest, if: more > 0)</section>

            """
    }

    private func about(_ gap: SourceDetails.GapTime) -> HTML {
        switch (gap.after, gap.before) {
        case (let after?, let before?): "\(time(after)) to \(time(before))"
        case (let after?, nil): "after \(time(after))"
        case (nil, let before?): "before \(time(before))"
        case (nil, nil): "unknown"
        }
    }

    private func time(_ microseconds: Int64) -> HTML { HTML.moment(microseconds, .exact, in: frame.timeZone) }
}

extension SourcePage {
    private var clocks: HTML {
        let changes = details.clocks?.changes ?? []
        let set = changes.suffix(50).map { change in
            "<tr><td>\(time(change.atMicroseconds))<td>\(ClockText.words(of: change))</tr>" as HTML
        }
        let changed: HTML = "<table class=facts><thead><tr><th>Set at<th>By</tr></thead>\(set)</table>"
        return """
            <section class=panel><h2>Clock</h2><p>\(ClockText(clocks: details.clocks).changes)</p>\(changed, if: !changes.isEmpty)\
            \(others)</section>

            """
    }

    private var others: HTML {
        let others = details.clocks?.others ?? []
        guard !others.isEmpty else {
            return """
                <p class=why>How far it is from other clocks is unknown: none of its latest transactions has a request that another source \
                answered, or made.
                """
        }
        let rows = others.map { other in
            """
            <tr><th scope=row><a href="\(other.source.id.description)">\(ClockText.name(of: other.source)) \(other.source.appVersion)</a>\
            <td>\(ClockText.place(other)) it<td class=n>± \(Words.roundDuration(other.offset.uncertaintyMicroseconds))\
            <td>\(ClockText.ground(other)), <a href="../transactions/\(other.transaction.description)">\
            \(other.transaction.supportCode.description)</a></tr>
            """ as HTML
        }
        return
            "<table class=\"facts runs\"><thead><tr><th>Beside<th>This clock is<th class=n>Uncertainty<th>By</tr></thead>\(rows)</table>"
    }

    private var transactions: HTML {
        guard !details.transactions.isEmpty else {
            return
                "<section class=panel><h2>Latest transactions</h2><p class=why>None: it took part in no transaction that is still here.</section>\n"
        }
        let rows = details.transactions.map { summary in
            """
            <tr class=\(summary.outcome.name)><td>\(summary.outcome.icon)<th scope=row><a href="../transactions/\(summary.id.description)">\
            \(summary.useCaseName)</a><td><em>\(Words.outcome(summary.outcome))</em><td class=n>\
            \(summary.durationMicroseconds.map(Words.duration) ?? "-")<td class=n>\(HTML.moment(summary.begunMicroseconds, .dateAndTime, in: frame.timeZone))\
            <td><code>\(summary.id.supportCode.description)</code></tr>
            """ as HTML
        }
        return
            "<section class=panel><h2>Latest transactions</h2><table class=\"facts runs\">\(rows)</table></section>\n"
    }
}

/// Unknown values are called unknown, and never zero.
struct ClockText {
    let clocks: SourceClocks?

    var short: String {
        let offset =
            clocks?.others.first.map { "\(Self.place($0)) \(Self.name(of: $0.source))" } ?? "clock not compared"
        let changes = clocks?.changes.count ?? 0
        return changes == 0 ? offset : "\(offset), set \(changes == 1 ? "once" : "\(changes) times")"
    }

    static func place(_ other: SourceClocks.Other) -> String {
        let (offset, uncertainty) = (other.offset.microseconds, other.offset.uncertaintyMicroseconds)
        guard abs(offset) > uncertainty else { return "within \(Words.roundDuration(abs(offset) + uncertainty)) of" }
        return "\(Words.roundDuration(abs(offset))) \(offset > 0 ? "ahead of" : "behind")"
    }

    static func ground(_ other: SourceClocks.Other) -> String {
        switch other.offset.sampleCount {
        case 0: "one request alone"
        case let count: "\(count + 1) requests"
        }
    }

    static func name(of source: TransactionRecord.Source) -> String {
        source.app.isEmpty ? source.id.supportCode.description : source.app
    }

    var changes: String {
        guard let clocks, !clocks.anchors.isEmpty else { return "No clock anchor is known: its times count from 1970." }
        let count = clocks.changes.count
        guard count > 0 else { return "Nobody set its wall clock while it ran, as far as is known here." }
        return "Its wall clock was set \(count == 1 ? "once" : "\(count) times") while it ran."
    }

    static func words(of change: SourceClocks.Change) -> String {
        "\(Words.roundDuration(abs(change.byMicroseconds))) \(change.byMicroseconds > 0 ? "forward" : "back")"
    }
}
