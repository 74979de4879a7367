#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check budgets for durations, failures and new errors, in CI for example.",
        discussion: """
            BUDGETS is a file of JSON, with a list of objects. Each names a use case and at least one limit:

              [{ "use_case": "login", "p95_ms": 400, "failed_percent": 2, "no_new_errors_since": "24h" }]

              use_case               the name or code; required
              filter, since, until   which of its transactions count, as in waybill list
              p50_ms, p95_ms, p99_ms the longest that successful ones may take
              failed_percent         the largest share of failed ones among those that have ended
              no_new_errors_since    no error may have begun at or after this time: 24h, a date

            Exits with 1 if a budget is broken, or if nothing counts for it.

            EXAMPLES
              waybill check budgets.json ./collected
              waybill check budgets.json https://collector.example.com --json
            """)

    @Argument(help: "The file with the budgets.", completion: .file(extensions: ["json"]))
    var budgets: String

    @OptionGroup var place: StoreOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let budgets = try Budget.read(URL(filePath: budgets))
        let store = try await place.opened()
        var checked: [CheckedLimit] = []
        for budget in budgets {
            checked += try await budget.checked(in: store, now: CommandClock.current.wallMicroseconds())
        }
        if json {
            try Terminal.write(json: checked)
        } else {
            let rows = Redactor.command.redacted(checked).value
            var table = TextTable(columns: [
                ("USE CASE", .left), ("LIMIT", .left), ("FOUND", .left), ("VERDICT", .left),
            ])
            table.rows = rows.map { [Cell($0.useCase, .bold), Cell($0.limit), Cell($0.found), $0.verdict.cell] }
            try Terminal.write(table.lines(.standardOutput()))
        }
        if checked.contains(where: { $0.verdict != .holds }) { throw ExitCode.failure }
    }
}

extension CheckedLimit.Verdict {
    fileprivate var cell: Cell {
        switch self {
        case .holds: Cell(rawValue, .green)
        case .broken: Cell(rawValue, .red)
        case .undecided: Cell(rawValue, .yellow)
        }
    }
}
#endif
