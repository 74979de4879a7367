/// The answer to any of the questions, with the question.
///
/// In JSON it is one object: the member `question` says what was asked, the others are those of the answer;
/// ``AnyQuestion/answer(json:)`` reads it.
public enum AnyAnswer: Hashable, Sendable {
    /// How many transactions of each use case there were, when, and how they ended.
    case summary(SummaryQuestion, SummaryAnswer)
    /// How long transactions take between two of their points.
    case duration(DurationQuestion, DurationAnswer)
    /// What a numeric attribute of transactions looks like.
    case measure(MeasureQuestion, MeasureAnswer)
    /// Which event follows which, and after how long.
    case transitions(TransitionsQuestion, TransitionsAnswer)
    /// How many transactions get how far.
    case funnel(FunnelQuestion, FunnelAnswer)
    /// What those did last that did not finish.
    case dropOff(DropOffQuestion, DropOffAnswer)
    /// Where the time of transactions goes: client, network, server.
    case legs(LegsQuestion, LegsAnswer)
    /// What exchanges took and how they ended, by host, path or method.
    case network(NetworkQuestion, NetworkAnswer)
    /// Whether two groups of transactions differ by more than noise.
    case compare(CompareQuestion, CompareAnswer)

    private var both: (question: AnyQuestion, answer: any QuestionAnswer) {
        switch self {
        case .summary(let question, let answer): (.summary(question), answer)
        case .duration(let question, let answer): (.duration(question), answer)
        case .measure(let question, let answer): (.measure(question), answer)
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

    /// How what counts was weighed; nil where nothing was sampled, and counts are what they say.
    public var weighed: Weighing? { both.answer.weighed }
}

extension AnyAnswer: Encodable {
    private enum Key: CodingKey { case question }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(question.word, forKey: .question)
        try both.answer.encode(to: encoder)
    }
}
