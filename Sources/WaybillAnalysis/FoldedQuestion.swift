package import WaybillCore

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

    /// What becomes of it, when all were merged.
    ///
    /// - Throws: `.notFound` for what none of them has.
    func answer(_ found: consuming Partial) throws(WaybillError) -> Answer
}
