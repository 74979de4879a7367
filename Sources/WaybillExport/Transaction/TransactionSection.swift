package import Foundation
package import WaybillCore
package import WaybillQueries

/// One transaction as a list line that expands to a waterfall, a timeline and requests.
package struct TransactionSection {
    private let record: ShownRecord
    private let timeZone: TimeZone
    private let bodies: [FactID: ExchangeBodies]
    private let excerpt: Waterfall.Excerpt
    private let address: ((String) -> String)?
    private let linked: Set<GUID>

    package init(
        _ record: TransactionRecord, bodies: [FactID: ExchangeBodies] = [:], clocks: ShownClocks = .aligned,
        timeZone: TimeZone, linked: Set<GUID> = [], excerpt: Waterfall.Excerpt = Waterfall.Excerpt(),
        address: ((String) -> String)? = nil
    ) {
        self.record = ShownRecord(record, clocks: clocks)
        self.bodies = bodies
        self.timeZone = timeZone
        (self.excerpt, self.address) = (excerpt, address)
        self.linked = linked
    }

    /// A closed line. A script draws its content when it opens, because a browser keeps `noscript` as one text.
    package var html: HTML {
        """
        <details class="t \(record.summary.outcome.name)"\(anchor)>\(line)
        <noscript>\(content)</noscript></details>

        """
    }

    package var content: HTML {
        var waterfall = Waterfall(record, isDetailed: true)
        waterfall.select(excerpt)
        (waterfall.details, waterfall.address) = (details, address)
        return "<div class=in>\(waterfall.html)\(facts)</div>"
    }

    private var hasPages: Bool { address != nil }

    private var line: HTML {
        let summary = record.summary
        let duration = summary.durationMicroseconds.map(Words.duration) ?? "-"
        return """
            <summary>\(summary.outcome.icon)<b>\(summary.useCaseName)</b> <em>\(Words.outcome(summary.outcome))</em> <span>\(summary.reason)</span> \
            \(HTML.moment(summary.begunMicroseconds, .exactTime, in: timeZone)) <data>\(duration)</data> <code>\(summary.id.supportCode.description)</code></summary>
            """
    }

    private var facts: HTML {
        let times: HTML = record.clockWords.map { "<p>\($0)\n" } ?? ""
        let sampled: HTML = Words.sampling(of: record.summary).map { "<p>Sampled: \($0)\n" } ?? ""
        let note: HTML = record.beginningWords.map { "<p class=note>\($0)\n" } ?? ""
        let left: HTML =
            record.family?.isCut == true
            ? "<p class=note>More transactions are above or below it than are shown.\n" : ""
        return """
            \(feedback)<p>ID <code>\(record.summary.id.description)</code>
            \(above)\(links)\(parts)
            \(sampled)\(times)\(note)\(left)
            """
    }

    private var above: HTML {
        guard let parent = record.summary.parent else { return "" }
        let known = record.family?.above ?? []
        guard !known.isEmpty else { return "<p>Below <code>\(parent.description)</code>, which is not known here\n" }
        let links = known.map { above -> HTML in
            let name: HTML =
                hasPages ? "<a href=\"\(above.id.description)\">\(above.useCaseName)</a>" : "\(above.useCaseName)"
            return " › \(name) <code>\(above.id.supportCode.description)</code> \(Words.outcome(above.outcome))"
        }
        return "<p>Below\(links)\n"
    }

    private var anchor: HTML {
        linked.contains(record.summary.id) ? " id=\"t-\(record.summary.id.description)\"" : ""
    }

    private var feedback: HTML {
        let feedback = record.feedback.map { words -> HTML in "<p>Feedback: <q>\(words)</q>\n" }
        return "\(feedback)"
    }

    private var links: HTML {
        let links = record.links.map { link -> HTML in
            let (id, code) = (link.transaction.description, link.transaction.supportCode.description)
            let relation: HTML = link.relation.map { "\($0) " } ?? ""
            guard hasPages || linked.contains(link.transaction) else {
                return "<p>Link: \(relation)<code>\(id)</code>\n"
            }
            return "<p>Link: \(relation)<a href=\"\(hasPages ? id : "#t-\(id)")\"><code>\(code)</code></a>\n"
        }
        return "\(links)"
    }

    private var parts: HTML {
        let list: HTML = "<ul>\(record.parts.map(part))</ul>"
        guard record.parts.count > Self.shownParts else { return list }
        return "<details><summary>\(record.parts.count) parts</summary>\(list)</details>"
    }

    private static let shownParts = 12

    private func part(_ part: TransactionRecord.Part) -> HTML {
        let source = record.sources.first { $0.id == part.id.source }
        let described: [String?] = [
            source?.appVersion, source?.device,
            [source?.os, source?.osVersion].compactMap(\.self).joined(separator: " "),
            (part.isJoined ? "joined, " : "") + Words.outcome(part.outcome), clock(of: part),
            part.error.map(Words.error),
        ]
        let words = described.compactMap(\.self).filter { !$0.isEmpty && $0 != " " }.joined(separator: " · ")
        return
            "<li\(record.names.laneAttribute(of: part.id.source))><b>\(record.names[part.id.source])</b> \(words)\(ownTime(of: part))"
    }

    private func ownTime(of part: TransactionRecord.Part) -> HTML {
        guard let time = record.ownTime(part.openedMicroseconds, of: part.id.source) else { return "" }
        return " <small>\(HTML.moment(time, .exactTime, in: timeZone)) by its own clock</small>"
    }

    private func clock(of part: TransactionRecord.Part) -> String? {
        guard let clocks = record.offsets, part.id.source != clocks.reference else { return nil }
        return "clock \(Words.clock(part.id.source, in: clocks))"
    }

    private var details: (FactID) -> HTML? {
        let exchanges = Dictionary(record.exchanges.map { ($0.id, $0) }) { first, _ in first }
        let caused = Dictionary(record.parts.compactMap { part in part.cause.map { ($0, part) } }) { first, _ in first }
        return { id in
            exchanges[id].map { exchange in
                ExchangeDetails(
                    exchange: exchange, bodies: bodies[id] ?? ExchangeBodies(), caused: caused[id],
                    page: address == nil ? nil : "../network/\(id.description)"
                ).html
            }
        }
    }
}

extension TransactionOutcome {
    package var icon: HTML { "<svg><use href=#\(sign) /></svg>" }

    private var sign: HTML {
        switch self {
        case .succeeded: "good"
        case .failed: "bad"
        case .cancelled, .abandoned, .interrupted, .timedOut: "warn"
        case .open: "open"
        }
    }
}

/// The order of attributes in a list line: the most distinctive first, since the end may be cut off.
package struct DistinctiveAttributes {
    private let differing: Set<String>

    /// Longer values, such as JSON, would leave no room for others.
    private static let shortLength = 32

    package init(_ all: [Attributes]) {
        let names = Set(all.flatMap(\.keys))
        differing = names.filter { name in Set(all.map { $0[name]?.description }).count > 1 }
    }

    /// Returns `name=value` texts: short ones first, then those that differ between transactions, then by name.
    func sorted(_ attributes: Attributes) -> [String] {
        let texts = attributes.map {
            (name: $0.key, text: "\($0.key)=\($0.value)", isCommon: !differing.contains($0.key))
        }
        func isLong(_ text: String) -> Bool { text.utf8.count > Self.shortLength }
        return texts.sorted { one, other in
            if isLong(one.text) != isLong(other.text) { return isLong(other.text) }
            if one.isCommon != other.isCommon { return other.isCommon }
            return one.name < other.name
        }.map(\.text)
    }
}

extension TransactionSummary {
    package var reason: String { reason(DistinctiveAttributes([attributes])) }

    package func reason(_ telling: DistinctiveAttributes) -> String {
        ([endedBy?.phrase, error.map(Words.error)].compactMap(\.self) + telling.sorted(attributes)).joined(
            separator: " · ")
    }
}
