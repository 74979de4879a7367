import WaybillAnalysis
import WaybillCore
import WaybillExport

/// How often a use case was run and how it ended, over time, and with which errors.
extension UseCaseSection {
    /// - Parameter step: Of the rates, in microseconds.
    func overview(_ summary: UseCaseSummary, each step: Int64) -> HTML {
        let times = summary.rates.map(\.startMicroseconds)
        let over = OutcomeSteps(
            summary.rates, steps: TimeSteps(covering: times, each: step, atLeast: TimeSteps.leastCount, in: timeZone))
        let numbers: HTML =
            "<dl class=figures>\(UseCaseNumbers(summary, useCase, links).html)\(installations(summary))</dl>"
        let bar = OutcomeBar(summary.outcomes) { links.transactions(of: useCase, [("outcome", $0.name)]) }
        let outcomes = section(
            "Outcomes, each \(over.steps.length), in \(over.steps.zoneName)", file: "outcomes.csv",
            "\(numbers)\(bar.html)\(chart(over))\(folded(table(over)))")
        return "\(outcomes)\(errors(summary))"
    }

    private func installations(_ summary: UseCaseSummary) -> HTML {
        "<div><dt>Installations<dd>\(summary.installations)</div>"
    }

    private func chart(_ over: OutcomeSteps) -> HTML {
        let columns = over.outcomes.indices.map { index in
            ColumnChart.Column(
                title: "\(over.steps.title(index)): \(over.outcomeWords(index))", address: transactions(over, index),
                parts: over.parts(index))
        }
        let count = over.steps.count
        let marked = count < 3 ? Array(0..<count) : [0, count / 2, count - 1]
        return ColumnChart(columns: columns, labels: marked.map(over.steps.label)).html
    }

    private func table(_ over: OutcomeSteps) -> AnswerTable {
        let outcomes = OutcomeBar.order.filter { outcome in over.outcomes.contains { $0[outcome] != nil } }
        let rows = over.outcomes.indices.filter { !over.outcomes[$0].isEmpty }.map { index -> [HTML] in
            let counts = outcomes.map { outcome -> HTML in
                guard let count = over.outcomes[index][outcome] else { return "" }
                return "<a href=\"\(transactions(over, index, [("outcome", outcome.name)]))\">\(count)</a>"
            }
            let runs = over.outcomes[index].values.reduce(0, +)
            return ["\(over.steps.title(index))", "<a href=\"\(transactions(over, index))\">\(runs)</a>"] + counts
        }
        return AnswerTable(
            caption: "Outcomes over time",
            columns: ["Begun in", "Runs"] + outcomes.map { .init(stringLiteral: Words.outcome($0)) },
            rows: rows)
    }

    private func transactions(_ over: OutcomeSteps, _ index: Int, _ others: [(name: String, value: String)] = [])
        -> String
    {
        let (start, end) = (over.steps.borders[index], over.steps.borders[index + 1])
        return links.transactions(of: useCase, [("since", Self.instant(start)), ("until", Self.instant(end))] + others)
    }

    /// `2026-03-01T12:00:00Z`: steps begin with whole seconds.
    private static func instant(_ microseconds: Int64) -> String { "\(Words.iso8601(microseconds).prefix(19))Z" }

    private func errors(_ summary: UseCaseSummary) -> HTML {
        guard let most = summary.errors.first?.count else { return "" }
        let rows = summary.errors.prefix(Self.errorLimit).map { error -> [HTML] in
            let name = Words.error(error.error)
            return [
                "<a href=\"\(links.transactions(of: useCase, [], [.error(error)]))\">\(name)</a>",
                ShareBar(error.count, of: most, tone: TransactionOutcome.failed.name).html, "\(error.count)",
                "\(Words.percent(error.count, of: summary.runs))",
            ]
        }
        let more = summary.errors.count - rows.count
        let table = AnswerTable(caption: "Errors", columns: ["Error", .drawn(), "Times", "Of all runs"], rows: rows)
        return section(
            "Errors", file: "errors.csv",
            "\(table.html)\(remarks(more > 0 ? ["And \(more) more in the file."] : []))")
    }

    /// Errors that are shown.
    private static let errorLimit = 20
}
