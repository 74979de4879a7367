package import Foundation
import WaybillCore
package import WaybillQueries
import WaybillStore

/// Answers as tables for a program: one row for each line that people read, the total first where there are segments.
extension Redacted<AnyAnswer> {
    /// Times in microseconds.
    package var csv: CSVTable {
        switch value {
        case .summary(_, let answer): answer.csv
        case .duration(_, let answer): answer.csv
        case .measure(_, let answer): answer.csv
        case .transitions(_, let answer): answer.csv
        case .funnel(_, let answer): answer.csv
        case .dropOff(_, let answer): answer.csv
        case .legs(_, let answer): answer.csv
        case .network(_, let answer): answer.csv
        case .compare(_, let answer): answer.csv
        }
    }
}

extension Segmentation {
    /// What stands for a value that is not there.
    package static func title(of value: String?) -> String { value ?? "(none)" }
}

extension SummaryAnswer {
    fileprivate var csv: CSVTable {
        var table = CSVTable(
            columns: ["use_case", "name", "runs"] + TransactionOutcome.allCases.map(\.name) + ["installations"]
                + DurationStatistics.csvColumns.map { "closed_\($0)" }
                + DurationStatistics.csvColumns.map { "succeeded_\($0)" })
        table.rows = useCases.map { summary in
            [.integer(summary.useCase), .text(summary.name), .integer(summary.runs)]
                + TransactionOutcome.allCases.map { .integer(summary.outcomes[$0] ?? 0) } + [
                    .integer(summary.installations)
                ] + summary.duration.csvValues + summary.succeeded.csvValues
        }
        return table
    }
}

extension DurationAnswer {
    fileprivate var csv: CSVTable {
        var table = CSVTable(
            columns: ["segment"] + DurationStatistics.csvColumns + ["without_end", "reversed"]
                + TransactionOutcome.allCases.map(\.name))
        table.rows = ([("all", total)] + segments.map { (Segmentation.title(of: $0.value), $0) }).map {
            title, segment in
            [.text(title)] + segment.statistics.csvValues + [.integer(segment.withoutEnd), .integer(segment.reversed)]
                + TransactionOutcome.allCases.map { .integer(segment.outcomes[$0] ?? 0) }
        }
        return table
    }
}

extension MeasureAnswer {
    fileprivate var csv: CSVTable {
        var table = CSVTable(columns: [
            "segment", "count", "min", "p50", "p75", "p90", "p95", "p99", "max", "mean", "without",
        ])
        table.rows = ([("all", total)] + segments.map { (Segmentation.title(of: $0.value), $0) }).map {
            title, segment in
            let numbers = segment.statistics
            let values = [
                numbers.minimum, numbers.p50, numbers.p75, numbers.p90, numbers.p95, numbers.p99, numbers.maximum,
                numbers.mean,
            ]
            return [.text(title), .integer(numbers.count)] + values.map { CSVTable.Value.number($0) }
                + [.integer(segment.without)]
        }
        return table
    }
}

extension TransitionsAnswer {
    fileprivate var csv: CSVTable {
        var table = CSVTable(columns: ["from", "to"] + DurationStatistics.csvColumns)
        table.rows = transitions.map { [.text($0.from), .text($0.to)] + $0.statistics.csvValues }
        return table
    }
}

extension FunnelAnswer {
    fileprivate var csv: CSVTable {
        var table = CSVTable(
            columns: ["segment", "step", "transactions", "reached", "lost"] + DurationStatistics.csvColumns)
        for (title, segment) in [("all", total)] + segments.map({ (Segmentation.title(of: $0.value), $0) }) {
            table.rows += segment.steps.map { step in
                [
                    .text(title), .text(step.point.description), .integer(segment.transactions), .integer(step.reached),
                    .integer(step.lost),
                ] + step.statistics.csvValues
            }
        }
        return table
    }
}

extension DropOffAnswer {
    fileprivate var csv: CSVTable {
        var table = CSVTable(columns: ["last_event"] + DurationStatistics.csvColumns)
        table.rows = lastEvents.map { last in
            // Without an event there are no times, but they count.
            [.text(last.event), .integer(last.count)] + last.statistics.csvValues.dropFirst()
        }
        return table
    }
}

extension LegsAnswer {
    fileprivate var csv: CSVTable {
        var table = CSVTable(columns: ["segment", "leg", "total_us"] + DurationStatistics.csvColumns)
        for (title, segment) in [("all", total)] + segments.map({ (Segmentation.title(of: $0.value), $0) }) {
            table.rows += segment.legs.map { leg in
                [.text(title), .text(leg.leg.rawValue), .integer(leg.totalMicroseconds)] + leg.statistics.csvValues
            }
        }
        return table
    }
}

extension NetworkAnswer {
    fileprivate var csv: CSVTable {
        var table = CSVTable(
            columns: [
                "role", "host", "path", "method", "count", "successful", "redirection", "client_error", "server_error",
                "other", "none",
                "sent_byte_count", "received_byte_count",
            ] + DurationStatistics.csvColumns.map { "whole_\($0)" }
                + DurationStatistics.csvColumns.map { "failed_\($0)" }
                + DurationStatistics.csvColumns.map { "first_byte_\($0)" })
        table.rows = groups.map { group in
            let statuses = group.statuses
            let counts: [Int64] = [
                Int64(group.count), statuses.successful, statuses.redirection, statuses.clientError,
                statuses.serverError,
                statuses.other,
                statuses.none, group.sentByteCount, group.receivedByteCount,
            ]
            return [.text(group.role.name), .text(group.host), .text(group.path), .text(group.method)]
                + counts.map { .integer($0) }
                + group.whole.csvValues + group.failed.csvValues + group.firstByte.csvValues
        }
        return table
    }
}

extension CompareAnswer {
    fileprivate var csv: CSVTable {
        var table = CSVTable(columns: ["measure", "a", "b", "difference", "low", "high", "verdict"])
        table.rows = rates.map { rate in
            [
                .text(rate.measure.rawValue), .number(rate.a.value), .number(rate.b.value),
                .number(rate.difference.value), .number(rate.difference.low), .number(rate.difference.high),
                .text(rate.verdict.rawValue),
            ]
        }
        table.rows += quantiles.map { quantile in
            let difference = quantile.differenceMicroseconds
            return [
                .text("p\(quantile.percent)_us"), .integer(quantile.aMicroseconds.value),
                .integer(quantile.bMicroseconds.value),
                .integer(difference.value), .integer(difference.low), .integer(difference.high),
                .text(quantile.verdict.rawValue),
            ]
        }
        return table
    }
}

/// Rows of values for a program: RFC 4180, with a header line.
package struct CSVTable: Sendable {
    enum Value: Sendable {
        case text(String?)
        case integer(Int64?)
        case number(Double?)

        static func integer(_ count: Int) -> Value { .integer(Int64(count)) }
    }

    let columns: [String]
    var rows: [[Value]] = []

    init(columns: [String]) { self.columns = columns }

    /// UTF-8.
    package var bytes: [UInt8] {
        var csv = CSVFormat()
        for row in [columns.map { .text($0) }] + rows {
            csv.beginRow([])
            for value in row {
                switch value {
                case .text(let text): csv.text("", text)
                case .integer(let number): csv.integer("", number)
                case .number(let number): csv.number("", number)
                }
            }
            csv.endRow()
        }
        return csv.bytes
    }
}

/// Columns that say how long something took, in microseconds.
extension DurationStatistics {
    static let csvColumns = ["count", "min_us", "p50_us", "p75_us", "p90_us", "p95_us", "p99_us", "max_us", "mean_us"]

    var csvValues: [CSVTable.Value] {
        [
            .integer(count), .integer(minimumMicroseconds), .integer(p50Microseconds), .integer(p75Microseconds),
            .integer(p90Microseconds), .integer(p95Microseconds), .integer(p99Microseconds),
            .integer(maximumMicroseconds),
            .integer(meanMicroseconds),
        ]
    }
}

/// What a summary of one use case has beyond the line that it is in a table.
extension SummaryAnswer {
    /// How many ended how over time: a row for each step, as a chart of them has columns.
    ///
    /// - Parameters:
    ///   - step: Of the rates, in microseconds, at most an hour.
    ///   - zone: Whose days the steps are, where they are days.
    package func outcomesTable(each step: Int64, in zone: TimeZone) -> CSVTable {
        let rates = useCases.first?.rates ?? []
        return OutcomeSteps(rates, steps: TimeSteps(covering: rates.map(\.startMicroseconds), each: step, in: zone)).csv
    }

    /// How many gave which error, a row for each.
    package var errorsTable: CSVTable {
        var table = CSVTable(columns: ["domain", "code", "count", "name"])
        table.rows = (useCases.first?.errors ?? []).map {
            [.text($0.domain), .integer($0.code), .integer($0.count), .text($0.name)]
        }
        return table
    }
}

extension UseCaseSummary {
    /// Those that are over, which rates are of, as in ``CompareAnswer/Group/ended``.
    package var ended: Int { runs - (outcomes[.open] ?? 0) }
}

extension AnyAnswer {
    /// Which outcomes the times of an answer are of, in a sentence; `nil` for answers that say so of themselves.
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
        guard !filter.outcomes.isEmpty else {
            return
                "Times are of transactions with any outcome. With outcome:succeeded in the filter, the others do not count."
        }
        let outcomes = TransactionOutcome.allCases.filter(filter.outcomes.contains).map(Words.outcome)
        return "Times are of transactions with the outcome \(outcomes.joined(separator: " or "))."
    }
}
