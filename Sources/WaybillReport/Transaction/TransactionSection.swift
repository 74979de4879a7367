package import Foundation
package import WaybillCore

/// One transaction: a line of the list that unfolds into a waterfall, what happened, and the requests.
package struct TransactionSection {
    private let record: TransactionRecord
    private let names: SourceNames
    private let timeZone: TimeZone
    private let bodies: [Fact.ID: ExchangeBodies]

    /// - Parameters:
    ///   - record: Redacted: nothing is taken out here.
    ///   - bodies: By exchange, redacted.
    package init(_ record: TransactionRecord, bodies: [Fact.ID: ExchangeBodies] = [:], timeZone: TimeZone) {
        self.record = record
        self.bodies = bodies
        self.timeZone = timeZone
        names = SourceNames(record.sources)
    }

    /// A `<details>`, closed.
    package var html: HTML {
        """
        <details class="t \(record.summary.outcome.name)">\(line)
        \(facts)\(Waterfall(record, names: names).html)<div>\(TimelineTable(record: record, names: names).html)\
        \(exchanges)</div></details>

        """
    }

    private var line: HTML {
        let summary = record.summary
        let time = WallTime(summary.begunMicroseconds, in: timeZone)
        let duration = summary.durationMicroseconds.map(Words.duration) ?? "-"
        return """
            <summary>\(summary.outcome.icon)<b>\(summary.useCaseName)</b> <em>\(Words.outcome(summary.outcome))</em> <span>\(reason)</span> \
            <time>\(time.time)</time> <data>\(duration)</data> <code>\(summary.id.supportCode.description)</code></summary>
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
            <p>ID <code>\(record.summary.id.description)</code>
            <ul>\(record.parts.map(part))</ul>
            \(note)
            """
    }

    private func part(_ part: TransactionRecord.Part) -> HTML {
        let source = record.sources.first { $0.id == part.id.source }
        let described: [String?] = [
            source?.appVersion, source?.device, [source?.os, source?.osVersion].compactMap(\.self).joined(separator: " "),
            (part.isJoined ? "joined, " : "") + Words.outcome(part.outcome),
        ]
        let words = described.compactMap(\.self).filter { !$0.isEmpty && $0 != " " }.joined(separator: " · ")
        return
            "<li\(names.laneAttribute(of: part.id.source))><b>\(names[part.id.source])</b> \(words)"
    }

    private var exchanges: HTML {
        guard !record.exchanges.isEmpty else { return "" }
        let details = record.exchanges.map { exchange in
            ExchangeDetails(
                exchange: exchange, bodies: bodies[exchange.id] ?? ExchangeBodies(), names: record.sources.count > 1 ? names : nil,
                caused: record.parts.first { $0.cause == exchange.id }
            ).html
        }
        return "<div><h3>Requests</h3>\(details)</div>"
    }
}

extension Outcome {
    /// Its sign, drawn once for the page; the word stands beside it.
    var icon: HTML { "<svg><use href=#\(sign) /></svg>" }

    private var sign: HTML {
        switch self {
        case .succeeded: "good"
        case .failed: "bad"
        case .canceled, .abandoned, .interrupted, .timedOut: "warn"
        case .open: "open"
        }
    }
}
