public import Foundation
package import WaybillCore
package import WaybillStore

/// Any of the questions, for programs that handle all of them.
///
/// In JSON, a question is one object. The member `question` names the kind, and the others are those of the question,
/// e.g. `{"question": "duration", "filter": {"use_case": 0}, "from": "requestSent", "to": "responseReceived"}`. Missing
/// members have defaults.
public enum AnyQuestion: Hashable, Sendable {
    /// The number of transactions by use case, time and outcome.
    case summary(SummaryQuestion)
    /// The time between two points of transactions.
    case duration(DurationQuestion)
    /// The distribution of a numeric attribute.
    case measure(MeasureQuestion)
    /// The pairs of consecutive events, and the time between them.
    case transitions(TransitionsQuestion)
    /// The number of transactions that reach each step.
    case funnel(FunnelQuestion)
    /// The last events of unfinished transactions.
    case dropOff(DropOffQuestion)
    /// The time that transactions spend in client, network and server.
    case legs(LegsQuestion)
    /// The durations and results of exchanges, by host, path or method.
    case network(NetworkQuestion)
    /// The differences between two groups of transactions.
    case compare(CompareQuestion)
    /// The errors that transactions closed with, and which of them are new.
    case errors(ErrorsQuestion)
    /// What sets some transactions apart from the others.
    case why(WhyQuestion)

    package enum Word: String, CaseIterable, Sendable, Codable {
        case summary, duration, measure, transitions, funnel
        case dropOff = "dropoff"
        case legs, network, compare, errors, why
    }

    private var named: (word: Word, question: any FoldedQuestion) {
        switch self {
        case .summary(let question): (.summary, question)
        case .duration(let question): (.duration, question)
        case .measure(let question): (.measure, question)
        case .transitions(let question): (.transitions, question)
        case .funnel(let question): (.funnel, question)
        case .dropOff(let question): (.dropOff, question)
        case .legs(let question): (.legs, question)
        case .network(let question): (.network, question)
        case .compare(let question): (.compare, question)
        case .errors(let question): (.errors, question)
        case .why(let question): (.why, question)
        }
    }

    package var word: Word { named.word }

    var asked: any FoldedQuestion { named.question }

    /// Returns the same question about other transactions, or about their exchanges for ``network(_:)``.
    public func about(_ filter: TransactionFilter) -> AnyQuestion {
        switch self {
        case .summary(let question): .summary(question.with(\.filter, filter))
        case .duration(let question): .duration(question.with(\.filter, filter))
        case .measure(let question): .measure(question.with(\.filter, filter))
        case .transitions(let question): .transitions(question.with(\.filter, filter))
        case .funnel(let question): .funnel(question.with(\.filter, filter))
        case .dropOff(let question): .dropOff(question.with(\.filter, filter))
        case .legs(let question): .legs(question.with(\.filter, filter))
        case .network(let question): .network(question.with(\.transactions, filter))
        case .compare(let question): .compare(question.with(\.filter, filter))
        case .errors(let question): .errors(question.with(\.filter, filter))
        case .why(let question): .why(question.with(\.filter, filter))
        }
    }
}

extension Question {
    fileprivate func with<Value>(_ member: WritableKeyPath<Self, Value>, _ value: Value) -> Self {
        var question = self
        question[keyPath: member] = value
        return question
    }
}

extension AnyQuestion {
    package func meant(
        by parameters: [(name: String, value: String)], _ reader: StoreReader, now: Int64
    ) throws -> AnyQuestion {
        if parameters.isEmpty { return self }
        if case .network(var network) = self {
            network.filter = try reader.filter(ListRequest(conditions: parameters, about: .exchanges), now: now)
            network.transactions = nil
            return .network(network)
        }
        return about(try reader.filter(ListRequest(conditions: parameters, about: .transactions), now: now))
    }

    package func answer(by reader: StoreReader, now: Int64) throws -> AnyAnswer {
        try asked.answered(by: reader, now: now)
    }

    /// `now` must be the same for all stores.
    ///
    /// - Parameter rows: Transactions that count instead of those in the store.
    package func partial(
        from reader: StoreReader, of rows: [TransactionRow]? = nil,
        besides elsewhere: KnownElsewhere = KnownElsewhere(),
        now: Int64
    ) throws(WaybillError) -> PartialAnswer {
        try reader.read { () throws(WaybillError) in
            let context = AnswerContext(
                reader: reader, now: now, isPartial: true, rows: rows, elsewhere: elsewhere)
            return PartialAnswer(question: self, found: try asked.partial(from: context.certifying(asked)))
        }
    }

    /// Decodes an ``AnyAnswer`` to the question.
    ///
    /// - Throws: An error if `json` is not an answer to this kind of question.
    public func answer(json: Data) throws -> AnyAnswer {
        guard try JSONDecoder.waybill().decode(Named.self, from: json).question == word else {
            throw WaybillError(.format, "This is the answer to another question than was asked.")
        }
        return try asked.answered(json: json)
    }
}

extension FoldedQuestion {
    fileprivate func answered(by reader: StoreReader, now: Int64) throws -> AnyAnswer {
        answered(try reader.answer(self, now: now))
    }

    fileprivate func answered(json: Data) throws -> AnyAnswer {
        answered(try JSONDecoder.waybill().decode(Answer.self, from: json))
    }

    fileprivate func answered(found: any PartialResult) throws -> AnyAnswer {
        guard let found = found as? Partial else {
            throw WaybillError(.setting, "This is a partial answer to another question.")
        }
        return answered(try answer(found))
    }
}

extension AnyQuestion: Codable {
    fileprivate struct Named: Codable { var question: Word }

    public init(from decoder: any Decoder) throws {
        self =
            switch try Named(from: decoder).question {
            case .summary: .summary(try SummaryQuestion(from: decoder))
            case .duration: .duration(try DurationQuestion(from: decoder))
            case .measure: .measure(try MeasureQuestion(from: decoder))
            case .transitions: .transitions(try TransitionsQuestion(from: decoder))
            case .funnel: .funnel(try FunnelQuestion(from: decoder))
            case .dropOff: .dropOff(try DropOffQuestion(from: decoder))
            case .legs: .legs(try LegsQuestion(from: decoder))
            case .network: .network(try NetworkQuestion(from: decoder))
            case .compare: .compare(try CompareQuestion(from: decoder))
            case .errors: .errors(try ErrorsQuestion(from: decoder))
            case .why: .why(try WhyQuestion(from: decoder))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        try Named(question: word).encode(to: encoder)
        try named.question.encode(to: encoder)
    }
}

extension AnyQuestion.Word {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let word = try container.decode(String.self)
        guard let known = Self(rawValue: word) else {
            let words = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "“\(word)” is no question. They are: \(words).")
        }
        self = known
    }
}

/// The result of a question from one store, or merged from several.
/// ## Usage
///
/// ```swift
/// var all = try question.partial(from: first, now: now)
/// for store in others { try all.merge(question.partial(from: store, now: now)) }
/// let answer = try all.answer()
/// ```
package struct PartialAnswer: Sendable {
    fileprivate let question: AnyQuestion
    fileprivate var found: any PartialResult

    package mutating func merge(_ other: consuming PartialAnswer) throws(WaybillError) {
        guard question == other.question else {
            throw WaybillError(.setting, "Partial answers to different questions cannot be put together.")
        }
        found.merge(any: other.found)
    }

    /// Adds why there are no other transactions, and the number of other exchanges.
    package mutating func add(_ reason: EmptyReason, exchangeCount: Int) {
        found.add(reason, exchangeCount: exchangeCount)
    }

    package consuming func answer() throws -> AnyAnswer { try question.asked.answered(found: found) }
}

extension PartialResult {
    fileprivate mutating func merge(any other: any PartialResult) { if let other = other as? Self { merge(other) } }
}

/// The answer to any of the questions, with the question. ``AnyQuestion/answer(json:)`` decodes its JSON.
///
/// In JSON, it is one object. The member `question` names the kind, and the others are those of the answer.
public enum AnyAnswer: Hashable, Sendable {
    /// To ``SummaryQuestion``.
    case summary(SummaryQuestion, SummaryAnswer)
    /// To ``DurationQuestion``.
    case duration(DurationQuestion, DurationAnswer)
    /// To ``MeasureQuestion``.
    case measure(MeasureQuestion, MeasureAnswer)
    /// To ``TransitionsQuestion``.
    case transitions(TransitionsQuestion, TransitionsAnswer)
    /// To ``FunnelQuestion``.
    case funnel(FunnelQuestion, FunnelAnswer)
    /// To ``DropOffQuestion``.
    case dropOff(DropOffQuestion, DropOffAnswer)
    /// To ``LegsQuestion``.
    case legs(LegsQuestion, LegsAnswer)
    /// To ``NetworkQuestion``.
    case network(NetworkQuestion, NetworkAnswer)
    /// To ``CompareQuestion``.
    case compare(CompareQuestion, CompareAnswer)
    /// To ``ErrorsQuestion``.
    case errors(ErrorsQuestion, ErrorsAnswer)
    /// To ``WhyQuestion``.
    case why(WhyQuestion, WhyAnswer)

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
        case .errors(let question, let answer): (.errors(question), answer)
        case .why(let question, let answer): (.why(question), answer)
        }
    }

    /// The question.
    public var question: AnyQuestion { both.question }

    /// One sentence on why nothing counts; `nil` if something does.
    public var whyEmpty: String? { both.answer.whyEmpty }

    /// The sampling weights behind the counts; `nil` without sampling.
    public var weighed: Weighing? { both.answer.weighed }

    /// The bounds of a certified answer; `nil` for any other.
    package var bounds: AnswerBounds? {
        switch self {
        case .summary(_, let answer): answer.bounds
        case .duration(_, let answer): answer.bounds
        case .funnel(_, let answer): answer.bounds
        case .compare(_, let answer): answer.bounds
        case .measure, .transitions, .dropOff, .legs, .network, .errors, .why: nil
        }
    }
}

extension AnyAnswer: Encodable {
    private enum Key: CodingKey { case question }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(question.word, forKey: .question)
        try both.answer.encode(to: encoder)
    }
}
