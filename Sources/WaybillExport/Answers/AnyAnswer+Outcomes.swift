package import WaybillAnalysis
import WaybillCore
import WaybillReading

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
