package import WaybillCore
package import WaybillExport
package import WaybillReading

/// The comparison of two transactions: both pictures on one scale of time, and what happened in both, with the
/// differences marked.
package struct TransactionComparisonPage {
    private let first: TransactionRecord
    private let clocks: ShownClocks
    private let frame: InspectorFrame

    /// - Parameter clocks: By which times both are shown.
    package init(_ first: Redacted<TransactionRecord>, clocks: ShownClocks, in frame: InspectorFrame) {
        (self.first, self.clocks, self.frame) = (first.value, clocks, frame)
    }

    /// The whole document.
    package func html(with second: Redacted<TransactionRecord>) -> HTML {
        let second = second.value
        let (one, other) = (first.summary, second.summary)
        let title =
            one.useCase == other.useCase
            ? "Two runs of \(one.useCaseName)" : "\(one.useCaseName) and \(other.useCaseName)"
        let shown = [first, second].map { ShownRecord($0, clocks: clocks) }
        let comparison = TransactionComparison(shown[0], shown[1])
        let table = TransactionComparisonTable(
            comparison, names: (SourceNames(first.sources), SourceNames(second.sources)))
        var waterfalls = shown.map { Waterfall($0, names: SourceNames($0.sources)) }
        let reach = waterfalls.map(\.reach)
        for index in waterfalls.indices { waterfalls[index].widen(to: reach[1 - index]) }
        let notes = notes(on: second)
        let told: HTML = "<aside>\(notes.map { "<p>\($0)</p>" as HTML })</aside>"
        let choice = ClockChoice(of: [first, second], shown: clocks) { address(second, $0) }
        let main: HTML = """
            \(navigation(second))<h1>\(title)</h1>\(told, if: !notes.isEmpty)
            <div class=sides>\(side("First", first, waterfalls[0]))\(side("Second", second, waterfalls[1]))</div>
            \(choice.html)\(table.html)
            \(TransactionComparisonForm(first: one, clocks: clocks, root: "").html)

            """
        return frame.page("\(title): \(one.id.supportCode) and \(other.id.supportCode)", .transactions, main: main)
    }

    /// A page that says why there is no second one, and asks for another.
    package func html(without reason: String) -> HTML {
        let main: HTML = """
            \(navigation(nil))<h1>\(first.summary.useCaseName) compared with another</h1><p>\(reason)</p>
            \(TransactionComparisonForm(first: first.summary, clocks: clocks, root: "").html)

            """
        return frame.page("\(first.summary.useCaseName) compared with another", .transactions, main: main)
    }

    /// The same where there is none that stands so to the first.
    package func without(_ other: TransactionComparisonAddress.Other) -> HTML {
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
        let swapped = second.map {
            TransactionComparisonAddress(first: $0.summary.id.description, second: id, clocks: clocks).path
        }
        let swap: HTML = swapped.map { "<a href=\"\($0)\">The other way round</a>" } ?? ""
        let copy: HTML = "<button type=button class=copier data-copy=link hidden>Copy link</button>"
        return """
            <nav class=around aria-label="Around it"><a rel=up href="transactions/\(id)\(clocks.query)">Back to \
            \(first.summary.id.supportCode.description)</a>\(swap)\(copy, if: second != nil)</nav>
            """
    }

    private func address(_ second: TransactionRecord, _ clocks: ShownClocks) -> String {
        TransactionComparisonAddress(
            first: first.summary.id.description, second: second.summary.id.description, clocks: clocks
        ).path
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
        let times = ShownRecord(record, clocks: clocks).clockWords(SourceNames(record.sources)).map { " · \($0)" } ?? ""
        return """
            <section class="t \(summary.outcome.name)"><h2>\(place): \(summary.outcome.icon)\(summary.useCaseName) \
            <em>\(Words.outcome(summary.outcome))</em> <data>\(summary.durationMicroseconds.map(Words.duration) ?? "not closed")</data> \
            <a href="transactions/\(summary.id.description)\(clocks.query)"><code>\(summary.id.supportCode.description)</code></a></h2>\
            <p>\(summary.reason)</p><p>Begun \(begun) · \(sources.joined(separator: ", "))\(times)</p>\
            \(waterfall.figure(hasAnchors: false))</section>

            """
    }
}
