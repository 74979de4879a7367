import WaybillCore
import WaybillExport
import WaybillQueries

struct TransactionComparisonPage {
    @Redacted var first: TransactionRecord
    let clocks: ShownClocks
    let frame: InspectorFrame

    func html(with second: Redacted<TransactionRecord>) -> HTML {
        let second = second.value
        let (one, other) = (first.summary, second.summary)
        let title =
            one.useCase == other.useCase
            ? "Two runs of \(one.useCaseName)" : "\(one.useCaseName) and \(other.useCaseName)"
        let shown = [first, second].map { ShownRecord($0, clocks: clocks) }
        let comparison = TransactionComparison(shown[0], shown[1])
        let table = TransactionComparisonTable(comparison)
        // Runs keep the pictures of many requests short. The table below has the events of others.
        var waterfalls = shown.map { Waterfall($0, isDetailed: $0.exchanges.count > 40) }
        let reach = waterfalls.map(\.reach)
        for index in waterfalls.indices { waterfalls[index].widen(to: reach[1 - index]) }
        let notes = notes(on: second)
        let told: HTML = "<aside>\(notes.map { "<p>\($0)</p>" as HTML })</aside>"
        let choice = HTML.clockChoice(of: [first, second], shown: clocks) { address(second, $0) }
        let main: HTML = """
            \(navigation(second))<h1>\(title)</h1>\(told, if: !notes.isEmpty)
            <div class=sides>\(side("First", first, waterfalls[0]))\(side("Second", second, waterfalls[1]))</div>
            \(choice)\(table.html)
            \(TransactionComparisonForm(first: one, clocks: clocks, root: frame.root).html)

            """
        return frame.page("\(title): \(one.id.supportCode) and \(other.id.supportCode)", .transactions, main: main)
    }

    func html(without reason: String) -> HTML {
        let main: HTML = """
            \(navigation(nil))<h1>\(first.summary.useCaseName) compared with another</h1><p>\(reason)</p>
            \(TransactionComparisonForm(first: first.summary, clocks: clocks, root: frame.root).html)

            """
        return frame.page("\(first.summary.useCaseName) compared with another", .transactions, main: main)
    }

    func without(_ other: OtherTransaction) -> HTML {
        let name = first.summary.useCaseName
        let reason =
            switch other {
            case .before: "No \(name) began before this one."
            case .after: "No \(name) began after this one."
            case .succeeded: "No other \(name) has succeeded."
            }
        return html(without: reason)
    }

    private func navigation(_ second: TransactionRecord?) -> HTML {
        let id = first.summary.id.description
        let swapped = second.map { clocks.comparison(of: $0.summary, with: id) }
        let swap: HTML = swapped.map { "<a href=\"\($0)\">The other way round</a>" } ?? ""
        let copy: HTML = "<button type=button class=copier data-copy=link hidden>Copy link</button>"
        return """
            <nav class=around aria-label="Around it"><a rel=up href="transactions/\(id)\(clocks.query)">Back to \
            \(first.summary.id.supportCode.description)</a>\(swap)\(copy, if: second != nil)</nav>
            """
    }

    private func address(_ second: TransactionRecord, _ clocks: ShownClocks) -> String {
        clocks.comparison(of: first.summary, with: second.summary.id.description)
    }

    private func notes(on second: TransactionRecord) -> [String] {
        var notes: [String] = []
        if first.summary.id == second.summary.id {
            notes.append("This is the same transaction twice.")
        } else if first.summary.useCase != second.summary.useCase {
            notes.append(
                "These are of different use cases, \(first.summary.useCaseName) and \(second.summary.useCaseName): only what has the same name "
                    + "in both is compared.")
        }
        return notes
    }

    private func side(_ place: String, _ record: TransactionRecord, _ waterfall: Waterfall) -> HTML {
        let summary = record.summary
        let begun = HTML.moment(summary.begunMicroseconds, .exact, in: frame.timeZone)
        let sources = record.sources.map { source in
            [source.app, source.appVersion, source.device, source.os, source.osVersion].filter { !$0.isEmpty }.joined(
                separator: " ")
        }
        let times = ShownRecord(record, clocks: clocks).clockWords.map { " · \($0)" } ?? ""
        return """
            <section class="t \(summary.outcome.name)"><h2>\(place): \(summary.outcome.icon)\(summary.useCaseName) \
            <em>\(Words.outcome(summary.outcome))</em> <data>\(summary.durationMicroseconds.map(Words.duration) ?? "not closed")</data> \
            <a href="transactions/\(summary.id.description)\(clocks.query)"><code>\(summary.id.supportCode.description)</code></a></h2>\
            <p>\(summary.reason)</p><p>Begun \(begun) · \(sources.joined(separator: ", "))\(times)</p>\
            \(waterfall.figure())</section>

            """
    }
}

struct TransactionComparisonForm {
    let first: TransactionSummary
    let clocks: ShownClocks
    let root: String

    var html: HTML {
        let hidden: HTML = "<input type=hidden name=clocks value=\(clocks.rawValue)>"
        return """
            <form class=comparison method=get action="\(root)beside"><span>Compare with</span>\
            \(link(.before, "the run before"))\(link(.after, "the run after"))\(link(.succeeded, "the last that succeeded"))\
            <input type=hidden name=a value="\(first.id.description)">\(hidden, if: clocks != .aligned)\
            <input name=b required aria-label="Support code or ID of another one" placeholder="or a support code"><button>Compare</button></form>
            """
    }

    private func link(_ other: OtherTransaction, _ words: String) -> HTML {
        "<a href=\"\(root)\(clocks.comparison(of: first, with: other.rawValue))\">\(words)</a>"
    }
}

/// A second transaction by its relation to the first, in the same use case.
enum OtherTransaction: String {
    case before
    case after
    case succeeded
}

extension ShownClocks {
    /// The path relative to the inspector's root, for example `beside?a=K7QD-3M2X&b=Z2M4-NAR7`.
    ///
    /// - Parameter second: An ID, or an ``OtherTransaction``.
    func comparison(of first: TransactionSummary, with second: String) -> String {
        let clocks = self == .aligned ? "" : "&clocks=\(rawValue)"
        return "beside?a=\(first.id)&b=\(PercentEncoding.encoded(second))\(clocks)"
    }
}

struct TransactionComparisonTable {
    private let comparison: TransactionComparison
    private let scale: TimeScale

    init(_ comparison: TransactionComparison) {
        self.comparison = comparison
        let times = comparison.rows.flatMap { [$0.first?.time, $0.second?.time] }.compactMap(\.self)
        scale = TimeScale(longest: times.map { abs($0) }.max() ?? 0)
    }

    var html: HTML {
        let count = comparison.differentCount
        let different = count == 0 ? "nothing is different" : "\(count) of \(comparison.rows.count) are different"
        return """
            <table class=comparison><caption>What happened, and when since the opening\(scale.unit.map { ", in \($0)" } ?? ""): \(different)</caption>
            <thead><tr><th scope=col>What<th scope=col>First<th scope=col>Second<th scope=col>Difference</thead>
            <tbody>\(comparison.rows.map(row))</table>
            """
    }

    private func row(_ row: TransactionComparison.Row) -> HTML {
        guard let fact = row.first ?? row.second else { return "" }
        let lane = min(fact.lane, 3)
        let classes: HTML = "\("l\(lane)", if: lane > 0)\(" one", if: row.first == nil || row.second == nil)"
        let isTold = !row.differences.isEmpty || comparison.isFarOff(row)
        return """

            <tr class="\(classes)"><th scope=row class=\(fact.entry.kind.mark)>\(label(of: fact))\(cell(row.first))\(cell(row.second))\
            <td\(" class=differs", if: isTold)>\(words(row))
            """
    }

    private func label(of fact: TransactionComparison.Fact) -> HTML {
        let text =
            switch fact.entry.kind {
            case .event, .attributesSet, .begun, .joined, .unknown: fact.entry.words
            case .finished: "finished"
            case .exchangeBegun, .exchangeFinished:
                fact.exchange.map { "\($0.method) \(PathTemplate($0.path))" } ?? fact.entry.words
            }
        return "\(text)"
    }

    private func cell(_ fact: TransactionComparison.Fact?) -> HTML {
        guard let fact else { return "<td><i>-</i>" }
        let small: HTML = fact.result.map { "<small>\($0)</small>" } ?? ""
        return "<td>\(fact.time == 0 ? "0" : scale.text(fact.time))\(small)"
    }

    private func words(_ row: TransactionComparison.Row) -> String {
        var words = row.differences
        if let later = row.laterMicroseconds, later != 0 {
            let uncertainty = row.uncertaintyMicroseconds
            let doubt = uncertainty == 0 ? "" : " ± \(Words.duration(uncertainty))"
            words.append("\(Words.duration(abs(later)))\(doubt) \(later < 0 ? "earlier" : "later")")
        }
        return words.joined(separator: " · ")
    }
}

extension TransactionRecord.Kind {
    fileprivate var mark: HTML {
        switch self {
        case .event: "event"
        case .attributesSet, .unknown: "set"
        case .begun, .joined: "from"
        case .finished: "to"
        case .exchangeBegun: "out"
        case .exchangeFinished: "in"
        }
    }
}
