import WaybillCore
import WaybillExport
import WaybillQueries

struct TransactionPage {
    @Redacted var record: TransactionRecord
    @Redacted var bodies: [FactID: ExchangeBodies]
    var clocks = ShownClocks.aligned
    var excerpt = Waterfall.Excerpt()
    let around: Around
    let notes: [String]
    /// The store's version before the page was read, to follow an open transaction; `nil` not to.
    var version: Int64?
    let frame: InspectorFrame
    private var address: ListAddress { frame.address }
    private var links: UseCaseLinks { frame.links() }

    struct Around {
        @Redacted var before: TransactionSummary?
        @Redacted var after: TransactionSummary?
    }

    var html: HTML {
        frame.page("\(record.summary.useCaseName) \(code)", .transactions, main: main)
    }

    private var code: String { record.summary.id.supportCode.description }

    private var main: HTML {
        let told: HTML = "<aside>\(notes.map { "<p>\($0)</p>" as HTML })</aside>"
        let section = TransactionSection(
            record, bodies: bodies, clocks: clocks, timeZone: frame.timeZone, excerpt: excerpt
        ) { address.with("at", $0) }
        return """
            <nav class=around aria-label="Around it"><a rel=up href="../transactions">All transactions</a>\(live)\(neighbors)</nav>
            <header class="what \(record.summary.outcome.name)" data-fresh><h1>\(record.summary.outcome.icon)\(record.summary.useCaseName) \
            <em>\(Words.outcome(record.summary.outcome))</em></h1>\(values)<dl>\(cells)</dl></header>
            \(told, if: !notes.isEmpty)
            <article class="t \(record.summary.outcome.name)" data-fresh><h2 class=unseen>What happened</h2>\(excerptForm)\(section.content)</article>
            <p class=actions><button type=button class=copier data-copy=link hidden>Copy link</button>\
            \(TransactionFile.allCases.map(download))</p>\
            \(HTML.clockChoice(of: [record], shown: clocks) { address.with("clocks", $0 == .aligned ? nil : $0.rawValue) })\
            \(TransactionComparisonForm(first: record.summary, clocks: clocks, root: frame.root).html)

            """
    }

    private var live: HTML {
        version.map { record.summary.outcome == .open ? frame.liveBar($0) : "" } ?? ""
    }

    private var values: HTML {
        let summary = record.summary
        let ended: HTML = summary.endedBy.map { "<p>\($0.phrase)</p>\n" } ?? ""
        var menus = [
            ValueMenu.useCase(summary.useCase, summary.useCaseName, links), .outcome(summary.outcome, links),
        ]
        if let error = summary.error { menus.append(.error(error, links)) }
        return "\(ended)\((menus + ValueMenu.attributes(summary.attributes, links)).html)"
    }

    /// Without script, two numbers zoom; with it, dragging over the overview fills them in.
    private var excerptForm: HTML {
        let isWhole = excerpt.from == nil && excerpt.to == nil && excerpt.text.isEmpty
        let long = record.timeline.count > Self.shortCount
        guard long || !isWhole else { return "" }
        func time(_ name: String, _ label: String) -> HTML {
            "<label>\(label) <input type=number step=any min=0 name=\(HTML.raw(name)) value=\"\(address[name] ?? "")\"> ms</label>"
        }
        let reset: HTML = "<a href=\"?\(clocks == .aligned ? "" : "clocks=\(clocks.rawValue)")\">Whole transaction</a>"
        return """
            <form class="find excerpt" method=get action=""><search>\(address.hidden(besides: ["from", "to", "find", "at"]))\
            <input type=search name=find value="\(excerpt.text)" aria-label="Search in rows" placeholder="Search: name, path, error ...">\
            \(time("from", "From"))\(time("to", "to"))<button>Show</button>\(reset, if: !isWhole)</search></form>
            """
    }

    /// Shorter timelines need no search.
    private static let shortCount = 40

    private var cells: HTML {
        let summary = record.summary
        var cells: [(String, HTML)] = [
            ("Begun", HTML.moment(summary.begunMicroseconds, .exact, in: frame.timeZone)),
            ("Duration", "\(summary.durationMicroseconds.map(Words.duration) ?? "not closed")"),
            ("Support code", "\(code)"), ("Events", "\(summary.eventCount)"), ("Requests", "\(summary.exchangeCount)"),
        ]
        if let first = record.sources.first {
            let menus =
                [ValueMenu.session(first.id, links)] + ValueMenu.app(first.app, first.appVersion, links)
                + ValueMenu.device(first.device, first.os, first.osVersion, links)
            cells.append(("Begun by", menus.html))
        }
        return .cells(cells)
    }

    private func download(_ file: TransactionFile) -> HTML {
        "<a class=copier download href=\"\(record.summary.id.description)/\(file.rawValue)\">\(file.name)</a>"
    }

    private var neighbors: HTML {
        let (before, after) = (around.before, around.after)
        guard let first = record.sources.first, before != nil || after != nil else { return "" }
        return """
            <span>Same launch of \(first.app):</span>\(neighbor(before, "prev", "before"))\(neighbor(after, "next", "after"))
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

extension Waterfall.Excerpt {
    init(_ address: ListAddress) throws(QueryFailure) {
        self.init()
        (from, to) = (try Self.time("from", address), try Self.time("to", address))
        text = address["find"] ?? ""
        at = address["at"]
    }

    /// Returns microseconds of a number of milliseconds.
    private static func time(_ name: String, _ address: ListAddress) throws(QueryFailure) -> Int64? {
        guard let word = address[name] else { return nil }
        guard let number = Double(word), number.isFinite else {
            throw .parameter(name, "“\(word)” is not a number of milliseconds. Use \(name)=1200, for example.")
        }
        return Int64(min(max(number, 0), 1e12) * 1000)
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

extension HTML {
    /// There is no choice if no clock offset is known.
    static func clockChoice(
        of records: [TransactionRecord], shown: ShownClocks, address: (ShownClocks) -> String
    ) -> HTML {
        guard records.contains(where: { $0.clocks?.offsets.isEmpty == false }) else { return "" }
        let chips = ShownClocks.allCases.map { clocks -> HTML in
            "<li><a class=chip href=\"\(address(clocks))\"\(" aria-current=true", if: clocks == shown)>\(clocks.rawValue)</a>"
        }
        return "<nav class=clocks aria-label=Clocks><span>Clocks</span><ul class=outcomes>\(chips)</ul></nav>"
    }
}

extension ShownClocks {
    var query: String { self == .aligned ? "" : "?clocks=\(rawValue)" }
}
