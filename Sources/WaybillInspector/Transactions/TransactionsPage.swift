package import WaybillCore
package import WaybillExport
package import WaybillQueries

package struct TransactionsPage {
    private let page: RecordPage<TransactionSummary>
    private let errorCounts: [GUID: Int]
    private let address: ListAddress
    private let useCases: [String]
    private let meant: String?
    private let version: Int64
    private let frame: InspectorFrame

    /// - Parameter version: The store's version before the page was read; live updates begin there.
    package init(
        _ page: Redacted<RecordPage<TransactionSummary>>, errorCounts: [GUID: Int], at address: ListAddress,
        names: Redacted<[RecordedName]>, meant: String? = nil, version: Int64, in frame: InspectorFrame
    ) {
        (self.page, self.errorCounts, self.address) = (page.value, errorCounts, address)
        (self.version, self.meant, self.frame) = (version, meant, frame)
        useCases = names.useCases
    }

    package var html: HTML { frame.page("Transactions", .transactions, main: main) }

    private static let hint = "Any word, or outcome:failed event:requestSent took>2s"

    private var main: HTML {
        """
        <h1>Transactions</h1>
        \(ListForm(address: address, field: "filter", hint: Self.hint, useCases: useCases, terms: "terms").html)\
        <div class=line>\(outcomes)\(fold)\(live, if: address.isFirstPage)</div>
        \(list)\(ListPaging(address: address, next: page.next, progress: told).html)\(file, if: !page.rows.isEmpty)
        """
    }

    private var file: HTML {
        "<p><a class=copier download href=\"transactions.html\(address.with("cursor", nil))\">All of these as HTML</a>\n"
    }

    private var outcomes: HTML {
        let words = TransactionOutcome.allCases.map { outcome in
            (word: outcome.name, content: "\(outcome.icon)\(Words.outcome(outcome))" as HTML, tone: outcome.name)
        }
        return ListChips(address: address, name: "outcome", label: "Outcomes", words: words).html
    }

    /// Hides child transactions.
    private var fold: HTML {
        ListChips(
            address: address, name: "fold", label: "What was begun below others",
            words: [(word: "true", content: "Fold", tone: "fold")]
        ).html
    }

    private var live: HTML {
        "<p class=live data-live=\"live?version=\(version)\" hidden><output aria-live=polite></output><button type=button>Pause</button></p>"
    }

    private var told: ListProgress? {
        page.progress.map { ListProgress($0, of: "transaction", timeZone: frame.timeZone) }
    }

    private var list: HTML {
        guard !page.rows.isEmpty else {
            let word = page.progress == nil ? "No transactions" : "Nothing yet"
            return
                "<ol class=rows></ol>\(NoRows(title: word, why: page.whyEmpty ?? "", meant: meant, address: address).html)"
        }
        // Durations are only comparable within a use case.
        let useCases = Dictionary(grouping: page.rows, by: \.useCase).mapValues { rows in
            (
                scale: DurationStrip.Scale(rows.compactMap(\.durationMicroseconds)),
                telling: DistinctiveAttributes(rows.map(\.attributes))
            )
        }
        let rows = page.rows.map { summary in
            useCases[summary.useCase].map { row(summary, $0.scale, reason: summary.reason($0.telling)) } ?? ""
        }
        return "<ol class=rows>\(rows)</ol>\n"
    }

    private func row(_ summary: TransactionSummary, _ scale: DurationStrip.Scale, reason: String) -> HTML {
        """
        <li id="t-\(summary.id.description)" class=\(summary.outcome.name)><a href="transactions/\(summary.id.description)">\
        \(summary.outcome.icon)<b>\(summary.useCaseName)</b> <em>\(Words.outcome(summary.outcome))</em> <span title="\(reason)">\(reason)</span> \
        <small>\(counts(summary))</small> \(DurationStrip(summary.durationMicroseconds, scale).html)\
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

struct DurationStrip {
    struct Scale {
        let microseconds: Int64

        /// Outliers above eight times the median have broken bars.
        init(_ durations: [Int64]) {
            let sorted = durations.sorted()
            microseconds = max(1, min(sorted.last ?? 1, 8 * (sorted.isEmpty ? 1 : max(1, sorted[sorted.count / 2]))))
        }
    }

    private let tenths: Int?
    private let isBroken: Bool

    init(_ duration: Int64?, _ scale: Scale) {
        tenths = duration.map { min(1000, max(4, Int(Double($0) / Double(scale.microseconds) * 1000))) }
        isBroken = (duration ?? 0) > scale.microseconds
    }

    var html: HTML {
        guard let tenths else { return "<svg class=strip aria-hidden=true></svg>" }
        let bar: HTML = isBroken ? "<rect width=82% /><rect x=88% width=12% />" : "<rect width=\(percent: tenths)% />"
        return "<svg class=strip aria-hidden=true>\(bar)</svg>"
    }
}
