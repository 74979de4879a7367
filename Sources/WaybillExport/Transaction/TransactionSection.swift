package import Foundation
package import WaybillCore
package import WaybillReading

/// One transaction: a line of the list that unfolds into a waterfall, what happened, and the requests; or these alone.
package struct TransactionSection {
    private let record: ShownRecord
    private let names: SourceNames
    private let timeZone: TimeZone
    private let bodies: [Fact.ID: ExchangeBodies]
    private let hasAnchors: Bool
    private let linked: Set<GUID>

    /// - Parameters:
    ///   - record: Redacted: nothing is taken out here.
    ///   - bodies: By exchange, redacted.
    ///   - clocks: By which times it is shown.
    ///   - linked: Transactions on the same page that others there have links to.
    ///   - hasAnchors: Whether bars and rows lead to the requests that they show: only where it is alone on a page.
    package init(
        _ record: TransactionRecord, bodies: [Fact.ID: ExchangeBodies] = [:], clocks: ShownClocks = .aligned,
        timeZone: TimeZone, linked: Set<GUID> = [],
        hasAnchors: Bool = false
    ) {
        self.record = ShownRecord(record, clocks: clocks)
        self.bodies = bodies
        self.timeZone = timeZone
        self.hasAnchors = hasAnchors
        self.linked = linked
        names = SourceNames(record.sources)
    }

    /// A `<details>`, closed.
    package var html: HTML {
        """
        <details class="t \(record.summary.outcome.name)"\(anchor)>\(line)
        \(content)</details>

        """
    }

    /// What it unfolds into.
    package var content: HTML {
        """
        \(facts)\(Waterfall(record, names: names).html(hasAnchors: hasAnchors))<div>\
        \(TimelineTable(record, names: names, timeZone: timeZone, hasAnchors: hasAnchors).html)\(exchanges)</div>
        """
    }

    private var line: HTML {
        let summary = record.summary
        let duration = summary.durationMicroseconds.map(Words.duration) ?? "-"
        return """
            <summary>\(summary.outcome.icon)<b>\(summary.useCaseName)</b> <em>\(Words.outcome(summary.outcome))</em> <span>\(summary.reason)</span> \
            \(HTML.moment(summary.begunMicroseconds, .exactTime, in: timeZone)) <data>\(duration)</data> <code>\(summary.id.supportCode.description)</code></summary>
            """
    }

    private var facts: HTML {
        let times: HTML = record.clockWords(names).map { "<p>\($0)\n" } ?? ""
        let sampled: HTML = Words.sampling(of: record.summary).map { "<p>Sampled: \($0)\n" } ?? ""
        let note: HTML = record.beginningWords.map { "<p class=note>\($0)\n" } ?? ""
        let left: HTML =
            record.family?.isCut == true
            ? "<p class=note>More transactions are above or below it than are shown.\n" : ""
        return """
            <p>ID <code>\(record.summary.id.description)</code>
            \(above)\(links)<ul>\(record.parts.map(part))</ul>
            \(sampled)\(times)\(note)\(left)
            """
    }

    /// Below which others it was begun, the topmost first.
    private var above: HTML {
        guard let parent = record.summary.parent else { return "" }
        let known = record.family?.above ?? []
        guard !known.isEmpty else { return "<p>Below <code>\(parent.description)</code>, which is not known here\n" }
        let links = known.map { above -> HTML in
            let name: HTML =
                hasAnchors ? "<a href=\"\(above.id.description)\">\(above.useCaseName)</a>" : "\(above.useCaseName)"
            return " › \(name) <code>\(above.id.supportCode.description)</code> \(Words.outcome(above.outcome))"
        }
        return "<p>Below\(links)\n"
    }

    private var anchor: HTML {
        linked.contains(record.summary.id) ? " id=\"t-\(record.summary.id.description)\"" : ""
    }

    /// To other transactions: on pages of their own, or on this one.
    private var links: HTML {
        let links = record.links.map { link -> HTML in
            let (id, code) = (link.transaction.description, link.transaction.supportCode.description)
            let relation: HTML = link.relation.map { "\($0) " } ?? ""
            guard hasAnchors || linked.contains(link.transaction) else {
                return "<p>Link: \(relation)<code>\(id)</code>\n"
            }
            return "<p>Link: \(relation)<a href=\"\(hasAnchors ? id : "#t-\(id)")\"><code>\(code)</code></a>\n"
        }
        return "\(links)"
    }

    private func part(_ part: TransactionRecord.Part) -> HTML {
        let source = record.sources.first { $0.id == part.id.source }
        let described: [String?] = [
            source?.appVersion, source?.device,
            [source?.os, source?.osVersion].compactMap(\.self).joined(separator: " "),
            (part.isJoined ? "joined, " : "") + Words.outcome(part.outcome), clock(of: part),
        ]
        let words = described.compactMap(\.self).filter { !$0.isEmpty && $0 != " " }.joined(separator: " · ")
        return
            "<li\(names.laneAttribute(of: part.id.source))><b>\(names[part.id.source])</b> \(words)"
    }

    /// Nothing for the one that the others are compared with.
    private func clock(of part: TransactionRecord.Part) -> String? {
        guard let clocks = record.offsets, part.id.source != clocks.reference else { return nil }
        return "clock \(Words.clock(part.id.source, in: clocks))"
    }

    private var exchanges: HTML {
        guard !record.exchanges.isEmpty else { return "" }
        let caused = Dictionary(record.parts.compactMap { part in part.cause.map { ($0, part) } }) { first, _ in first }
        let details = record.exchanges.map { exchange in
            ExchangeDetails(
                exchange: exchange, bodies: bodies[exchange.id] ?? ExchangeBodies(),
                names: record.sources.count > 1 ? names : nil,
                caused: caused[exchange.id], anchor: hasAnchors ? names.anchor(of: exchange.id) : nil,
                page: hasAnchors ? "../network/\(exchange.id.description)" : nil
            ).html
        }
        return "<div><h3>Requests</h3>\(details)</div>"
    }
}

extension TransactionOutcome {
    /// Its sign, drawn once for the page; the word stands beside it.
    package var icon: HTML { "<svg><use href=#\(sign) /></svg>" }

    private var sign: HTML {
        switch self {
        case .succeeded: "good"
        case .failed: "bad"
        case .canceled, .abandoned, .interrupted, .timedOut: "warn"
        case .open: "open"
        }
    }
}
