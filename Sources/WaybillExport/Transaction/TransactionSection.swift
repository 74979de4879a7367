package import Foundation
package import WaybillCore
package import WaybillQueries

/// One transaction as a list line that expands to a waterfall, a timeline and requests.
package struct TransactionSection {
    private let record: ShownRecord
    private let names: SourceNames
    private let timeZone: TimeZone
    private let bodies: [FactID: ExchangeBodies]
    private let hasAnchors: Bool
    private let linked: Set<GUID>

    /// Creates a section of redacted data. Only pages with one transaction have anchors.
    package init(
        _ record: TransactionRecord, bodies: [FactID: ExchangeBodies] = [:], clocks: ShownClocks = .aligned,
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

    package var html: HTML {
        """
        <details class="t \(record.summary.outcome.name)"\(anchor)>\(line)
        \(content)</details>

        """
    }

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

struct TimelineTable {
    private let record: ShownRecord
    private let timeZone: TimeZone
    private let names: SourceNames
    private let hasAnchors: Bool
    private let exchanges: [FactID: TransactionRecord.Exchange]

    init(_ record: ShownRecord, names: SourceNames, timeZone: TimeZone, hasAnchors: Bool = false) {
        self.record = record
        self.timeZone = timeZone
        self.names = names
        self.hasAnchors = hasAnchors
        exchanges = Dictionary(record.exchanges.map { ($0.id, $0) }) { first, _ in first }
    }

    var html: HTML {
        let times = record.timeline.map(\.timeMicroseconds)
        let beginning = times.first ?? 0
        let length = (times.max() ?? 0) - (times.min() ?? 0)
        let scale = TimeScale(longest: length)
        let isLong = record.timeline.count > Self.longCount
        var html: HTML =
            "<table\(" class=long", if: isLong)><caption>Timeline\(scale.unit.map { ", in \($0)" } ?? "")</caption>"
        var previous: TransactionRecord.Entry?
        for (index, entry) in record.timeline.enumerated() {
            let source = entry.id.source
            let isOther = previous?.id.source != source
            if isOther || (isLong && index % Self.groupCount == 0) {
                html += "\n<tbody\(names.laneAttribute(of: source))>"
                if isOther, record.sources.count > 1 {
                    html += "<tr><td><th scope=rowgroup>\(names[source])\(ownTime(of: entry))"
                }
            }
            // A long pause before a row shows where the time went.
            let since = previous.map { entry.timeMicroseconds - $0.timeMicroseconds } ?? 0
            let pause: HTML = abs(since) > length / 20 ? "<s>\(since < 0 ? "" : "+")\(scale.text(since))</s>" : ""
            let at = entry.timeMicroseconds - beginning
            html += "<tr><td>\(pause)\(at == 0 ? "0" : scale.text(at))"
            html += "<td\(kind(of: entry))>\(label(of: entry))\(remark(on: entry))"
            previous = entry
        }
        html += "</table>\n"
        return html
    }

    private func ownTime(of entry: TransactionRecord.Entry) -> HTML {
        guard let time = record.ownTime(entry.timeMicroseconds, of: entry.id.source) else { return "" }
        return "<small>\(HTML.moment(time, .exactTime, in: timeZone)) by its own clock</small>"
    }
    /// Longer timelines are split into groups, which a browser lays out when they become visible.
    private static let longCount = 400
    private static let groupCount = 100

    private func label(of entry: TransactionRecord.Entry) -> HTML {
        let label = entry.label.spaced
        guard hasAnchors, let exchange = exchange(of: entry) else { return "\(label)" }
        return "<a href=\"#\(names.anchor(of: exchange.id))\">\(label)</a>"
    }

    private func kind(of entry: TransactionRecord.Entry) -> HTML {
        switch entry.kind {
        case .event: entry.error == nil ? "" : " class=bad"
        case .attributesSet, .unknown: " class=set"
        case .begun, .joined: " class=from"
        case .finished:
            entry.error == nil && entry.label != TransactionOutcome.failed.name ? " class=to" : " class=\"to bad\""
        case .exchangeBegun: " class=out"
        case .exchangeFinished: exchange(of: entry)?.hasFailed == true ? " class=\"in bad\"" : " class=in"
        }
    }

    private func remark(on entry: TransactionRecord.Entry) -> HTML {
        var remarks: [String] = []
        if entry.kind == .exchangeFinished, let took = exchange(of: entry)?.durationMicroseconds {
            remarks.append(Words.duration(took))
        }
        if entry.kind == .exchangeBegun, exchange(of: entry)?.state == nil { remarks.append("no end recorded") }
        if let error = entry.error { remarks.append(Words.error(error)) }
        if entry.isLate { remarks.append("after the end") }
        let text: HTML = remarks.isEmpty ? "" : "<small>\(remarks.joined(separator: " · "))</small>"
        return "\(text)\(AttributeList(entry.attributes).html)"
    }

    private func exchange(of entry: TransactionRecord.Entry) -> TransactionRecord.Exchange? {
        entry.exchange.flatMap { exchanges[$0] }
    }
}

struct AttributeList {
    private let attributes: [(name: String, value: String)]

    init(_ attributes: Attributes) {
        self.attributes = attributes.sorted { $0.key < $1.key }.map { ($0.key, $0.value.description) }
    }

    var html: HTML {
        "\(attributes.map(item))"
    }

    private func item(_ name: String, _ value: String) -> HTML {
        if let json = PrettyJSON.text(value) { return " <u>\(name)=</u><pre>\(json)</pre>" }
        return " <u>\(name)=\(value)</u>"
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
    /// Why it did not succeed, how its process ended, and its attributes.
    package var reason: String { reason(DistinctiveAttributes([attributes])) }

    package func reason(_ telling: DistinctiveAttributes) -> String {
        ([endedBy?.phrase, error.map(Words.error)].compactMap(\.self) + telling.sorted(attributes)).joined(
            separator: " · ")
    }
}
