import Foundation
public import WaybillCore
import WaybillReading
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
