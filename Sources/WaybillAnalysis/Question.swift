public import WaybillCore
import WaybillReading
package import WaybillStore

/// A question about many transactions or exchanges, as a value: it can be asked of any store and, as JSON, of a
/// collector.
///
/// There are ``SummaryQuestion``, ``DurationQuestion``, ``TransitionsQuestion``, ``FunnelQuestion``,
/// ``DropOffQuestion``, ``LegsQuestion``, ``NetworkQuestion`` and ``CompareQuestion``.
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
    /// A connection that sees the same state, for another thread; nil: there is none.
    var second: Connection?
    /// In microseconds since 1970: decides what has timed out.
    let now: Int64

    var connection: Connection { reader.connection }
}

extension StoreReader {
    /// Answers a question by one state of the store.
    ///
    /// - Parameter now: In microseconds since 1970: decides what has timed out.
    /// - Throws: As ``Question/answer(from:)``.
    package func answer<Asked: Question>(_ question: Asked, now: Int64) throws(WaybillError) -> Asked.Answer {
        func answer(_ second: Connection?) throws(WaybillError) -> Asked.Answer {
            try question.answer(from: AnswerContext(reader: self, second: second, now: now))
        }
        // The others are read by one thread, and need no second connection.
        guard question is TransitionsQuestion else { return try read { () throws(WaybillError) in try answer(nil) } }
        return try readByTwo(answer)
    }
}

extension AnswerContext {
    /// Why nothing counts: by the filter, where that lets nothing through; else in the words of the question.
    func whyNone(_ filter: TransactionFilter, otherwise: (String) -> String) throws(WaybillError) -> String {
        let found = try reader.count(filter, now: now)
        guard found > 0 else { return try reader.whyEmpty(filter, now: now) }
        return otherwise(found == 1 ? "the 1 transaction that counts" : "the \(found) transactions that count")
    }
}
