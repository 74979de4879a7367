package import Foundation
package import WaybillCore
package import WaybillQueries

/// One transaction: a line of the list that unfolds into a waterfall, what happened, and the requests; or these alone.
package struct TransactionSection {
    private let record: ShownRecord
    private let names: SourceNames
    private let timeZone: TimeZone
    private let bodies: [FactID: ExchangeBodies]
    private let hasAnchors: Bool
    private let linked: Set<GUID>

    /// - Parameters:
    ///   - record: Redacted: nothing is taken out here.
    ///   - bodies: By exchange, redacted.
    ///   - clocks: By which times it is shown.
    ///   - linked: Transactions on the same page that others there have links to.
    ///   - hasAnchors: Whether bars and rows lead to the requests that they show: only where it is alone on a page.
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

/// What happened in a transaction, in words: a row for each fact, under the name of its source wherever that changes.
struct TimelineTable {
    private let record: ShownRecord
    private let timeZone: TimeZone
    private let names: SourceNames
    private let hasAnchors: Bool
    private let exchanges: [FactID: TransactionRecord.Exchange]

    /// - Parameter hasAnchors: Whether the rows of requests lead to them.
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
            // Where a good part of the whole passed since the row above, that is where the time went.
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

    /// What its own clock said, where the times are those of another.
    private func ownTime(of entry: TransactionRecord.Entry) -> HTML {
        guard let time = record.ownTime(entry.timeMicroseconds, of: entry.id.source) else { return "" }
        return "<small>\(HTML.moment(time, .exactTime, in: timeZone)) by its own clock</small>"
    }
    /// Beyond so many rows they stand in groups, each of which a browser lays out when it comes into view.
    private static let longCount = 400
    private static let groupCount = 100

    private func label(of entry: TransactionRecord.Entry) -> HTML {
        let label = entry.label.spaced
        guard hasAnchors, let exchange = exchange(of: entry) else { return "\(label)" }
        return "<a href=\"#\(names.anchor(of: exchange.id))\">\(label)</a>"
    }

    /// What tells the kinds apart; events, of which there are most, have nothing.
    private func kind(of entry: TransactionRecord.Entry) -> HTML {
        switch entry.kind {
        case .event: entry.error == nil ? "" : " class=bad"
        case .attributesSet: " class=set"
        case .opened: " class=from"
        case .closed:
            entry.error == nil && entry.label != TransactionOutcome.failed.name ? " class=to" : " class=\"to bad\""
        case .exchangeOpened: " class=out"
        case .exchangeClosed: exchange(of: entry)?.hasFailed == true ? " class=\"in bad\"" : " class=in"
        }
    }

    private func remark(on entry: TransactionRecord.Entry) -> HTML {
        var remarks: [String] = []
        if entry.kind == .exchangeClosed, let took = exchange(of: entry)?.durationMicroseconds {
            remarks.append(Words.duration(took))
        }
        if entry.kind == .exchangeOpened, exchange(of: entry)?.state == nil { remarks.append("no end recorded") }
        if let error = entry.error { remarks.append(Words.error(error)) }
        if entry.isLate { remarks.append("after the end") }
        let text: HTML = remarks.isEmpty ? "" : "<small>\(remarks.joined(separator: " · "))</small>"
        return "\(text)\(AttributeList(entry.attributes).html)"
    }

    private func exchange(of entry: TransactionRecord.Entry) -> TransactionRecord.Exchange? {
        entry.exchange.flatMap { exchanges[$0] }
    }
}

/// Attributes by name; a value that is JSON is shown on lines of its own.
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

/// In which order a line of a list names attributes, so that what is cut off at its end is what matters least.
package struct DistinctiveAttributes {
    /// Names under which not all have the same value.
    private let differing: Set<String>

    /// What is longer, as JSON is, would leave no room for others.
    private static let shortLength = 32

    /// - Parameter all: Attributes of each of those that are told apart.
    package init(_ all: [Attributes]) {
        let names = Set(all.flatMap(\.keys))
        differing = names.filter { name in Set(all.map { $0[name]?.description }).count > 1 }
    }

    /// `variant=B`, one for each: the long ones last, and of both kinds those that differ first; then by name.
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
    /// Why it did not succeed, how its process ended, and what was said about it when it was begun.
    package var reason: String { reason(DistinctiveAttributes([attributes])) }

    /// The same, what tells it from others first.
    package func reason(_ telling: DistinctiveAttributes) -> String {
        ([endedBy?.phrase, error.map(Words.error)].compactMap(\.self) + telling.sorted(attributes)).joined(
            separator: " · ")
    }
}
