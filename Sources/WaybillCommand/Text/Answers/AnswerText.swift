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

extension Answer {
    /// As text.
    ///
    /// - Parameters:
    ///   - query: What was asked; decides what the text says of it.
    ///   - subject: What it was asked about, e.g. the use case.
    /// - Throws: ``WaybillError`` where this is the answer to another question.
    func text(to query: Query, about subject: String) throws -> any AnswerText {
        // By the question alone, so that a new one that has no text yet does not compile.
        switch query {
        case .summary(let query):
            if case .summary(let answer) = self { return SummaryText(query: query, answer: answer) }
        case .duration(let query):
            if case .duration(let answer) = self { return DurationText(query: query, answer: answer, subject: subject) }
        case .transitions:
            if case .transitions(let answer) = self { return TransitionsText(answer: answer, subject: subject) }
        case .funnel(let query):
            if case .funnel(let answer) = self { return FunnelText(query: query, answer: answer, subject: subject) }
        case .dropOff:
            if case .dropOff(let answer) = self { return DropOffText(answer: answer, subject: subject) }
        case .legs(let query):
            if case .legs(let answer) = self { return LegsText(query: query, answer: answer, subject: subject) }
        case .network(let query):
            if case .network(let answer) = self { return NetworkText(query: query, answer: answer) }
        case .compare(let query):
            if case .compare(let answer) = self { return CompareText(query: query, answer: answer, subject: subject) }
        }
        throw WaybillError(.transport, "The collector answered another question than was asked; is it the same version?")
    }
}
#endif
