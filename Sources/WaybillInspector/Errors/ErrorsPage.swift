import Foundation
import WaybillCore
import WaybillExport
import WaybillQueries

struct ErrorsPage {
    let question: ErrorsQuestion
    @Redacted var answer: ErrorsAnswer
    var volume: VolumeChart?
    let names: Redacted<[RecordedName]>
    let frame: InspectorFrame
    private var address: ListAddress { frame.address }
    private var links: UseCaseLinks { frame.links() }

    var html: HTML { frame.page("Errors", .errors, main: main) }

    /// The parameters of the page itself. All others are conditions.
    static let (newSince, sort) = ("new_since", "sort")
    static let usualNewSince = "24h"
    private static let newSinceChoices: [(value: String, text: String)] = [
        ("1h", "New since 1 hour"), ("24h", "New since 24 hours"), ("7d", "New since 7 days"),
        ("30d", "New since 30 days"),
    ]

    private var main: HTML {
        let form = ListForm(
            address: address, field: "filter", hint: UseCasesPage.hint, useCases: names.useCases,
            choices: [(Self.newSince, "New since \(Self.usualNewSince)", Self.newSinceChoices)],
            terms: "terms")
        return """
            <h1>Errors</h1>
            \(form.html)<p class=hint>\(ErrorsAnswer.remark)\(newSince)\(more)</p>
            <p><b>\(volume?.total ?? "")</b></p>
            \(volume?.html ?? "")\(list)
            """
    }

    private var newSince: HTML {
        guard let time = question.newSinceMicroseconds else { return "" }
        return """
             An error is new if no transaction in the whole store closed with it before \
            \(HTML.moment(time, .dateAndMinute, in: frame.timeZone)).
            """
    }

    private var more: HTML {
        let leftOut = answer.moreCount
        let weighed = answer.weighed.map { " \($0.sentence)" } ?? ""
        let others = leftOut == 0 ? "" : " A filter finds the \(Words.count(leftOut, "error")) that this page omits."
        return "\(others)\(weighed)"
    }

    private var list: HTML {
        guard !answer.errors.isEmpty else {
            return NoRows(title: "No errors", why: answer.whyEmpty, frame: frame).html
        }
        let times = answer.errors.flatMap(\.rates).map(\.startMicroseconds)
        let steps = TimeSteps(
            covering: times, each: question.stepMicroseconds, atLeast: TimeSteps.leastCount, in: frame.timeZone)
        let users = answer.errors.contains { $0.users > 0 } ? "Users" : "Installations"
        return """
            <section class="answer errors"><header><h2>\(Words.count(answer.errorCount, "error")), a column for each \(steps.length)</h2>\
            <a class=copier download href="errors.csv\(address.query)">CSV</a></header>\
            <div class=scroll tabindex=0 role=region aria-label=Errors><table><thead><tr><th scope=col>Error<td class=drawn>\
            \(column("Count", .count))<th scope=col>Of runs<th scope=col>\(users)\(column("First seen", .new))\
            \(column("Last seen", .last))<th scope=col>Versions</tr></thead>\
            <tbody>\(answer.errors.map { row($0, steps, users) })</tbody></table></div></section>

            """
    }

    private func column(_ title: String, _ order: ErrorsQuestion.Order) -> HTML {
        let isOn = question.order == order
        let link: HTML = """
            <a href="\(address.with(Self.sort, order.rawValue))"\(" aria-current=true", if: isOn)>\(title)</a>
            """
        // A first occurrence sorts new errors first, whatever their times.
        return "<th scope=col\(" aria-sort=descending", if: isOn)>\(link)"
    }

    private func row(_ entry: ErrorsAnswer.Entry, _ steps: TimeSteps, _ users: String) -> HTML {
        let name: HTML =
            entry.conditions.isEmpty
            ? "\(entry.name)" : "<a class=bad href=\"\(transactions(entry.conditions))\">\(entry.name)</a>"
        let cause: HTML = entry.cause.map { "<small>caused by \($0)</small>" } ?? ""
        let share = Words.percent(entry.count, of: entry.transactions)
        return """
            <tr><th scope=row>\(name)\(" <b class=fresh>new</b>", if: entry.isNew == true)\(cause)<small>\(entry.useCaseNames)</small>\
            <td class=drawn>\(chart(entry, steps))<td data-label=Count>\(entry.count)<td data-label="Of runs">\(share)\
            <td data-label="\(users)">\(users == "Users" ? entry.users : entry.installations)\
            <td data-label="First seen">\(HTML.moment(entry.firstMicroseconds, .dateAndMinute, in: frame.timeZone))\
            <td data-label="Last seen">\(HTML.moment(entry.lastMicroseconds, .dateAndMinute, in: frame.timeZone))\
            <td data-label=Versions class=versions>\(entry.versionWords)</tr>

            """
    }

    private func chart(_ entry: ErrorsAnswer.Entry, _ steps: TimeSteps) -> HTML {
        let counts = steps.counts(entry.rates.map { ($0.startMicroseconds, $0.count) })
        let columns = counts.indices.map { index in
            ColumnChart.Column(
                title: "\(steps.title(index)): \(counts[index])",
                parts: [(TransactionOutcome.failed.name, counts[index])])
        }
        return ColumnChart(columns: columns, hasScale: false).html
    }

    /// The newest transactions with an error, under the page's conditions.
    private func transactions(_ conditions: [FilterCondition]) -> String {
        links.transactions(address["use_case"].map { [("use_case", $0)] } ?? [], conditions: conditions)
    }
}

extension InspectedStore {
    func errorsPage() async throws -> InspectorResponse {
        let names = redactor.redacted(try await store.names())
        let (found, frame) = try await answering { try await errors() }
        let (question, answer) = found ?? (ErrorsQuestion(), ErrorsAnswer(errors: [], errorCount: 0))
        let volume = answer.errors.isEmpty ? nil : try await volume(errorConditions, of: .transactions)
        return .page(
            ErrorsPage(
                question: question, answer: redactor.redacted(answer), volume: volume, names: names, frame: frame
            ).html, status: frame.status)
    }

    func errorsFile() async throws -> InspectorResponse {
        let (question, answer) = try await errors()
        return .csv(redactor.redacted(AnyAnswer.errors(question, answer)).csv, name: "errors")
    }

    private var errorConditions: [(name: String, value: String)] {
        address.items(besides: [ErrorsPage.newSince, ErrorsPage.sort])
    }

    private func errors() async throws -> (ErrorsQuestion, ErrorsAnswer) {
        let times = try await times(try ListRequest(conditions: errorConditions, about: .transactions))
        let question = try errorsQuestion(each: TimeSteps.step(for: times))
        guard case .errors(_, let answer) = try await store.answer(.errors(question), where: errorConditions)
        else { return (question, ErrorsAnswer(errors: [], errorCount: 0)) }
        return (question, answer)
    }

    /// - Parameter step: In microseconds.
    private func errorsQuestion(each step: Int64) throws(QueryFailure) -> ErrorsQuestion {
        let (since, sort) = (address[ErrorsPage.newSince] ?? ErrorsPage.usualNewSince, address[ErrorsPage.sort] ?? "")
        guard let time = TimeExpression.microseconds(since, now: clock.wallMicroseconds()) else {
            throw .parameter(ErrorsPage.newSince, "“\(since)” is not a time. Give \(TimeExpression.forms).")
        }
        guard let order = sort.isEmpty ? .count : ErrorsQuestion.Order(rawValue: sort) else {
            let words = ErrorsQuestion.Order.allCases.map(\.rawValue).joined(separator: ", ")
            throw .parameter(ErrorsPage.sort, "“\(sort)” is not an order of errors. They are: \(words).")
        }
        return ErrorsQuestion(newSince: Date(microseconds: time), order: order, step: .microseconds(step))
    }
}
