public import Foundation
package import WaybillCore
package import WaybillStore

/// Any of the questions, for programs that handle all of them.
///
/// In JSON a question is one object. The member `question` names the kind, and the others are those of the question, e.g.
/// `{"question": "duration", "filter": {"use_case": 0}, "from": "requestSent", "to": "responseReceived"}`. Missing
/// members have their default values.
public enum AnyQuestion: Hashable, Sendable {
    /// How many transactions of each use case there were, when, and how they ended.
    case summary(SummaryQuestion)
    /// How long transactions take between two of their points.
    case duration(DurationQuestion)
    /// What a numeric attribute of transactions looks like.
    case measure(MeasureQuestion)
    /// Which event follows which, and after how long.
    case transitions(TransitionsQuestion)
    /// How many transactions get how far.
    case funnel(FunnelQuestion)
    /// What those did last that did not finish.
    case dropOff(DropOffQuestion)
    /// Where the time of transactions goes: client, network, server.
    case legs(LegsQuestion)
    /// What exchanges took and how they ended, by host, path or method.
    case network(NetworkQuestion)
    /// Whether two groups of transactions differ by more than noise.
    case compare(CompareQuestion)

    /// The name of a kind of question, in JSON and on the command line.
    package enum Word: String, CaseIterable, Sendable, Codable {
        case summary, duration, measure, transitions, funnel
        case dropOff = "dropoff"
        case legs, network, compare
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
        }
    }

    /// The kind of the question.
    package var word: Word { named.word }

    /// The question itself.
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
    /// Answers the question from one state of a store.
    ///
    /// - Parameter now: The time in microseconds since 1970, which decides what has timed out.
    /// - Throws: As ``Question/answer(from:)``.
    package func answer(by reader: StoreReader, now: Int64) throws -> AnyAnswer {
        func answer<Asked: FoldedQuestion>(_ question: Asked) throws -> AnyAnswer {
            question.answered(try reader.answer(question, now: now))
        }
        return try answer(asked)
    }

    /// Returns what a store that has some of the transactions says, as ``FoldedQuestion`` describes it.
    ///
    /// - Parameter now: The time in microseconds since 1970, the same for all stores. It decides what has timed out.
    /// - Throws: `.setting` for a question that makes no sense; `.store` if the store can't be read.
    package func partial(from reader: StoreReader, now: Int64) throws(WaybillError) -> PartialAnswer {
        try reader.read { () throws(WaybillError) in
            let context = AnswerContext(reader: reader, now: now, isPartial: true)
            return PartialAnswer(question: self, found: try asked.partial(from: context))
        }
    }

    /// Decodes the answer to the question.
    ///
    /// - Parameter json: An ``AnyAnswer``.
    /// - Throws: An error if `json` is not an answer, or is the answer to another question.
    public func answer(json: Data) throws -> AnyAnswer {
        guard try JSONDecoder.waybill().decode(Named.self, from: json).question == word else {
            throw WaybillError(.format, "This is the answer to another question than was asked.")
        }
        func answer<Asked: FoldedQuestion>(_ question: Asked) throws -> AnyAnswer {
            question.answered(try JSONDecoder.waybill().decode(Asked.Answer.self, from: json))
        }
        return try answer(asked)
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

extension AnyQuestion {
    /// Whether the question looks at parents and children. If so, all transactions of a family must be in one store.
    package var looksAtFamilies: Bool {
        switch subject {
        case .transactions(let filter, let segmentation): filter.looksAtFamilies || segmentation.isByParent
        case .exchanges(let filter, let transactions):
            filter.conditions.contains(where: \.looksAtFamilies) || transactions?.looksAtFamilies == true
        }
    }

    /// The number of transactions of which one is enough for the answer. It is 1 if the question reads all, or names an
    /// attribute that must be looked for among all.
    package var readsOneIn: Int {
        // All exchanges of a client are needed to compare the clocks.
        if case .legs = self { return 1 }
        switch subject {
        case .transactions(let filter, let segmentation): return segmentation.isByAttribute ? 1 : filter.sampledOneIn
        case .exchanges(let filter, let transactions):
            return max(filter.sampledOneIn, transactions?.sampledOneIn ?? 1)
        }
    }

    /// What a question counts, and the segments that it tells apart.
    private enum Subject {
        case transactions(TransactionFilter, Segmentation?)
        case exchanges(ExchangeFilter, TransactionFilter?)
    }

    private var subject: Subject {
        switch self {
        case .summary(let question): .transactions(question.filter, nil)
        case .duration(let question): .transactions(question.filter, question.segmentation)
        case .measure(let question): .transactions(question.filter, question.segmentation)
        case .transitions(let question): .transactions(question.filter, nil)
        case .funnel(let question): .transactions(question.filter, question.segmentation)
        case .dropOff(let question): .transactions(question.filter, nil)
        case .legs(let question): .transactions(question.filter, question.segmentation)
        case .network(let question): .exchanges(question.filter, question.transactions)
        case .compare(let question):
            switch question.groups {
            case .values(let segmentation, _, _): .transactions(question.filter, segmentation)
            case .windows: .transactions(question.filter, nil)
            }
        }
    }
}

extension TransactionFilter {
    fileprivate var looksAtFamilies: Bool { isFolded || conditions.contains(where: \.looksAtFamilies) }
}

extension Segmentation? {
    fileprivate var isByParent: Bool {
        switch self {
        case .parentOutcome, .parentUseCase: true
        case nil, .attribute, .hour, .day, .ended, .app, .appVersion, .device, .os, .osVersion: false
        }
    }

    fileprivate var isByAttribute: Bool { if case .attribute = self { true } else { false } }
}

/// What some of the transactions contribute to an answer: those of one store, or of several stores that were merged.
///
/// ## Usage
///
/// ```swift
/// var all = try question.partial(from: first, now: now)
/// for store in others { try all.merge(question.partial(from: store, now: now)) }
/// let answer = try all.answer()
/// ```
package struct PartialAnswer: Sendable {
    fileprivate let question: AnyQuestion
    fileprivate var found: any Mergeable

    /// Adds what other transactions contribute.
    ///
    /// - Throws: `.setting` if `other` belongs to another question.
    package mutating func merge(_ other: consuming PartialAnswer) throws(WaybillError) {
        guard question == other.question else {
            throw WaybillError(.setting, "Partial answers to different questions cannot be put together.")
        }
        found.merge(any: other.found)
    }

    /// Returns the answer that a single store with all the transactions would give.
    ///
    /// - Throws: As ``Question/answer(from:)``.
    package consuming func answer() throws -> AnyAnswer {
        func answer<Asked: FoldedQuestion>(_ question: Asked, _ found: any Mergeable) throws -> AnyAnswer {
            guard let found = found as? Asked.Partial else {
                throw WaybillError(.setting, "This is a partial answer to another question.")
            }
            return question.answered(try question.answer(found))
        }
        return try answer(question.asked, found)
    }
}

extension Mergeable {
    /// Merges a value of the same type; the question says which type that is.
    fileprivate mutating func merge(any other: any Mergeable) { if let other = other as? Self { merge(other) } }
}

/// The answer to any of the questions, with the question.
///
/// In JSON it is one object. The member `question` names the kind of question, and the others are those of the answer.
/// Call ``AnyQuestion/answer(json:)`` to decode it.
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

    /// The question.
    public var question: AnyQuestion { both.question }

    /// A sentence on why nothing counts; `nil` if something does.
    public var whyEmpty: String? { both.answer.whyEmpty }

    /// How sampled transactions were weighed; `nil` if nothing was sampled and the counts are exact.
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
