import WaybillCore
import WaybillExport
import WaybillQueries

struct UseCasesPage {
    @Redacted var answer: SummaryAnswer
    var leftOut = 0
    var step: Int64 = 3_600_000_000
    let names: Redacted<[RecordedName]>
    let frame: InspectorFrame
    private var address: ListAddress { frame.address }
    private var links: UseCaseLinks { frame.links() }

    var html: HTML { frame.page("Use cases", .useCases, main: main) }

    /// Only projects with generated use cases have more.
    private static let limit = 200

    /// Call this before redaction, since a store may have any number of use cases.
    static func first(of answer: SummaryAnswer) -> (answer: SummaryAnswer, leftOut: Int) {
        var first = answer
        first.useCases = Array(answer.useCases.prefix(limit))
        return (first, answer.useCases.count - first.useCases.count)
    }

    static let hint = "All, or a filter: version:4.2 os:iOS took>2s"

    private var main: HTML {
        let times = answer.useCases.flatMap(\.rates).map(\.startMicroseconds)
        let steps = TimeSteps(covering: times, each: step, atLeast: TimeSteps.leastCount, in: frame.timeZone)
        let file: HTML = """
            <a class=copier download href="use-cases.csv\(address.query)">CSV</a>
            """
        return """
            <h1>Use cases</h1>
            \(ListForm(address: address, field: "filter", hint: Self.hint, useCases: nil, terms: "terms").html)\
            <div class=line><p class=hint>\(period(steps))</p>\(file, if: !answer.useCases.isEmpty)</div>
            \(list(steps))
            """
    }

    private func period(_ steps: TimeSteps) -> HTML {
        guard steps.count > 0 else { return "" }
        let weighed = answer.weighed.map { " \($0.sentence)" } ?? ""
        let others = leftOut == 0 ? "" : " The \(Self.limit) with the most runs; a filter finds the \(leftOut) others."
        return "From \(steps.title(0)) on, a column for each \(steps.length).\(others)\(weighed)"
    }

    private func list(_ steps: TimeSteps) -> HTML {
        guard !answer.useCases.isEmpty else {
            return NoRows(title: "No use cases", why: answer.whyEmpty, frame: frame).html
        }
        return "<ol class=cases>\(answer.useCases.map { item($0, steps) })</ol>\n"
    }

    private func item(_ summary: UseCaseSummary, _ steps: TimeSteps) -> HTML {
        let useCase = UseCaseReference(code: summary.useCase, among: names)
        let outcomes = HTML.outcomes(summary.outcomes) { links.transactions(of: useCase, [("outcome", $0.name)]) }
        let columns = OutcomeSteps(summary.rates, steps: steps).columns()
        return """
            <li><h2><a href="\(links.useCase(useCase))">\(useCase.name)</a></h2>
            \(ColumnChart(columns: columns, hasScale: false).html)
            <div>\(outcomes)</div>
            <dl>\(UseCaseNumbers(summary: summary, useCase: useCase, links: links).html)</dl></li>

            """
    }
}

struct UseCaseNumbers {
    let summary: UseCaseSummary
    let useCase: UseCaseReference
    let links: UseCaseLinks

    var html: HTML {
        func time(_ microseconds: Int64?) -> String { microseconds.map(Words.duration) ?? "-" }
        let failed = Words.percent(summary.outcomes[.failed] ?? 0, of: summary.runs - (summary.outcomes[.open] ?? 0))
        return """
            <div><dt>Runs<dd><a href="\(links.transactions(of: useCase))">\(summary.runs)</a></div>\
            <div><dt title="Of those that are over">Failed<dd>\(failed)</div>\
            <div><dt title="Of those that succeeded, half take no longer">p50 succeeded<dd>\(time(summary.succeeded.p50Microseconds))</div>\
            <div><dt title="Of those that succeeded, 19 of 20 take no longer">p95 succeeded<dd>\(time(summary.succeeded.p95Microseconds))</div>\
            <div><dt title="Of all that were closed, however they ended, 19 of 20 take no longer">p95 closed<dd>\(time(summary.duration.p95Microseconds))</div>
            """
    }
}
