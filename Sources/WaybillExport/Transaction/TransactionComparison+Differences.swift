package import WaybillCore
import WaybillReading
import WaybillStore

/// What is different between two transactions.
extension TransactionComparison {
    /// Something that is not the same for a fact of both.
    package enum Difference: Hashable {
        /// The second has no such fact, or not as many.
        case onlyInFirst
        /// The first has no such fact, or not as many.
        case onlyInSecond
        /// How an exchange ended: a status code, or why there is none.
        case status(String, String)
        case outcome(String, String)
        /// nil where nothing went wrong.
        case error(RecordedError?, RecordedError?)
        /// nil where there is no such attribute.
        case attribute(String, String?, String?)
    }

    /// How many rows have a difference, or are so much earlier or later that it matters.
    package var differentCount: Int { rows.count { !$0.differences.isEmpty || isFarOff($0) } }

    /// Whether a fact of the second is earlier or later by a good part of the whole, and by more than clocks are
    /// uncertain.
    package func isFarOff(_ row: Row) -> Bool {
        guard let later = row.laterMicroseconds else { return false }
        return abs(later) > max(row.uncertaintyMicroseconds, length / 20)
    }
}

extension TransactionComparison.Row {
    /// In a fixed order; empty where nothing but the time is different.
    package var differences: [TransactionComparison.Difference] {
        guard let first else { return [.onlyInSecond] }
        guard let second else { return [.onlyInFirst] }
        var differences: [TransactionComparison.Difference] = []
        switch first.entry.kind {
        case .exchangeClosed:
            let (one, other) = (
                first.exchange?.result ?? first.entry.label, second.exchange?.result ?? second.entry.label
            )
            if one != other { differences.append(.status(one, other)) }
        case .closed where first.entry.label != second.entry.label:
            differences.append(.outcome(first.entry.words, second.entry.words))
        default: break
        }
        if first.entry.error != second.entry.error { differences.append(.error(first.entry.error, second.entry.error)) }
        let attributes = (first.entry.attributes, second.entry.attributes)
        for name in Set(attributes.0.keys).union(attributes.1.keys).sorted()
        where attributes.0[name] != attributes.1[name] {
            differences.append(.attribute(name, attributes.0[name]?.description, attributes.1[name]?.description))
        }
        return differences
    }

    /// How much later it came in the second than in the first, each since its opening, in microseconds; nil where one
    /// of them has it alone.
    package var laterMicroseconds: Int64? {
        guard let first, let second else { return nil }
        return second.time - first.time
    }

    /// By how much that may be wrong, since clocks were aligned; 0 where no other clock has a part in it.
    package var uncertaintyMicroseconds: Int64 { (first?.uncertainty ?? 0) + (second?.uncertainty ?? 0) }
}

extension TransactionRecord.Entry {
    /// Its label as people read it.
    package var words: String { label.spaced }
}
