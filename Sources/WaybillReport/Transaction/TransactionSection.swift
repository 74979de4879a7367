package import Foundation
package import WaybillCore

/// One transaction: a line of the list that unfolds into a waterfall, what happened, and the requests.
package struct TransactionSection {
    private let record: TransactionRecord
    private let names: SourceNames
    private let timeZone: TimeZone

    /// - Parameter record: Redacted: nothing is taken out here.
    package init(_ record: TransactionRecord, timeZone: TimeZone) {
        self.record = record
        self.timeZone = timeZone
        names = SourceNames(record.sources)
    }

    /// A `<details>`, closed.
    package var html: HTML {
        """
        <details class="t \(record.summary.outcome.tone)" data-outcome=\(record.summary.outcome.name)>\(line)
        \(facts)\(Waterfall(record, names: names).html)\(TimelineTable(record: record, names: names).html)\(exchanges)</details>

        """
    }

    private var line: HTML {
        let summary = record.summary
        let time = WallTime(summary.begunMicroseconds, in: timeZone)
        let utc = WallTime(summary.begunMicroseconds, in: .gmt)
        let duration = summary.durationMicroseconds.map(Words.duration) ?? "-"
        return """
            <summary>\(summary.outcome.icon)<b>\(summary.useCaseName)</b> <em>\(Words.outcome(summary.outcome))</em> <span>\(reason)</span> \
            <time datetime=\(utc.date)T\(utc.time)Z>\(time.time)</time> <data>\(duration)</data> <code>\(summary.id.supportCode.description)</code></summary>
            """
    }

    /// Why it did not succeed, and what was said about it when it was begun.
    private var reason: String {
        ([record.summary.error.map(Words.error)].compactMap(\.self)
            + record.summary.attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
            .joined(separator: " · ")
    }

    private var facts: HTML {
        let note: HTML = record.summary.isWaitingForBeginner ? "<p class=note>The source that began it has not been heard yet.\n" : ""
        return """
            <p class=id><span>ID</span> <code class=copy>\(record.summary.id.description)</code>
            <ul class=who>\(record.parts.map(part))</ul>
            \(note)
            """
    }

    private func part(_ part: TransactionRecord.Part) -> HTML {
        let source = record.sources.first { $0.id == part.id.source }
        let described: [String?] = [
            source?.appVersion, source?.device, [source?.os, source?.osVersion].compactMap(\.self).joined(separator: " "),
            "\(part.isJoined ? "joined" : "began"), \(Words.outcome(part.outcome))", part.error.map(Words.error),
        ]
        let words = described.compactMap(\.self).filter { !$0.isEmpty && $0 != " " }.joined(separator: " · ")
        return
            "<li class=l\(min(names.lane(of: part.id.source), 3))><b>\(names[part.id.source])</b> \(words) \(AttributeList(part.attributes).html)"
    }

    private var exchanges: HTML {
        guard !record.exchanges.isEmpty else { return "" }
        let details = record.exchanges.map { exchange in
            ExchangeDetails(
                exchange: exchange, source: names[exchange.id.source], lane: names.lane(of: exchange.id.source),
                caused: record.parts.first { $0.cause == exchange.id }
            ).html
        }
        return "<h3>Requests</h3>\n\(details)"
    }
}

extension Outcome {
    /// The class of its colour: `good`, `bad`, `warn` or `open`.
    var tone: HTML {
        switch self {
        case .succeeded: "good"
        case .failed: "bad"
        case .canceled, .abandoned, .interrupted, .timedOut: "warn"
        case .open: "open"
        }
    }

    /// Its sign, drawn once for the page; the word stands beside it.
    var icon: HTML { "<svg aria-hidden=true><use href=#\(tone) /></svg>" }
}
