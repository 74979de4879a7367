import Foundation
public import WaybillCore
package import WaybillStore

/// A question about many transactions or exchanges, for any store or, as JSON, for a collector.
///
/// The questions are ``SummaryQuestion``, ``DurationQuestion``, ``MeasureQuestion``, ``TransitionsQuestion``,
/// ``FunnelQuestion``, ``DropOffQuestion``, ``LegsQuestion``, ``NetworkQuestion``, ``CompareQuestion``,
/// ``ErrorsQuestion`` and ``WhyQuestion``.
public protocol Question<Answer>: Hashable, Sendable, Codable {
    /// The type of the answer.
    associatedtype Answer: QuestionAnswer

    /// Answers the question from one state of a store.
    ///
    /// - Parameter context: The state that the library's own questions read. Your own question combines their answers.
    /// - Throws: ``WaybillCore/WaybillError``: `.notFound` for an unknown event, attribute or value, with the nearest
    ///   known name; `.setting` for an invalid question, or one without its use case.
    func answer(from context: AnswerContext) throws(WaybillError) -> Answer
}

/// An answer to a ``Question``.
public protocol QuestionAnswer: Hashable, Sendable, Codable {
    /// One sentence on why nothing counts; `nil` if something does.
    var whyEmpty: String? { get }
    /// The sampling weights behind the counts; `nil` without sampling.
    var weighed: Weighing? { get }
}

/// One state of a store at one time, which answers a question.
public struct AnswerContext {
    let reader: StoreReader
    var others: [Connection] = []
    let now: Int64
    /// Whether other stores have some of the transactions.
    var isPartial = false
    /// Transactions that count instead of those in the store.
    var rows: [TransactionRow]?
    var elsewhere = KnownElsewhere()
    /// For bounds; `nil` unless the question is certified.
    var owed: OwedFacts?
    var soonRead = 5_000

    var connection: Connection { reader.connection }
    var connections: [Connection] { [connection] + others }
}

/// What a database knows of transactions that are not in the store of an answer.
package struct KnownElsewhere: Sendable {
    package var attributes: Set<String> = []
    /// The number of open ones by the source that leads them; `nil` if unknown.
    package var open: [GUID: Int64]?
    /// Those before the time from which on errors are new.
    package var errors: Set<RecordedError> = []

    package init() {}
}

extension StoreReader {
    package func answer<Asked: Question>(_ question: Asked, now: Int64) throws(WaybillError) -> Asked.Answer {
        try read(withOthers: otherCount()) { (others) throws(WaybillError) in
            try question.answer(from: AnswerContext(reader: self, others: others, now: now))
        }
    }
}

/// A question whose answer merges partial results of several stores, or of ranges of one store.
///
/// Each store must have whole transactions with their sources, clocks and names, and with their families if the
/// question depends on those.
package protocol FoldedQuestion: Question {
    associatedtype Filter: ListFilter
    associatedtype Partial: PartialResult

    var filter: Filter { get }
    var rowSelection: RowSelection { get }
    /// Without those for ``points`` and ``segmentation``.
    var rowContents: RowContents { get }
    var points: [TransactionPoint] { get }
    var segmentation: Segmentation? { get }
    var isCertified: Bool? { get }

    /// Returns the partial result of a store. If other stores have more transactions, missing names are no error.
    func partial(from context: AnswerContext) throws(WaybillError) -> Partial

    func answer(_ found: consuming Partial) throws(WaybillError) -> Answer

    func answered(_ answer: Answer) -> AnyAnswer
}

extension FoldedQuestion where Filter == TransactionFilter {
    package var rowSelection: RowSelection { RowSelection(transactions: filter) }
}

extension FoldedQuestion {
    package var rowContents: RowContents { RowContents(readsSources: false) }
    package var points: [TransactionPoint] { [] }
    package var segmentation: Segmentation? { nil }
    package var isCertified: Bool? { nil }

    public func answer(from context: AnswerContext) throws(WaybillError) -> Answer {
        try answer(partial(from: context.certifying(self)))
    }
}

/// A partial result that merges with others. It uses IDs, names and codes, not the row numbers of one store.
package protocol Mergeable: Sendable {
    /// The order of merges must not matter.
    mutating func merge(_ other: consuming Self)
}

package protocol PartialResult: Mergeable {
    /// Adds why there are no others, and the number of other exchanges.
    mutating func add(_ reason: EmptyReason, exchangeCount: Int)
}

extension Dictionary where Value: Mergeable {
    mutating func merge(_ other: consuming Self) {
        for (key, value) in other {
            if let index = index(forKey: key) { values[index].merge(value) } else { self[key] = value }
        }
    }
}
