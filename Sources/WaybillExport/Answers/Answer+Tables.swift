package import WaybillCore
package import WaybillQueries
import WaybillStore

extension Redacted<AnyAnswer> {
    /// Returns the answer as tables. Files contain the first one, and those with the same columns.
    package func tables(about subject: String = "") -> [AnswerTable] {
        switch value {
        case .summary(let question, let answer): [answer.table(each: question.stepMicroseconds), answer.errorsTable]
        case .duration(let question, let answer): [answer.table(question, subject), answer.histogramTable(question)]
        case .measure(let question, let answer): [answer.table(question, subject)]
        case .transitions(_, let answer): [answer.table(subject)]
        case .funnel(let question, let answer): answer.tables(question, subject)
        case .dropOff(let question, let answer): [answer.table(question, subject)]
        case .legs(let question, let answer): answer.tables(question, subject)
        case .network(_, let answer): answer.tables
        case .compare(let question, let answer): [answer.table(question, subject)]
        }
    }

    package var csv: [UInt8] { tables().csv }

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
        case .summary, .duration, .measure, .network: nil
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
    private static let seriesLimit = 24

    func table(each step: Int64) -> AnswerTable {
        let everyStep =
            switch step {
            case 86_400_000_000: "Each day"
            case 3_600_000_000: "Each hour"
            default: "Each \(Words.duration(step))"
            }
        var fields: [Field<UseCaseSummary>] = [
            Field("use_case") { .count($0.useCase) }, Field("name", "Use case", .name) { .text($0.name, .strong) },
            Field("runs", "Runs") { .count($0.runs) },
            Field(nil, "Succeeded") { .share($0.outcomes[.succeeded] ?? 0, of: $0.runs, .good) },
        ]
        fields += TransactionOutcome.allCases.map { outcome in
            let isShown = outcome != .succeeded && useCases.contains { $0.outcomes[outcome] != nil }
            return Field(outcome.name, isShown ? Words.outcome(outcome) : nil) { summary in
                guard let count = summary.outcomes[outcome] else { return .count(0, as: "-", .faint) }
                return .count(count, .outcome(outcome))
            }
        }
        let starts = useCases.flatMap(\.rates).map(\.startMicroseconds)
        fields += [
            Field("installations", "Installations") { .count($0.installations) },
            Field(nil, everyStep, .word) {
                AnswerTable.Cell(value: .series(runs($0.rates, each: max(1, step), from: starts)))
            },
        ]
        fields += Field.durations({ $0.duration }, prefix: "closed_")
        fields += Field.durations({ $0.succeeded }, prefix: "succeeded_")
        var table = AnswerTable(useCases, fields)
        table.spare = ["Installations", everyStep]
        return table
    }

    /// If there are too many steps, several are combined.
    private func runs(_ rates: [UseCaseSummary.Rate], each step: Int64, from starts: [Int64]) -> [Int] {
        guard let first = starts.min(), let last = starts.max() else { return [] }
        let count = (last - first) / step + 1
        var runs = [Int](repeating: 0, count: Int(min(count, Int64(Self.seriesLimit))))
        for rate in rates {
            let place = Double((rate.startMicroseconds - first) / step) / Double(count)
            runs[Int(place * Double(runs.count))] += rate.runs
        }
        return runs
    }

    private static let errorLimit = 20

    package var errorsTable: AnswerTable {
        let errors = useCases.flatMap { summary in summary.errors.map { (summary: summary, error: $0) } }
            .sorted { $0.error.count > $1.error.count }
        var fields: [Field<(summary: UseCaseSummary, error: UseCaseSummary.ErrorCount)>] = [
            Field("domain") { .text($0.error.domain) }, Field("code") { .count($0.error.code) },
            Field(nil, useCases.count > 1 ? "Use case" : nil, .word) { .text($0.summary.name) },
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
        for index in errors.indices.dropFirst(Self.errorLimit) { table.rows[index].isShown = false }
        table.moreCount = max(0, errors.count - Self.errorLimit)
        table.addBars(errors.map { [.init(Int64($0.error.count), TransactionOutcome.failed.name)] })
        return table
    }
}

extension DurationAnswer {
    func table(_ question: DurationQuestion, _ subject: String) -> AnswerTable {
        let (from, to) = (Words.point(question.from), Words.point(question.to))
        let rows = named(\.value)
        var fields: [Field<(title: String, segment: DurationSegment)>] = [
            Field("segment", question.segmentation?.description ?? "", .name) { .text($0.title) }
        ]
        fields += Field.durations(
            { $0.segment.statistics }, count: "Count",
            titles: ["Min", "p50", "p75", "p90", "p95", "p99", "Max", "Mean"])
        fields += [
            Field("without_end") { .count($0.segment.withoutEnd) }, Field("reversed") { .count($0.segment.reversed) },
        ]
        fields += TransactionOutcome.allCases.map { outcome in
            Field(outcome.name) { .count($0.segment.outcomes[outcome] ?? 0) }
        }
        var table = AnswerTable(rows, fields)
        table.heading = (subject, " from \(from) to \(to)")
        table.scale = TimeScale(rows.map(\.segment.statistics))
        table.notes = [Words.counted(total.outcomes)].compactMap(\.self)
        if total.withoutEnd > 0 {
            table.notes.append("\(Words.count(total.withoutEnd, "transaction")) had \(from), and not \(to).")
        }
        if total.reversed > 0 {
            table.notes.append("\(Words.count(total.reversed, "transaction")) had \(to) before \(from).")
        }
        return table
    }

    /// Consecutive empty bars are one row.
    func histogramTable(_ question: DurationQuestion) -> AnswerTable {
        let bars = total.histogram
        let shown = bars.indices.filter { bars[$0].count > 0 || bars[max(0, $0 - 1)].count > 0 }.map { bars[$0] }
        let fields: [Field<DurationSegment.Bar>] = [
            Field(nil, "Duration", .word) { $0.count > 0 ? .text($0.range) : .text("…", .faint) },
            Field(nil, "Transactions") { bar in
                var cell = bar.count > 0 ? AnswerTable.Cell.count(bar.count) : .empty
                cell.listing = bar.count > 0 ? bar.listing(question) : nil
                return cell
            }, Field(nil, "Of all") { $0.count > 0 ? .share($0.count, of: total.statistics.count) : .empty },
        ]
        var table = AnswerTable(shown, fields)
        table.addBars(shown.map { [.init(Int64($0.count))] })
        return table
    }
}

extension DurationSegment.Bar {
    package var range: String { "\(Words.roundDuration(fromMicroseconds)) to \(Words.roundDuration(toMicroseconds))" }

    /// The transactions of the bar; `nil` unless the question is about whole durations, since lists filter only these.
    package func listing(_ question: DurationQuestion) -> AnswerTable.Listing? {
        guard question.from == .begun, question.to == .finished else { return nil }
        // Durations are whole microseconds, which makes these conditions exact.
        var conditions = [FilterCondition.tookLessThan(.microseconds(toMicroseconds))]
        if fromMicroseconds > 0 { conditions.insert(.tookMoreThan(.microseconds(fromMicroseconds - 1)), at: 0) }
        return AnswerTable.Listing(terms: conditions)
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
