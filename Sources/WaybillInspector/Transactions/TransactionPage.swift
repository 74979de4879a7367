package import WaybillCore
package import WaybillExport
package import WaybillQueries

package struct TransactionPage {
    private let record: TransactionRecord
    private let bodies: [FactID: ExchangeBodies]
    private let clocks: ShownClocks
    private let around: Around
    private let notes: [String]
    private let frame: InspectorFrame

    /// The transactions that the same source began before and after.
    package struct Around: Sendable {
        var before: TransactionSummary?
        var after: TransactionSummary?

        package init(before: Redacted<TransactionSummary?>, after: Redacted<TransactionSummary?>) {
            self.before = before.value
            self.after = after.value
        }
    }

    package init(
        _ record: Redacted<TransactionRecord>, bodies: Redacted<[FactID: ExchangeBodies]>,
        clocks: ShownClocks = .aligned, around: Around,
        notes: [String], in frame: InspectorFrame
    ) {
        (self.record, self.bodies) = (record.value, bodies.value)
        (self.clocks, self.around, self.notes, self.frame) = (clocks, around, notes, frame)
    }

    package var html: HTML {
        frame.page("\(record.summary.useCaseName) \(code)", .transactions, depth: 2, main: main)
    }

    private var code: String { record.summary.id.supportCode.description }

    private var main: HTML {
        let told: HTML = "<aside>\(notes.map { "<p>\($0)</p>" as HTML })</aside>"
        let section = TransactionSection(
            record, bodies: bodies, clocks: clocks, timeZone: frame.timeZone, hasAnchors: true)
        return """
            <nav class=around aria-label="Around it"><a rel=up href="../transactions">All transactions</a>\(neighbors)</nav>
            <header class="what \(record.summary.outcome.name)"><h1>\(record.summary.outcome.icon)\(record.summary.useCaseName) \
            <em>\(Words.outcome(record.summary.outcome))</em></h1><p>\(record.summary.reason)</p>
            <dl>\(cells)</dl>
            <p class=actions><button type=button class=copier data-copy=link hidden>Copy link</button>\
            \(TransactionFile.allCases.map(download))</p>\(ClockChoice(of: [record], shown: clocks) { "?clocks=\($0.rawValue)" }.html)\
            \(TransactionComparisonForm(first: record.summary, clocks: clocks, root: "../").html)</header>
            \(told, if: !notes.isEmpty)
            <article class="t \(record.summary.outcome.name)"><h2 class=unseen>What happened</h2>\(section.content)</article>

            """
    }

    private var cells: HTML {
        let summary = record.summary
        let cells: [(String, HTML)] = [
            ("Begun", HTML.moment(summary.begunMicroseconds, .exact, in: frame.timeZone)),
            ("Duration", "\(summary.durationMicroseconds.map(Words.duration) ?? "not closed")"),
            ("Support code", "\(code)"),
            ("Events", "\(summary.eventCount)"), ("Requests", "\(summary.exchangeCount)"),
            ("Sources", "\(record.sources.map { "\($0.app) \($0.appVersion)" }.joined(separator: ", "))"),
        ]
        return .cells(cells)
    }

    private func download(_ file: TransactionFile) -> HTML {
        "<a class=copier download href=\"\(record.summary.id.description)/\(file.rawValue)\">\(file.name)</a>"
    }

    private var neighbors: HTML {
        guard let first = record.sources.first, around.before != nil || around.after != nil else { return "" }
        return """
            <span>Same launch of \(first.app):</span>\(neighbor(around.before, "prev", "before"))\(neighbor(around.after, "next", "after"))
            """
    }

    private func neighbor(_ summary: TransactionSummary?, _ relation: HTML, _ word: HTML) -> HTML {
        guard let summary else { return "<span>nothing \(word)</span>" }
        return """
            <a rel=\(relation) class=\(summary.outcome.name) href="\(summary.id.description)\(clocks.query)">\(word): \(summary.outcome.icon)\
            \(summary.useCaseName) \(HTML.moment(summary.begunMicroseconds, .time, in: frame.timeZone))</a>
            """
    }
}

package enum TransactionFile: String, Sendable, CaseIterable {
    case html
    case json
    case har
    /// Its closed parts and exchanges as spans; each line is an OTLP/HTTP request in JSON.
    case otlp

    var name: String { rawValue.uppercased() }

    package var suffix: String { self == .otlp ? "otlp.jsonl" : rawValue }
    package var mediaType: String {
        switch self {
        case .html: "text/html; charset=utf-8"
        case .json, .har: "application/json"
        case .otlp: "application/x-ndjson"
        }
    }
}

struct ClockChoice {
    private let canChoose: Bool
    private let shown: ShownClocks
    private let address: (ShownClocks) -> String

    /// There is no choice if no clock offset is known.
    init(of records: [TransactionRecord], shown: ShownClocks, address: @escaping (ShownClocks) -> String) {
        canChoose = records.contains { $0.clocks?.offsets.isEmpty == false }
        self.shown = shown
        self.address = address
    }

    var html: HTML {
        guard canChoose else { return "" }
        let chips = ShownClocks.allCases.map { clocks -> HTML in
            "<li><a class=chip href=\"\(address(clocks))\"\(" aria-current=true", if: clocks == shown)>\(clocks.rawValue)</a>"
        }
        return "<nav class=clocks aria-label=Clocks><span>Clocks</span><ul class=outcomes>\(chips)</ul></nav>"
    }
}

extension ShownClocks {
    var query: String { self == .aligned ? "" : "?clocks=\(rawValue)" }
}
