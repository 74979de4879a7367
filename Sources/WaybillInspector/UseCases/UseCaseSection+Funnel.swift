import WaybillAnalysis
import WaybillCore
import WaybillExport
import WaybillReading

/// How many get how far, and what those did last who did not finish.
extension UseCaseSection {
    func funnel(_ query: FunnelQuestion, _ answer: FunnelAnswer) -> HTML {
        let total = answer.total
        let rows = total.steps.indices.map { index -> [HTML] in
            let step = total.steps[index]
            let before = index == 0 ? total.transactions : total.steps[index - 1].reached
            let bar = ShareBar([("", step.reached), ("lost", step.lost)], of: total.transactions)
            return [
                linked(step.point), bar.html, "\(step.reached)",
                "\(Words.percent(step.reached, of: total.transactions))",
                lost(step, after: index == 0 ? nil : total.steps[index - 1].point),
                step.lost > 0 ? "<span class=bad>\(Words.percent(step.lost, of: before))</span>" : "",
                "\(time(step.statistics.p50Microseconds))", "\(time(step.statistics.p90Microseconds))",
            ]
        }
        let table = AnswerTable(
            caption: "Funnel",
            columns: ["Step", .drawn(), "Reached", "Of all", "Lost", "Of those before", "p50", "p90"], rows: rows)
        return section(
            "Funnel of \(Words.count(total.transactions, "transaction"))", file: "funnel.csv",
            "\(table.html)\(remarks(["Times are from the step before. A step counts where it comes after that one."]))")
    }

    private func linked(_ point: TransactionPoint) -> HTML {
        guard case .event(let event) = point else { return "\(Words.point(point))" }
        return
            "<a href=\"\(links.transactions(of: useCase, [], [FilterExpression.Term(FilterCondition.event(event))]))\">\(event)</a>"
    }

    /// Who was lost is nearly who lacks the step's event: a list knows no order of events.
    private func lost(_ step: FunnelSegment.Step, after before: TransactionPoint?) -> HTML {
        guard step.lost > 0 else { return "" }
        var terms: [FilterExpression.Term] = []
        if case .event(let name)? = before { terms.append(FilterExpression.Term(FilterCondition.event(name))) }
        switch step.point {
        case .event(let name): terms.append(FilterExpression.Term(FilterCondition.event(name)).negated)
        case .finished: terms.append(FilterExpression.Term(.outcome, .equal, "open,interrupted,timed_out"))
        case .begun: break
        }
        guard !terms.isEmpty else { return "<span class=bad>\(step.lost)</span>" }
        return "<a class=bad href=\"\(links.transactions(of: useCase, [], terms))\">\(step.lost)</a>"
    }

    func dropOff(_ answer: DropOffAnswer) -> HTML {
        let most = answer.lastEvents.map(\.count).max() ?? 0
        let unfinished = address["outcome"] == nil ? [(name: "outcome", value: "abandoned,interrupted,timed_out")] : []
        let rows = answer.lastEvents.map { last -> [HTML] in
            let name: HTML =
                last.event.map { event in
                    let list = links.transactions(
                        of: useCase, unfinished, [FilterExpression.Term(FilterCondition.event(event))])
                    return "<a href=\"\(list)\" title=\"Those that have this event and did not finish\">\(event)</a>"
                } ?? "(no event)"
            return [
                name, ShareBar(last.count, of: most, tone: TransactionOutcome.abandoned.name).html, "\(last.count)",
                "\(Words.percent(last.count, of: answer.transactions))", "\(time(last.statistics.p50Microseconds))",
                "\(time(last.statistics.p90Microseconds))",
            ]
        }
        let all: HTML = """
            <p><a href="\(links.transactions(of: useCase, unfinished))">\(Words.count(answer.transactions, "transaction"))</a> did not finish. \
            This is what they did last.
            """
        let table = AnswerTable(
            caption: "Last events",
            columns: ["Last event", .drawn(), "Times", "Of them", "p50 since the beginning", "p90"], rows: rows)
        return section("Drop-off", file: "dropoff.csv", "\(all)\(table.html)")
    }
}
