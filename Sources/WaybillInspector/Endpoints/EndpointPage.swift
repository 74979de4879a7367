import Foundation
import WaybillCore
import WaybillExport
import WaybillQueries

struct EndpointPage {
    @Redacted var answer: NetworkAnswer
    let question: NetworkQuestion
    let frame: InspectorFrame

    var html: HTML { frame.page(group?.title ?? "Endpoint", .endpoints, main: main) }

    static let exampleCount = 20

    private var group: NetworkGroup? { answer.groups.first }

    private var main: HTML {
        let list = ListAddress(frame.address.items(besides: NetworkKey.parameters))
        let form = ListForm(
            address: frame.address, field: "filter", hint: EndpointsPage.hint, terms: "terms?about=exchanges",
            kept: NetworkKey.parameters)
        return """
            <nav class=around aria-label="Around it"><a rel=up href="endpoints\(list.query)">All endpoints</a></nav>
            <h1>\(group?.title ?? "Endpoint")</h1>
            \(form.html)\(content)
            """
    }

    private var content: HTML {
        guard let group else {
            return NoRows(title: "No requests", why: answer.whyEmpty, frame: frame).html
        }
        let table = _answer.table(question)
        let figures = zip(table.columns, table.rows[0].cells).compactMap { column, cell in
            column.kind == .number ? column.title.map { ($0, PlainTable.content(cell)) } : nil
        }
        let weighed: HTML = answer.weighed.map { "<p class=hint>\($0.sentence)</p>\n" } ?? ""
        return """
            \(weighed)<section class=answer><header><h2>From \(moment(group.firstOpenedMicroseconds)) to \(moment(group.lastOpenedMicroseconds))</h2></header>
            <dl class=figures>\(HTML.cells(figures))</dl>
            <p class=hint>p50, p95 and p99 are of successes. “All” also counts errors and timeouts.</p></section>
            \(trend(group))\(examples("Slowest requests", group.slowest))\(examples("Latest errors", group.failing))
            """
    }

    private func moment(_ microseconds: Int64) -> HTML { .moment(microseconds, .dateAndTime, in: frame.timeZone) }

    private func examples(_ title: String, _ examples: [NetworkGroup.Example]) -> HTML {
        guard !examples.isEmpty else { return "" }
        let rows = examples.map { example -> [HTML] in
            let request: HTML = "<a href=\"network/\(example.id.description)\">\(example.id.code)</a>"
            let transaction = example.transaction.map { id -> HTML in
                "<a href=\"transactions/\(id.description)\">\("\(id.supportCode)")</a>"
            }
            let status = example.status.map { "\($0)" } ?? example.error.map(Words.error) ?? "-"
            return [
                moment(example.openedMicroseconds), "\(example.durationMicroseconds.map(Words.duration) ?? "-")",
                "\(status)", transaction ?? "-", request,
            ]
        }
        let table = PlainTable(
            caption: title,
            columns: ["Opened", "Duration", "Status", "Transaction", "Request"].map { .init(title: $0) }, rows: rows)
        return """
            <section class="answer endpoints"><header><h2>\(title)</h2></header>
            \(table.html)</section>

            """
    }
}

extension EndpointPage {
    private func trend(_ group: NetworkGroup) -> HTML {
        let steps = group.steps ?? []
        let successes = steps.map {
            TrendChart.Step(start: $0.start, statistics: $0.succeeded, withoutEnd: 0, reversed: 0, outcomes: [:])
        }
        guard let chart = TrendChart(successes, words) else { return "" }
        return """
            <section class=answer><header><h2>p50 and p95 of successes over time, in \(chart.unit)</h2></header>
            \(chart.html())<details class=numbers><summary>The numbers</summary>\(numbers(steps))</details>
            \(chart.remark)</section>

            """
    }

    private func numbers(_ steps: [NetworkGroup.Step]) -> HTML {
        func time(_ microseconds: Int64?) -> HTML { "\(microseconds.map(Words.duration) ?? "-")" }
        let rows = steps.map { step -> [HTML] in
            [
                "\(words.label(step.startMicroseconds))", "\(step.count)", "\(step.failingCount)",
                time(step.succeeded.p50Microseconds), time(step.succeeded.p95Microseconds),
            ]
        }
        return PlainTable(
            caption: "Durations over time",
            columns: ["From", "Count", "Errors", "p50", "p95"].map { .init(title: $0) }, rows: rows
        ).html
    }

    private var words: FixedSteps { FixedSteps(each: question.stepMicroseconds ?? 1, in: frame.timeZone) }
}
