import Foundation
package import WaybillCore
import WaybillQueries

struct ReportPage {
    @Redacted var report: TransactionReport

    var html: HTML {
        .page(title: report.title, style: ReportAssets.style, script: ReportAssets.script, body: body)
    }

    private var body: HTML {
        """
        \(ReportAssets.icons)\
        <header><p class=brand>Waybill</p><h1>\(report.title)</h1>
        <dl>\(cells)</dl>
        \(HTML.outcomes(outcomes))</header>
        \(notes)<search hidden><input type=search aria-label="Search in this report" placeholder="Search: support code, name, host, error ..."><button type=button>\
        Unfold all</button><output></output></search>
        <main>
        \(days)</main>
        <footer><p>Values under names of secrets, and what looks like a token or a card number, were replaced by \(Redactor.placeholder). \
        \(report.bodies.isEmpty ? "Bodies of requests are not recorded." : "Bodies are shown where the app keeps them, as far as it keeps them.")</footer>
        """
    }

    private var outcomes: [TransactionOutcome: Int] {
        Dictionary(grouping: report.records, by: \.summary.outcome).mapValues(\.count)
    }

    private var cells: HTML {
        let sources = report.records.flatMap(\.sources)
        let zone = WallTime(report.made.microseconds, in: report.timeZone).zone
        let cells: [(String, HTML)] = [
            ("Selection", "\(report.selection ?? "all")"),
            ("Begun", period),
            ("Apps", "\(Self.listed(sources.map { "\($0.app) \($0.appVersion)" }))"),
            ("Devices", "\(Self.listed(sources.map { "\($0.device) \($0.os) \($0.osVersion)" }))"),
            (
                "Report made",
                "\(HTML.moment(report.made.microseconds, .dateAndMinute, in: report.timeZone)), times in <span id=zone>\(zone)</span>"
            ),
        ]
        return .cells(cells.filter { !$0.1.bytes.isEmpty })
    }

    private var period: HTML {
        guard let first = report.records.last, let last = report.records.first else { return "" }
        // Both ends need a date, since a browser may convert them to another time zone.
        let ends = [first, last].map { HTML.moment($0.summary.begunMicroseconds, .dateAndTime, in: report.timeZone) }
        return "\(ends[0]) to \(ends[1])"
    }

    private static func listed(_ texts: [String]) -> String {
        var seen: Set<String> = []
        let different = texts.map { $0.split(separator: " ").joined(separator: " ") }.filter {
            !$0.isEmpty && seen.insert($0).inserted
        }
        let short = different.prefix(4).map { $0.isLonger(than: 60) ? "\($0.cut(to: 60))…" : $0 }
        return short.joined(separator: ", ") + (different.count > 4 ? " and \(different.count - 4) more" : "")
    }

    private var notes: HTML {
        guard !report.notes.isEmpty, !report.records.isEmpty else { return "" }
        return "<aside>\(report.notes.map { "<p>\($0)</p>" as HTML })</aside>\n"
    }

    private var days: HTML {
        var html = HTML()
        var day: String?
        // The sections take nearly all of the time of a report.
        let (bodies, timeZone) = (report.bodies, report.timeZone)
        let linked = Set(report.records.flatMap(\.links).map(\.transaction)).intersection(
            report.records.map(\.summary.id))
        let sections = report.records.mapOnThreads {
            TransactionSection($0, bodies: bodies, timeZone: timeZone, linked: linked).html
        }
        for (record, section) in zip(report.records, sections) {
            let date = WallTime(record.summary.begunMicroseconds, in: report.timeZone).date
            if date != day {
                html += "\(day == nil ? HTML() : "</section>")<section><h2>\(date)</h2>\n"
                day = date
            }
            html += section
        }
        guard day != nil else {
            return "<div class=none><b>No transactions</b>\(report.notes.map { "<p>\($0)" as HTML })</div>\n"
        }
        return "\(html)</section>\n"
    }
}

extension HTML {
    package static func outcomes(
        _ outcomes: [TransactionOutcome: Int], address: ((TransactionOutcome) -> String)? = nil
    ) -> HTML {
        let counts = TransactionOutcome.barOrder.compactMap { outcome in outcomes[outcome].map { (outcome, $0) } }
        let total = outcomes.values.reduce(0, +)
        guard total > 0 else { return "" }
        let parts = counts.map { (" class=\($0.0.name)" as HTML, Int64($0.1)) }
        let items = counts.map { outcome, count -> HTML in
            let content: HTML = "\(outcome.icon)<b>\(count)</b> \(Words.outcome(outcome))"
            let link = address.map { "<a href=\"\($0(outcome))\">\(content)</a>" as HTML }
            return "<li class=\(outcome.name)>\(link ?? content)"
        }
        return "<svg class=bar>\(segments(parts, of: Int64(total), least: 0))</svg>\n<ul class=outcomes>\(items)</ul>\n"
    }
}

extension TransactionOutcome {
    package static let barOrder: [TransactionOutcome] = [
        .succeeded, .open, .cancelled, .abandoned, .interrupted, .timedOut, .failed,
    ]
}

package enum ReportAssets {
    /// The CSS begins with the colors that the inspector uses, too.
    package static let style = PackageResources.report_css
    package static let icons = HTML.raw(PackageResources.icons_svg)
    package static let sharedScript = PackageResources.shared_js
    static let script = sharedScript + PackageResources.report_js
}
