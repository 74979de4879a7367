import Foundation
import WaybillCore
import WaybillReading

/// What happened in a transaction, in words: a row for each fact, under the name of its source wherever that changes.
struct TimelineTable {
    private let record: ShownRecord
    private let timeZone: TimeZone
    private let names: SourceNames
    private let hasAnchors: Bool
    private let exchanges: [Fact.ID: TransactionRecord.Exchange]

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
