/// The answer to any of the questions, with the question.
///
/// In JSON it is one object: the member `question` says what was asked, the others are those of the answer;
/// ``AnyQuestion/answer(json:)`` reads it.
public enum AnyAnswer: Hashable, Sendable {
    case summary(SummaryQuestion, SummaryAnswer)
    case duration(DurationQuestion, DurationAnswer)
    case transitions(TransitionsQuestion, TransitionsAnswer)
    case funnel(FunnelQuestion, FunnelAnswer)
    case dropOff(DropOffQuestion, DropOffAnswer)
    case legs(LegsQuestion, LegsAnswer)
    case network(NetworkQuestion, NetworkAnswer)
    case compare(CompareQuestion, CompareAnswer)

    private var both: (question: AnyQuestion, answer: any QuestionAnswer) {
        switch self {
        case .summary(let question, let answer): (.summary(question), answer)
        case .duration(let question, let answer): (.duration(question), answer)
        case .transitions(let question, let answer): (.transitions(question), answer)
        case .funnel(let question, let answer): (.funnel(question), answer)
        case .dropOff(let question, let answer): (.dropOff(question), answer)
        case .legs(let question, let answer): (.legs(question), answer)
        case .network(let question, let answer): (.network(question), answer)
        case .compare(let question, let answer): (.compare(question), answer)
        }
    }

    /// What was asked.
    public var question: AnyQuestion { both.question }

    /// One sentence on why nothing counts; nil where something does.
    public var whyEmpty: String? { both.answer.whyEmpty }
}

extension AnyAnswer: Encodable {
    private enum Key: CodingKey { case question }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(question.word, forKey: .question)
        try both.answer.encode(to: encoder)
    }
}
