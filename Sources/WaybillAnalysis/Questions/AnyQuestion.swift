public import Foundation
package import WaybillCore
public import WaybillReading
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
