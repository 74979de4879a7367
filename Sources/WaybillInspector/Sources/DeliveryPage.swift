package import WaybillCore
package import WaybillExport
package import WaybillQueries

package struct DeliveryPage {
    @Redacted var state: DeliveryState
    @Redacted var collected: Collected?
    @Redacted var names: ChangedNames
    let frame: InspectorFrame

    /// The counts of a running collector since its start.
    package struct Collected: Sendable, Redactable {
        package let begunMicroseconds: Int64
        package var accepted = 0, known = 0, rejected = 0, failedSets = 0
        package var refusals: [(words: String, count: Int)] = []
        package var rejections = RejectedFacts()

        package init(since begunMicroseconds: Int64) { self.begunMicroseconds = begunMicroseconds }

        package mutating func redact(by redactor: Redactor) { rejections.redact(by: redactor) }
    }

    package var html: HTML { frame.page("Delivery", .sources, main: main) }

    private var main: HTML {
        """
        <div class=heads><h1>Delivery</h1>\(SourcesPage.views(current: "delivery"))</div>
        <div class=panels>\(own)\(counted)\(quarantine)\
        \(received)\(names.html(in: frame))</div>

        """
    }

    private var own: HTML {
        guard let own = state.own else { return "" }
        let sending = own.sending.map { "\(Words.count($0.factCount, "fact")), set \($0.set.supportCode)" } ?? "nothing"
        var cells: [(String, HTML)] = [
            ("Pending", "\(Words.count(own.pendingCount, "fact"))"), ("On its way", "\(sending)"),
            ("Delivered", own.deliveredCount == 0 ? "nothing yet" : "\(Words.count(own.deliveredCount, "fact"))"),
            ("Delivered last", settled(own)), ("Attempts", "\(pause(own.pause))"),
        ]
        if own.heldCount > 0 || own.sampledCount > 0 {
            cells.append(
                (
                    "Sampling",
                    "\(Words.count(own.heldCount, "pending fact")) held back until their transactions end, \(own.sampledCount) dropped"
                ))
        }
        for total in own.totals {
            cells.append(
                (
                    "\(Words.count(total.sourceCount, "ended launch")) of \(total.app)",
                    "\(LedgerBar(total.ledger).words)"
                ))
        }
        return "<header class=wide><h2>Recorded into this store</h2><dl>\(HTML.cells(cells))</dl></header>\n"
    }

    private func settled(_ own: DeliveryState.Own) -> HTML {
        guard let settled = own.settled else { return "no whole transaction yet" }
        return """
            <a href="transactions/\(settled.id.description)">\(settled.useCaseName) \(settled.id.supportCode.description)</a>, \
            of \(HTML.moment(settled.begunMicroseconds, .dateAndTime, in: frame.timeZone))
            """
    }

    private func pause(_ pause: DeliveryPause?) -> String {
        guard let pause else { return "nothing keeps them back" }
        let failures = pause.failureCount == 0 ? "none failed" : "\(pause.failureCount) failed in a row"
        return pause.wasAskedFor ? "\(failures); the collector asked to be left alone" : failures
    }

    private var counted: HTML {
        guard let collected else { return "" }
        let turned = (collected.refusals + [("sets that could not be stored", collected.failedSets)]).filter {
            $0.1 > 0
        }
        let cells: [(String, HTML)] = [
            ("Counting since", HTML.moment(collected.begunMicroseconds, .dateAndTime, in: frame.timeZone)),
            ("Facts accepted", "\(collected.accepted)"),
            ("Facts known already", "\(collected.known)"), ("Facts rejected", "\(collected.rejected)"),
            (
                "Turned away",
                "\(turned.isEmpty ? "no request" : turned.map { "\($0.1) \($0.0)" }.joined(separator: ", "))"
            ),
        ]
        return "<header class=wide><h2>Since this collector was started</h2><dl>\(HTML.cells(cells))</dl></header>\n"
    }
}

extension DeliveryPage {
    private var hours: [DeliveryState.Hour] { state.hours }

    private var received: HTML {
        guard state.own == nil || !hours.isEmpty else { return "" }
        return "<section class=\"panel wide\"><h2>Received by hour</h2>\(arrivals)</section>\n"
    }

    private var arrivals: HTML {
        guard !hours.isEmpty else { return "<p class=why>No set has come in yet.</p>" }
        let busy = hours.filter { $0.factCount > 0 }
        let (sets, facts) = (busy.reduce(0) { $0 + $1.setCount }, busy.reduce(0) { $0 + $1.factCount })
        guard !busy.isEmpty else { return "<p class=why>Nothing new came in the last \(hours.count) hours.</p>" }
        return """
            <p>\(Words.count(facts, "new fact")) in \(Words.count(sets, "set")) in the last \(hours.count) hours; at most \
            \(Words.count(busy.map(\.factCount).max() ?? 0, "fact")) in one.</p>
            \(chart)
            <details class=table><summary>As a table</summary><table class=facts><thead><tr><th>Hour from, in \(zone)<th class=n>Sets<th class=n>Facts\
            </tr></thead>\(busy.reversed().map(row))</table></details>
            """
    }

    /// Browsers convert other times to the reader's zone.
    private var zone: String { WallTime(hours.last?.beginMicroseconds ?? 0, in: frame.timeZone).zone }

    private func label(_ hour: DeliveryState.Hour) -> (date: String, time: String) {
        let time = WallTime(hour.beginMicroseconds, in: frame.timeZone)
        return (time.date, String(time.time.prefix(5)))
    }

    private var chart: HTML {
        let columns = hours.map { hour in
            let (date, time) = label(hour)
            let title =
                "\(date) \(time) \(zone): \(Words.count(hour.factCount, "fact")), \(Words.count(hour.setCount, "set"))"
            return ColumnChart.Column(title: title, parts: [("", hour.factCount)])
        }
        return ColumnChart(columns: columns) { index in
            let (date, time) = label(hours[index])
            return "\(date.suffix(5)) \(time)"
        }.html
    }

    private func row(_ hour: DeliveryState.Hour) -> HTML {
        let (date, time) = label(hour)
        return "<tr><td>\(date) \(time)<td class=n>\(hour.setCount)<td class=n>\(hour.factCount)</tr>"
    }
}

/// Codes that have had several names, with the first use of each.
package struct ChangedNames: Sendable, Redactable {
    private var conflicts: [NameConflict]
    private let count: Int
    private var useCases: [Int: String]
    private var starts: [AppVersion: Int64]

    /// `count` includes conflicts that are not shown.
    package init(
        _ conflicts: [NameConflict], count: Int? = nil, useCases: [Int: String], starts: [AppVersion: Int64]
    ) {
        self.conflicts = conflicts
        self.count = count ?? conflicts.count
        self.useCases = useCases
        self.starts = starts
    }

    package mutating func redact(by redactor: Redactor) {
        conflicts.redact(by: redactor)
        useCases.redact(by: redactor)
        let redacted = starts.map {
            (AppVersion(app: redactor.text($0.key.app), version: redactor.text($0.key.version)), $0.value)
        }
        starts = Dictionary(redacted, uniquingKeysWith: min)
    }

    func html(in frame: InspectorFrame) -> HTML {
        guard !conflicts.isEmpty else {
            return """
                <section class="panel wide"><h2>Names that changed</h2><p class=why>None: every code has had one name in all versions of all \
                apps.</p></section>

                """
        }
        return """
            <section class="panel wide"><h2>Names that changed</h2><p>Nothing is lost by it, but one of the names misleads whoever reads it.</p>
            <table class="facts runs"><thead><tr><th>Code<th>Name<th>App<th>Versions<th>Since</tr></thead>\
            \(conflicts.map { rows($0, frame) })</table>\(rest)</section>

            """
    }

    private var rest: HTML {
        let more = count - conflicts.count
        return more > 0 ? "<p class=why>And \(Words.count(more, "more code")) with several names.</p>" : ""
    }

    private func rows(_ conflict: NameConflict, _ frame: InspectorFrame) -> HTML {
        let code = conflict.event.map {
            "event \($0) of \(useCases[conflict.useCase] ?? "use case \(conflict.useCase)")"
        }
        let head: HTML = """
            <th scope=rowgroup rowspan=\(conflict.names.count)>\(code ?? "use case \(conflict.useCase)")\
            \(more(conflict.furtherNames, "name"))
            """
        let rows = conflict.names.enumerated().map { index, use in
            """
            <tr>\(head, if: index == 0)<td>\(standing(of: index, in: conflict))<b>\(use.name)</b><td>\(use.app.isEmpty ? "not told" : use.app)\
            <td>\(use.versions.joined(separator: ", "))\(more(use.furtherVersions, "version"))<td>\(since(use, frame))</tr>
            """ as HTML
        }
        return "<tbody>\(rows)</tbody>"
    }

    private func more(_ count: Int?, _ word: String) -> String {
        count.map { " and \(Words.count($0, "more \(word)"))" } ?? ""
    }

    private func standing(of index: Int, in conflict: NameConflict) -> HTML {
        let isFirst = index == 0 || conflict.names[index - 1].app != conflict.names[index].app
        return isFirst ? "" : "<u>then</u> "
    }

    private func since(_ use: NameConflict.Use, _ frame: InspectorFrame) -> String {
        let starts = use.versions.compactMap { self.starts[AppVersion(app: use.app, version: $0)] }
        return starts.min().map { WallTime($0, in: frame.timeZone).date } ?? "unknown"
    }
}
