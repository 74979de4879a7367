import WaybillCore
import WaybillStore

/// What is collected of the transactions that a question is about, and what is said of these.
package struct Folded<Collected: Mergeable>: Mergeable {
    var collected: Collected
    var asked: AskedTransactions

    package mutating func merge(_ other: consuming Folded) {
        collected.merge(other.collected)
        asked.merge(other.asked)
    }

    consuming func map<Other>(_ change: (consuming Collected) -> Other) -> Folded<Other> {
        Folded<Other>(collected: change(collected), asked: asked)
    }
}

/// What hands out transactions, and can be cut into ranges of them.
protocol TransactionRange {
    var transactions: TransactionCursor { get }

    /// As many ranges one after the other as there are connections, each for a thread of its own.
    func ranges(by connections: [Connection]) -> [Self]
}

extension AnswerContext {
    /// Collects something of all transactions, by as many threads as there are connections; where they are few, by one.
    ///
    /// - Parameters:
    ///   - none: What there is before the first one.
    ///   - collect: Goes through a range of them.
    func fold<Range: TransactionRange, Collected: Mergeable>(
        _ all: Range, into none: Collected, _ collect: (inout Range, inout Collected) throws(WaybillError) -> Void
    ) throws(WaybillError) -> Folded<Collected> {
        let ranges = all.ranges(by: all.transactions.count > soonRead ? connections : [reader.connection])
        let partials = try onThreads(ranges.count) { (number) throws(WaybillError) in
            var (range, collected) = (ranges[number], none)
            try collect(&range, &collected)
            return (collected: collected, weights: range.transactions.weights)
        }
        var (collected, weights) = (none, Weights())
        for partial in partials {
            collected.merge(partial.collected)
            weights.merge(partial.weights)
        }
        return Folded(collected: collected, asked: try AskedTransactions(all.transactions, weights, self))
    }
}
