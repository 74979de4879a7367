#if Collector
import WaybillCore
import WaybillReport

/// An answer for people.
protocol AnswerText {
    /// Whether nothing counted.
    var isEmpty: Bool { get }
    /// All lines.
    ///
    /// - Parameter width: Columns that a line may take.
    func lines(_ palette: Palette, width: Int) -> [String]
}

extension Answer {
    /// As text.
    ///
    /// - Parameters:
    ///   - query: What was asked; decides what the text says of it.
    ///   - subject: What it was asked about, e.g. the use case.
    /// - Throws: ``WaybillError`` where this is the answer to another question.
    func text(to query: Query, about subject: String) throws -> any AnswerText {
        switch (query, self) {
        case (.summary(let query), .summary(let answer)): SummaryText(query: query, answer: answer)
        case (.duration(let query), .duration(let answer)): DurationText(query: query, answer: answer, subject: subject)
        case (.transitions, .transitions(let answer)): TransitionsText(answer: answer, subject: subject)
        case (.funnel(let query), .funnel(let answer)): FunnelText(query: query, answer: answer, subject: subject)
        case (.dropOff, .dropOff(let answer)): DropOffText(answer: answer, subject: subject)
        case (.legs(let query), .legs(let answer)): LegsText(query: query, answer: answer, subject: subject)
        case (.network(let query), .network(let answer)): NetworkText(query: query, answer: answer)
        case (.compare(let query), .compare(let answer)): CompareText(query: query, answer: answer, subject: subject)
        default: throw WaybillError(.transport, "The collector answered another question than was asked; is it the same version?")
        }
    }
}
#endif
