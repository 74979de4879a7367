import WaybillCore
import WaybillExport
import WaybillQueries

/// Bars compare durations within a use case.
struct TransactionRows {
    private let all: [TransactionSummary]
    private let errorCounts: [GUID: Int]
    private let days: DayMarks
    private let useCases: [Int: (scale: DurationScale, telling: DistinctiveAttributes)]
    private let frame: InspectorFrame

    init(_ rows: [TransactionSummary], errorCounts: [GUID: Int], in frame: InspectorFrame) {
        (all, self.errorCounts, self.frame) = (rows, errorCounts, frame)
        useCases = Dictionary(grouping: rows, by: \.useCase).mapValues { rows in
            (
                scale: DurationScale(rows.compactMap(\.durationMicroseconds)),
                telling: DistinctiveAttributes(rows.map(\.attributes))
            )
        }
        days = DayMarks(rows.map(\.begunMicroseconds), in: frame.timeZone)
    }

    var html: HTML { html(all.indices) }

    func html(_ indices: some Sequence<Int>) -> HTML {
        let rows = indices.map { index in
            useCases[all[index].useCase].map {
                row(all[index], $0.scale, reason: all[index].reason($0.telling), day: days[index])
            } ?? ""
        }
        return "<ol class=rows>\(rows)</ol>\n"
    }

    private static let statedScales = 6

    var scales: HTML {
        var seen: Set<Int> = []
        let first = all.filter { $0.durationMicroseconds != nil && seen.insert($0.useCase).inserted }
        let scales = first.prefix(Self.statedScales).compactMap { row in
            useCases[row.useCase].map { "\(Words.duration($0.scale.microseconds)) for \(row.useCaseName)" }
        }
        guard !scales.isEmpty else { return "" }
        let more = first.count > scales.count ? ", and so on" : ""
        return
            "<p class=hint>A full bar is \(scales.joined(separator: ", "))\(more). A longer duration has a gap in its bar.\n"
    }

    private func row(
        _ summary: TransactionSummary, _ scale: DurationScale, reason: String, day: HTML
    ) -> HTML {
        """
        <li id="t-\(summary.id.description)" class="\(summary.outcome.name)\(day)"><a href="transactions/\(summary.id.description)">\
        \(summary.outcome.icon)<b>\(summary.useCaseName)</b> <em>\(Words.outcome(summary.outcome))</em> <span title="\(reason)">\(reason)</span> \
        <small>\(counts(summary))</small> \(scale.strip(summary.durationMicroseconds))\
        <data>\(summary.durationMicroseconds.map(Words.duration) ?? "-")</data> \
        \(HTML.moment(summary.begunMicroseconds, .row, in: frame.timeZone)) \
        <code>\(summary.id.supportCode.description)</code></a>

        """
    }

    private func counts(_ summary: TransactionSummary) -> String {
        let errors = errorCounts[summary.id] ?? 0
        let counts = [
            summary.sourceCount > 1 ? Words.count(summary.sourceCount, "source") : nil,
            summary.exchangeCount > 0 ? Words.count(summary.exchangeCount, "request") : nil,
            errors > 0 ? Words.count(errors, "error") : nil,
            summary.children.map { "\(Words.children($0)) below" },
        ]
        return counts.compactMap(\.self).joined(separator: " · ")
    }
}

/// The heads of the columns. Those of times sort, and a second click turns the order round.
extension TransactionsPage {
    var head: HTML {
        """
        <div class=head><i></i><b>Use case</b><b>Outcome</b><b>Error and attributes</b><b></b><b></b>\(link("Duration", .longest, .shortest))\
        \(link("Begun", .newest, .oldest))<b>Support code</b></div>

        """
    }

    private func link(_ title: String, _ first: TransactionFilter.Order, _ second: TransactionFilter.Order) -> HTML {
        let shown = frame.address.order
        let isOn = shown == first || shown == second
        let arrow = isOn ? shown == first ? " ↓" : " ↑" : ""
        return """
            <a href="\(frame.address.with("filter", frame.address.filter(in: shown == first ? second : first)))"\(" aria-current=true", if: isOn)>\
            \(title)\(arrow)</a>
            """
    }
}

extension ListAddress {
    private var terms: [FilterExpression.Term] { (try? FilterExpression(self["filter"] ?? "").terms) ?? [] }

    fileprivate var order: TransactionFilter.Order {
        let words = terms.filter { $0.key == .sort }.map(\.description)
        return TransactionFilter.Order.allCases.first { words.last == FilterExpression(.sort, $0.rawValue).description }
            ?? .newest
    }

    /// `nil` without a term.
    fileprivate func filter(in order: TransactionFilter.Order) -> String? {
        var words = terms.filter { $0.key != .sort }.map(\.description)
        if order != .newest { words.append(FilterExpression(.sort, order.rawValue).description) }
        return words.isEmpty ? nil : words.joined(separator: " ")
    }
}

struct DurationScale {
    let microseconds: Int64

    /// Outliers above eight times the median have broken bars.
    init(_ durations: [Int64]) {
        let sorted = durations.sorted()
        microseconds = max(1, min(sorted.last ?? 1, 8 * (sorted.isEmpty ? 1 : max(1, sorted[sorted.count / 2]))))
    }

    var words: HTML {
        "<p class=hint>A full bar is \(Words.duration(microseconds)). A longer duration has a gap in its bar.\n"
    }

    func strip(_ duration: Int64?) -> HTML {
        guard let duration else { return "<svg class=strip aria-hidden=true></svg>" }
        let tenths = min(1000, max(4, Int(Double(duration) / Double(microseconds) * 1000)))
        let isBroken = duration > microseconds
        let bar: HTML = isBroken ? "<rect width=82% /><rect x=88% width=12% />" : "<rect width=\(percent: tenths)% />"
        return "<svg class=strip aria-hidden=true>\(bar)</svg>"
    }
}
