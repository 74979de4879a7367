import Foundation
public import WaybillCore
package import WaybillStore

/// A question about many transactions or exchanges, as a value: it can be asked of any store and, as JSON, of a
/// collector.
///
/// There are ``SummaryQuestion``, ``DurationQuestion``, ``MeasureQuestion``, ``TransitionsQuestion``,
/// ``FunnelQuestion``, ``DropOffQuestion``, ``LegsQuestion``, ``NetworkQuestion`` and ``CompareQuestion``.
public protocol Question<Answer>: Hashable, Sendable, Codable {
    /// What comes of it.
    associatedtype Answer: QuestionAnswer

    /// Answers it by one state of a store.
    ///
    /// - Parameter context: What the library's own questions read; another one puts the answers to some of them
    ///   together.
    /// - Throws: ``WaybillCore/WaybillError``: `.notFound` for an event, an attribute or a value that nothing has, with
    ///   the nearest name that something has; `.setting` for a question that makes no sense, or needs a use case and
    ///   names none.
    func answer(from context: AnswerContext) throws(WaybillError) -> Answer
}

/// What comes of a ``Question``.
public protocol QuestionAnswer: Hashable, Sendable, Codable {
    /// One sentence on why nothing counts; nil where something does.
    var whyEmpty: String? { get }
    /// How what counts was weighed; nil where nothing was sampled, and counts are what they say.
    var weighed: Weighing? { get }
}

/// What a question is answered from: one state of a store, at one time.
public struct AnswerContext {
    let reader: StoreReader
    /// Connections that see the same state, each for another thread; none: there are none.
    var others: [Connection] = []
    /// In microseconds since 1970: decides what has timed out.
    let now: Int64
    /// Whether other stores have some of the transactions.
    var isPartial = false
    /// Up to so many transactions are read by one thread.
    var soonRead = 5_000

    var connection: Connection { reader.connection }
    /// All that see the state.
    var connections: [Connection] { [connection] + others }
}

extension StoreReader {
    /// Answers a question by one state of the store.
    ///
    /// - Parameter now: In microseconds since 1970: decides what has timed out.
    /// - Throws: As ``Question/answer(from:)``.
    package func answer<Asked: Question>(_ question: Asked, now: Int64) throws(WaybillError) -> Asked.Answer {
        try read(withOthers: otherCount()) { (others) throws(WaybillError) in
            try question.answer(from: AnswerContext(reader: self, others: others, now: now))
        }
    }
}

/// A question whose answer is made of partials: of what some of the transactions say, apart from the others.
///
/// Within a store those are ranges of its transactions, each for a thread of its own. They may be in several stores,
/// too: each has some of the transactions as a whole, with all their exchanges; what belongs to none is in one of the
/// stores. Each store knows the sources that took part in what it has, with their clocks, and all names of events. A
/// transaction is in one store with what was begun below it, as far as the question looks at that: filters by parent,
/// root or child, folded lists, and segments by parent.
package protocol FoldedQuestion: Question {
    /// What some of the transactions say.
    associatedtype Partial: Mergeable

    /// What those of a store say.
    ///
    /// - Throws: As ``Question/answer(from:)``; but where the store has only some of them, what is not there may be in
    ///   another one.
    func partial(from context: AnswerContext) throws(WaybillError) -> Partial

    /// Returns the answer after all partials were merged.
    ///
    /// - Throws: `.notFound` for a name or value that none of them has.
    func answer(_ found: consuming Partial) throws(WaybillError) -> Answer

    /// Returns the question and an answer to it as one value.
    func answered(_ answer: Answer) -> AnyAnswer
}

/// What was found in some transactions, and can be put together with what was found in others.
///
/// It knows things by what they are called everywhere, by IDs, names and codes, and not by the numbers that one store
/// gives them: so what comes of one store can be put together with what comes of another.
package protocol Mergeable: Sendable {
    /// Takes over what was found in other transactions. In whatever order they are merged, the same answer comes of
    /// it.
    mutating func merge(_ other: consuming Self)
}

extension Dictionary where Value: Mergeable {
    /// Takes over the values of another one: under a key that both have, both together.
    mutating func merge(_ other: consuming Self) {
        for (key, value) in other {
            if let index = index(forKey: key) { values[index].merge(value) } else { self[key] = value }
        }
    }
}
