package import WaybillAnalysis
import WaybillCore

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
