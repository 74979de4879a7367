public import Foundation
package import WaybillCore
package import WaybillStore

/// Any of the questions, for programs that handle all of them.
///
/// In JSON it is one object: the member `question` says which it is, the others are its own, e.g.
/// `{"question": "duration", "filter": {"use_case": 0}, "from": "requestSent", "to": "responseReceived"}`. What is left
/// out is as by default.
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

    /// Which it is, in JSON and on the command line.
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

    /// Which it is.
    package var word: Word { named.word }

    /// What is asked.
    var asked: any FoldedQuestion { named.question }

    /// What it is together with its answer, which `ask` finds.
    private func answered(by ask: some Asking) throws -> AnyAnswer {
        switch self {
        case .summary(let question): .summary(question, try ask.answer(question))
        case .duration(let question): .duration(question, try ask.answer(question))
        case .measure(let question): .measure(question, try ask.answer(question))
        case .transitions(let question): .transitions(question, try ask.answer(question))
        case .funnel(let question): .funnel(question, try ask.answer(question))
        case .dropOff(let question): .dropOff(question, try ask.answer(question))
        case .legs(let question): .legs(question, try ask.answer(question))
        case .network(let question): .network(question, try ask.answer(question))
        case .compare(let question): .compare(question, try ask.answer(question))
        }
    }

    /// The same about other transactions; of the question about the network, about their exchanges.
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

/// A way to an answer.
private protocol Asking {
    func answer<Asked: FoldedQuestion>(_ question: Asked) throws -> Asked.Answer
}

extension AnyQuestion {
    private struct ReaderAsking: Asking {
        var reader: StoreReader
        var now: Int64

        func answer<Asked: FoldedQuestion>(_ question: Asked) throws -> Asked.Answer {
            try reader.answer(question, now: now)
        }
    }

    /// Answers it by one state of a store.
    ///
    /// - Parameter now: In microseconds since 1970: decides what has timed out.
    /// - Throws: As ``Question/answer(from:)``.
    package func answer(by reader: StoreReader, now: Int64) throws -> AnyAnswer {
        try answered(by: ReaderAsking(reader: reader, now: now))
    }

    private struct PartialAsking: Asking {
        var partial: any ErasedPartial

        func answer<Asked: FoldedQuestion>(_ question: Asked) throws -> Asked.Answer {
            guard let partial = partial as? PartialOf<Asked> else {
                throw WaybillError(.setting, "This is a partial answer to another question.")
            }
            return try question.answer(partial.found)
        }
    }

    /// What a store says that has some of the transactions, as ``FoldedQuestion`` describes it.
    ///
    /// - Parameter now: In microseconds since 1970, the same for all stores: decides what has timed out.
    /// - Throws: `.setting` for a question that makes no sense; `.store` where the store cannot be read.
    package func partial(from reader: StoreReader, now: Int64) throws(WaybillError) -> AnyPartial {
        func partial<Asked: FoldedQuestion>(_ question: Asked) throws(WaybillError) -> any ErasedPartial {
            try reader.read { () throws(WaybillError) in
                PartialOf<Asked>(
                    found: try question.partial(from: AnswerContext(reader: reader, now: now, isPartial: true)))
            }
        }
        return AnyPartial(self, try partial(asked))
    }

    /// Answers it by what all transactions say.
    func answer(by partial: any ErasedPartial) throws -> AnyAnswer {
        try answered(by: PartialAsking(partial: partial))
    }

    private struct JSONAsking: Asking {
        var json: Data

        func answer<Asked: FoldedQuestion>(_ question: Asked) throws -> Asked.Answer {
            try JSONDecoder.waybill().decode(Asked.Answer.self, from: json)
        }
    }

    /// Reads its answer.
    ///
    /// - Parameter json: An ``AnyAnswer``.
    /// - Throws: For what is none, or the answer to another question.
    public func answer(json: Data) throws -> AnyAnswer {
        guard try JSONDecoder.waybill().decode(Named.self, from: json).question == word else {
            throw WaybillError(.format, "This is the answer to another question than was asked.")
        }
        return try answered(by: JSONAsking(json: json))
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
    /// Whether it looks at who was begun below whom: then transactions of one family have to be in one store.
    package var looksAtFamilies: Bool {
        switch subject {
        case .transactions(let filter, let segmentation): filter.looksAtFamilies || segmentation.isByParent
        case .exchanges(let filter, let transactions):
            filter.conditions.contains(where: \.looksAtFamilies) || transactions?.looksAtFamilies == true
        }
    }

    /// Of how many transactions one is enough to answer it; 1: it looks at all, or an attribute that it names has to be
    /// looked for among all.
    package var readsOneIn: Int {
        // Clocks are compared by all exchanges of a client.
        if case .legs = self { return 1 }
        switch subject {
        case .transactions(let filter, let segmentation): return segmentation.isByAttribute ? 1 : filter.sampledOneIn
        case .exchanges(let filter, let transactions):
            return max(filter.sampledOneIn, transactions?.sampledOneIn ?? 1)
        }
    }

    /// What a question is about, and what tells them apart.
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

extension FilterCondition {
    fileprivate var looksAtFamilies: Bool {
        switch self {
        case .parent, .root, .child: true
        case .not(let condition): condition.looksAtFamilies
        case .useCase, .event, .error, .attribute, .app, .appVersion, .device, .osVersion, .os, .ended, .sampled,
            .oneIn,
            .tookMoreThan, .tookLessThan, .text, .status, .exchange, .state, .host, .path, .method, .receivedMoreThan,
            .receivedLessThan, .closeCode:
            false
        }
    }
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

/// What some of the transactions say of a question: those of one store, or of several whose partials were merged.
///
/// ## Usage
///
/// ```swift
/// var all = try question.partial(from: first, now: now)
/// for store in others { try all.merge(question.partial(from: store, now: now)) }
/// let answer = try all.answer()
/// ```
package struct AnyPartial: Sendable {
    private let question: AnyQuestion
    private var partial: any ErasedPartial

    init(_ question: AnyQuestion, _ partial: any ErasedPartial) { (self.question, self.partial) = (question, partial) }

    /// Takes over what other transactions say.
    ///
    /// - Throws: `.setting` where they say it of another question.
    package mutating func merge(_ other: consuming AnyPartial) throws(WaybillError) {
        guard question == other.question else {
            throw WaybillError(.setting, "Partial answers to different questions cannot be put together.")
        }
        partial.merge(erased: other.partial)
    }

    /// The answer that one store would give that had all of them.
    ///
    /// - Throws: As ``Question/answer(from:)``.
    package consuming func answer() throws -> AnyAnswer { try question.answer(by: partial) }
}

extension AnyQuestion {
    /// The answer that one store would give that had the transactions of several.
    ///
    /// - Parameter next: Gives what one store says after the other, and nil when there are no more.
    /// - Throws: As ``Question/answer(from:)``; `.store` where there is no store.
    package func answer(byPartials next: () async throws -> AnyPartial?) async throws -> AnyAnswer {
        guard var all = try await next() else {
            throw WaybillError(.store, "There is no store to answer by; an empty one is one.")
        }
        while let partial = try await next() { try all.merge(partial) }
        return try all.answer()
    }
}

/// What some transactions say of any of the questions.
protocol ErasedPartial: Sendable {
    /// Takes over another one of the same question.
    mutating func merge(erased other: any ErasedPartial)
}

/// What some transactions say of one kind of question.
struct PartialOf<Asked: FoldedQuestion>: ErasedPartial {
    var found: Asked.Partial

    mutating func merge(erased other: any ErasedPartial) {
        if let other = other as? PartialOf { found.merge(other.found) }
    }
}

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
