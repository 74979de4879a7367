#if Collector
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

extension Words {
    /// An outcome in its colour.
    static func cell(_ outcome: TransactionOutcome) -> Cell {
        let ink: Ink =
            switch outcome {
            case .succeeded: .green
            case .failed: .red
            case .canceled, .abandoned, .interrupted, .timedOut: .yellow
            case .open: .cyan
            }
        return Cell(Words.outcome(outcome), ink)
    }

    /// The outcome of a transaction in its colour, and of one that was interrupted how its process ended.
    static func cell(_ summary: TransactionSummary) -> Cell {
        let outcome = cell(summary.outcome)
        return summary.endedBy.map { Cell("\(outcome.text) (\($0.name))", outcome.ink) } ?? outcome
    }

    /// How an exchange stands, in its colour: `200`, `mocked 200`, `failed`.
    static func cell(_ exchange: ExchangeRecord) -> Cell {
        let status = exchange.exchange.closing ?? exchange.exchange.status.map { "\($0)" }
        switch exchange.state {
        case .completed: return Cell(status ?? "completed", (exchange.exchange.status ?? 0) < 400 ? .green : .red)
        case .mocked: return Cell(["mocked", status].compactMap(\.self).joined(separator: " "), .magenta)
        case .failed: return Cell(exchange.exchange.closing ?? "failed", .red)
        case .canceled, .interrupted: return Cell(state(exchange.state), .yellow)
        case .inProgress: return Cell(state(.inProgress), .cyan)
        }
    }

    /// `fact 7 of source 01890a5d-... was rejected: ...`.
    static func rejection(_ rejection: Rejection) -> String {
        let fact = rejection.sequence.map { "fact \($0)" } ?? "the fact at index \(rejection.index)"
        return "\(fact) of source \(rejection.source) was rejected: \(rejection.reason)"
    }
}

extension SourceNames {
    /// A source's name in its colour.
    func cell(_ source: GUID) -> Cell { Cell(self[source], ink(lane: lane(of: source))) }

    /// The colour of a source by its place among the sources.
    func ink(lane: Int) -> Ink { Self.inks[lane % Self.inks.count] }

    private static let inks: [Ink] = [.cyan, .magenta, .blue, .yellow]
}
#endif
