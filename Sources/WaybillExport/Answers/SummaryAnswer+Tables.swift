package import Foundation
package import WaybillAnalysis
import WaybillCore

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
