package import Foundation
package import WaybillCore
package import WaybillQueries
import WaybillStore

extension Redacted<AnyAnswer> {
    /// - Parameter zone: The time zone of steps shorter than a day. Days are those of UTC.
    package func tables(about subject: String = "", in zone: TimeZone = .gmt) -> [AnswerTable] {
        switch value {
        case .summary(let question, let answer): [answer.table(each: question.stepMicroseconds), answer.errorsTable]
        case .duration(let question, let answer): answer.tables(question, subject, in: zone)
        case .measure(let question, let answer): [answer.table(question, subject)]
        case .transitions(_, let answer): [answer.table(subject)]
        case .funnel(let question, let answer): answer.tables(question, subject)
        case .dropOff(let question, let answer): [answer.table(question, subject)]
        case .legs(let question, let answer): answer.tables(question, subject)
        case .network(let question, let answer): answer.tables(question)
        case .compare(let question, let answer): [answer.table(question, subject)]
        case .errors(let question, let answer): [answer.table(question, subject)]
        case .why(_, let answer): [answer.table(subject)]
        }
    }

    /// The bounds of a certified answer, one row for each number; `nil` for any other answer.
    package var boundsTable: AnswerTable? { value.bounds.map(AnswerTable.init) }

    /// The bounds of a certified answer, or else its first table and those with the same columns.
    package var csv: [UInt8] { boundsTable?.csv ?? tables().csv }

    /// Whether no transaction or exchange counts; `value.whyEmpty` gives the reason.
    package var isEmpty: Bool {
        // A funnel without entries still has transactions, all of them lost.
        if case .funnel(_, let answer) = value { return answer.total.transactions == 0 }
        return value.whyEmpty != nil
    }
}

extension AnyAnswer {
    /// A sentence about the outcomes of the counted transactions; `nil` if the answer has its own.
    package var outcomesSentence: String? {
        switch self {
        case .summary, .duration, .measure, .network, .errors, .why: nil
        case .transitions(let question, _): Self.sentence(question.filter)
        case .funnel(let question, _): Self.sentence(question.filter)
        case .dropOff(let question, _): Self.sentence(question.filter)
        case .legs(let question, _): Self.sentence(question.filter)
        case .compare(let question, _): Self.sentence(question.filter)
        }
    }

    private static func sentence(_ filter: TransactionFilter) -> String {
        guard let counted = filter.outcomes else {
            return
                "Times are of transactions with any outcome. With outcome:succeeded in the filter, the others do not count."
        }
        let outcomes = TransactionOutcome.allCases.filter(counted.contains).map(Words.outcome)
        return "Times are of transactions with the outcome \(outcomes.joined(separator: " or "))."
    }
}

extension AnswerTable {
    init(_ bounds: AnswerBounds) {
        func number(_ value: Double?, _ row: AnswerBounds.Row, none: String = "?") -> Cell {
            Cell(value: .number(value), shown: value.map(row.text) ?? none)
        }
        let fields: [Field<AnswerBounds.Row>] = [
            Field("subject", "Of", .name) { .text($0.subject) },
            Field("measure", "Number", .word) { .text($0.measure) },
            Field("unit") { .text($0.unit.rawValue) }, Field("value", "Here") { number($0.value, $0, none: "-") },
            Field("low", "At least") { number($0.low, $0) }, Field("high", "At most") { number($0.high, $0) },
            Field("worst_low") { .init(value: .number($0.worstLow)) },
            Field("worst_high") { .init(value: .number($0.worstHigh)) },
            Field("is_verdict_safe") { .text($0.isVerdictSafe.map { "\($0)" }) },
        ]
        self.init(bounds.rows, fields, isShown: { $0.value ?? 0 != 0 })
        heading = ("", "Bounds for the missing facts")
        sentences = bounds.sentences
    }
}

extension Segmentation {
    package static func title(of value: String?) -> String { value ?? "(none)" }
}

extension SegmentedAnswer {
    func named(_ value: KeyPath<Segment, String?>) -> [(title: String, segment: Segment)] {
        [("all", total)] + segments.map { (Segmentation.title(of: $0[keyPath: value]), $0) }
    }

    func tables(
        _ value: KeyPath<Segment, String?>, by segmentation: Segmentation?, counting count: KeyPath<Segment, Int>,
        _ heading: (subject: String, text: String), _ scale: TimeScale, table: (Segment, _ title: String) -> AnswerTable
    ) -> [AnswerTable] {
        named(value).enumerated().map { index, row in
            var table = table(row.segment, row.title)
            let transactions = Words.count(row.segment[keyPath: count], "transaction")
            table.heading =
                index == 0 ? heading : ("\(segmentation?.description ?? "") \(row.title)", ", \(transactions)")
            table.scale = scale
            return table
        }
    }
}

extension TimeScale {
    /// Selects the unit from p99, since a phone that was suspended overnight may distort the maximum.
    init(_ statistics: [DurationStatistics]) {
        self.init(column: statistics.compactMap(\.p99Microseconds).max() ?? 0)
    }
}

extension SummaryAnswer {
    func table(each step: Int64) -> AnswerTable {
        let everyStep = AnswerTable.title(each: step)
        var fields: [Field<UseCaseSummary>] = [
            Field("use_case") { .count($0.useCase) }, Field("name", "Use case", .name) { .text($0.name, .strong) },
            Field("runs", "Runs") { .count($0.runs) },
            Field(nil, "Succeeded") { .share($0.outcomes[.succeeded] ?? 0, of: $0.runs, .good) },
        ]
        fields += TransactionOutcome.allCases.map { outcome in
            let isShown = outcome != .succeeded && useCases.contains { $0.outcomes[outcome] != nil }
            return Field(outcome.name, isShown ? Words.outcome(outcome) : nil) {
                .positive($0.outcomes[outcome] ?? 0, .outcome(outcome))
            }
        }
        let starts = useCases.flatMap(\.rates).map(\.startMicroseconds)
        fields += [
            Field("installations", "Installations") { .count($0.installations) },
            Field(nil, everyStep, .word) {
                .series($0.rates.map { ($0.startMicroseconds, $0.runs) }, each: step, from: starts)
            },
        ]
        fields += Field.durations({ $0.duration }, prefix: "closed_")
        fields += Field.durations({ $0.succeeded }, prefix: "succeeded_")
        var table = AnswerTable(useCases, fields)
        table.spare = ["Installations", everyStep]
        return table
    }

    private static let errorLimit = 20

    package var errorsTable: AnswerTable {
        let errors = useCases.flatMap { summary in summary.errors.map { (summary: summary, error: $0) } }
            .sorted { $0.error.count > $1.error.count }
        var fields: [Field<(summary: UseCaseSummary, error: UseCaseSummary.ErrorCount)>] = [
            Field("domain") { .text($0.error.domain) }, Field("code") { .count($0.error.code) },
            Field(nil, useCases.count > 1 ? "Use case" : nil, .name) { .text($0.summary.name) },
        ]
        fields += [
            Field(nil, "Error", .name) { row in
                .text(Words.error(row.error.error), .bad).listing([row.error.condition])
            }, Field("count", "Times") { .count($0.error.count) },
            Field(nil, useCases.count > 1 ? "Of its runs" : "Of all runs") {
                .share($0.error.count, of: $0.summary.runs)
            },
            Field("name") { .text($0.error.name) },
        ]
        var table = AnswerTable(errors, fields)
        table.spare = ["Of its runs", "Of all runs"]
        for index in errors.indices.dropFirst(Self.errorLimit) { table.rows[index].isShown = false }
        table.moreCount = max(0, errors.count - Self.errorLimit)
        table.addBars(errors.map { [.init(Int64($0.error.count), TransactionOutcome.failed.name)] })
        return table
    }
}

extension MeasureAnswer {
    func table(_ question: MeasureQuestion, _ subject: String) -> AnswerTable {
        let numbers: [(title: String, value: KeyPath<NumberStatistics, Double?>)] = [
            ("Min", \.minimum), ("p50", \.p50), ("p75", \.p75), ("p90", \.p90), ("p95", \.p95), ("p99", \.p99),
            ("Max", \.maximum), ("Mean", \.mean),
        ]
        var fields: [Field<(title: String, segment: MeasureSegment)>] = [
            Field("segment", question.segmentation?.description ?? "", .name) { .text($0.title) },
            Field("count", "Count") { .count($0.segment.statistics.count) },
        ]
        fields += numbers.map { number in
            Field(number.title.lowercased(), number.title) {
                AnswerTable.Cell(value: .number($0.segment.statistics[keyPath: number.value]))
            }
        }
        fields.append(Field("without") { .count($0.segment.without) })
        var table = AnswerTable(named(\.value), fields)
        table.heading = (subject, ", attribute \(question.attribute)")
        if total.without > 0 { table.notes = ["\(Words.count(total.without, "transaction")) had no such number."] }
        return table
    }
}

extension TransitionsAnswer {
    func table(_ subject: String) -> AnswerTable {
        var fields: [Field<Transition>] = [
            Field("from", "From", .name) { .text($0.from) }, Field("to", "To", .name) { .text($0.to) },
        ]
        fields += Field.durations({ $0.statistics }, count: "Count", titles: ["p50", "p90", "p99", "Max"])
        var table = AnswerTable(transitions, fields)
        table.heading = (subject, " from each event to the next")
        table.scale = TimeScale(transitions.map(\.statistics))
        table.addBars(transitions.map { [.init($0.statistics.p50Microseconds ?? 0)] })
        return table
    }
}
