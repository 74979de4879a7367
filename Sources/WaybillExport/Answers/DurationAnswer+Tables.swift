import Foundation
import WaybillCore
package import WaybillQueries

extension DurationAnswer {
    /// Returns the table of all segments, that of the histogram, and if the question has steps, one over time for each
    /// segment.
    func tables(_ question: DurationQuestion, _ subject: String, in zone: TimeZone) -> [AnswerTable] {
        let tables = [table(question, subject, in: zone), histogramTable(question)]
        guard let length = question.stepMicroseconds else { return tables }
        let steps = FixedSteps(each: length, in: zone)
        let rows = named(\.value)
        let longest = rows.flatMap { $0.segment.steps ?? [] }.compactMap(\.statistics.p95Microseconds).max() ?? 0
        return tables
            + self.tables(
                \.value, by: question.segmentation, counting: \.statistics.count,
                (
                    "all",
                    ", \(AnswerTable.title(each: length).lowercased()) in \(steps.zoneName(at: total.steps?.first?.startMicroseconds ?? 0))"
                ),
                TimeScale(rows.map(\.segment.statistics))
            ) { $0.trend($1, steps, to: longest) }
    }

    private func table(_ question: DurationQuestion, _ subject: String, in zone: TimeZone) -> AnswerTable {
        let (from, to) = (Words.point(question.from), Words.point(question.to))
        let rows = named(\.value)
        let steps = question.stepMicroseconds.map { FixedSteps(each: $0, in: zone) }
        var fields: [Field<(title: String, segment: DurationSegment)>] = [
            Field("segment", question.segmentation?.description ?? "", .name) { .text($0.title) }
        ]
        if steps != nil { fields.append(Field("start") { _ in .text(nil) }) }
        fields += Field.numbers(
            { $0.segment.whole }, titles: ["Min", "p50", "p75", "p90", "p95", "p99", "Max", "Mean"])
        if let steps {
            fields.append(Field(nil, "Failed") { $0.segment.whole.failedShare })
            let first = Field<(title: String, segment: DurationSegment)>(nil, "First seen", .word) { row in
                .text(row.segment.steps?.first.map { steps.label($0.startMicroseconds) })
            }
            if question.segmentation != nil { fields.append(first) }
        }
        var table = AnswerTable(rows, fields)
        table.heading = (subject, " from \(from) to \(to)")
        table.scale = TimeScale(rows.map(\.segment.statistics))
        if steps != nil { table.spare = ["p75", "Mean", "Min", "p90", "Max", "p99"] }
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
        return AnswerTable.Listing(conditions: conditions)
    }
}

extension Field {
    /// The columns that all tables with durations have in files.
    fileprivate static func numbers(
        _ numbers: @escaping (Row) -> DurationSegment.Step, titles: [String]
    ) -> [Field] {
        durations({ numbers($0).statistics }, count: "Count", titles: titles) + [
            Field("without_end") { .count(numbers($0).withoutEnd) }, Field("reversed") { .count(numbers($0).reversed) },
        ]
            + TransactionOutcome.allCases.map { outcome in
                Field(outcome.name) { .count(numbers($0).outcomes[outcome] ?? 0) }
            }
    }
}

extension DurationSegment {
    fileprivate var whole: Step {
        Step(
            start: Date(microseconds: steps?.first?.startMicroseconds ?? 0), statistics: statistics,
            withoutEnd: withoutEnd, reversed: reversed, outcomes: outcomes)
    }

    /// - Parameter longest: The duration that the full width of a bar represents, in microseconds.
    fileprivate func trend(_ title: String, _ steps: FixedSteps, to longest: Int64) -> AnswerTable {
        let rows = self.steps ?? []
        var fields: [Field<Step>] = [
            Field("segment") { _ in .text(title) }, Field("start") { .text(Words.iso8601($0.startMicroseconds)) },
            Field(nil, "From", .word) { .text(steps.label($0.startMicroseconds)) },
        ]
        fields += Field.numbers({ $0 }, titles: ["p50", "p95"])
        fields += TransactionOutcome.allCases.filter { outcomes[$0] != nil }.map { outcome in
            Field(nil, Words.outcome(outcome)) { .positive($0.outcomes[outcome] ?? 0, .outcome(outcome)) }
        }
        if withoutEnd > 0 { fields.append(Field(nil, "No end") { .positive($0.withoutEnd, .faint) }) }
        var table = AnswerTable(rows, fields)
        table.spare = TransactionOutcome.allCases.reversed().map(Words.outcome).filter { $0 != "failed" } + ["No end"]
        table.addBars(rows.map(\.bar), of: max(1, longest))
        return table
    }
}

extension DurationSegment.Step {
    fileprivate var failedShare: AnswerTable.Cell {
        let failed = outcomes[.failed] ?? 0
        return failed > 0 ? .share(failed, of: statistics.count, .bad) : .zero
    }

    /// p50, and what p95 is above it.
    fileprivate var bar: [AnswerTable.Part] {
        let (p50, p95) = (statistics.p50Microseconds ?? 0, statistics.p95Microseconds ?? 0)
        return [.init(max(0, p50), "p50"), .init(max(0, p95.subtracting(max(0, p50))), "p95")]
    }
}
