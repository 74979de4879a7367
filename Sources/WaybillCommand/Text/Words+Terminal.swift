#if Collector
import WaybillCore
import WaybillReport

extension Words {
    /// An outcome in its colour.
    static func cell(_ outcome: Outcome) -> Cell {
        let ink: Ink =
            switch outcome {
            case .succeeded: .green
            case .failed: .red
            case .canceled, .abandoned, .interrupted, .timedOut: .yellow
            case .open: .cyan
            }
        return Cell(Words.outcome(outcome), ink)
    }

    /// `fact 7 of source 01890a5d-... was rejected: ...`.
    static func rejection(_ rejection: Rejection) -> String {
        let fact = rejection.sequence.map { "fact \($0)" } ?? "the fact at index \(rejection.index)"
        return "\(fact) of source \(rejection.source) was rejected: \(rejection.reason)"
    }
}

extension SourceNames {
    /// A source's name in its colour.
    func cell(_ source: GUID) -> Cell { Cell(self[source], Self.inks[lane(of: source) % Self.inks.count]) }

    private static let inks: [Ink] = [.cyan, .magenta, .blue, .yellow]
}
#endif
