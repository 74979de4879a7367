#if Collector
import WaybillAnalysis
import WaybillCollector
import WaybillCore

/// An answer for people.
protocol AnswerText {
    /// Whether nothing counted.
    var isEmpty: Bool { get }
    /// All lines.
    ///
    /// - Parameter width: Columns that a line may take.
    func lines(_ palette: Palette, width: Int) -> [String]
}

extension Redacted<AnyAnswer> {
    /// As text.
    ///
    /// - Parameter subject: What it was asked about, e.g. the use case.
    func text(about subject: String) -> any AnswerText {
        switch value {
        case .summary(let query, let answer): SummaryText(query: query, answer: answer)
        case .duration(let query, let answer): DurationText(query: query, answer: answer, subject: subject)
        case .measure(let query, let answer): MeasureText(query: query, answer: answer, subject: subject)
        case .transitions(_, let answer): TransitionsText(answer: answer, subject: subject)
        case .funnel(let query, let answer): FunnelText(query: query, answer: answer, subject: subject)
        case .dropOff(_, let answer): DropOffText(answer: answer, subject: subject)
        case .legs(let query, let answer): LegsText(query: query, answer: answer, subject: subject)
        case .network(let query, let answer): NetworkText(query: query, answer: answer)
        case .compare(let query, let answer): CompareText(query: query, answer: answer, subject: subject)
        }
    }
}
#endif
