package import WaybillCore

/// How many transactions ended how: a bar in proportion, and the counts in words.
package struct OutcomeBar {
    private let counts: [(outcome: TransactionOutcome, count: Int)]
    private let total: Int
    private let address: ((TransactionOutcome) -> String)?

    init(_ outcomes: [TransactionOutcome]) { self.init(Dictionary(grouping: outcomes, by: \.self).mapValues(\.count)) }

    /// - Parameters:
    ///   - outcomes: How many ended how.
    ///   - address: Where the count of an outcome leads; nil: nowhere.
    package init(_ outcomes: [TransactionOutcome: Int], address: ((TransactionOutcome) -> String)? = nil) {
        counts = Self.order.compactMap { outcome in outcomes[outcome].map { (outcome, $0) } }
        total = outcomes.values.reduce(0, +)
        self.address = address
    }

    /// What went well first, what went wrong last.
    package static let order: [TransactionOutcome] = [
        .succeeded, .open, .canceled, .abandoned, .interrupted, .timedOut, .failed,
    ]

    package var html: HTML {
        guard total > 0 else { return "" }
        return "<svg class=bar>\(segments)</svg>\n<ul class=outcomes>\(counts.map(item))</ul>\n"
    }

    private var segments: [HTML] {
        var before = 0
        return counts.map { outcome, count in
            let start = before.thousandths(of: total)
            before += count
            return
                "<rect class=\(outcome.name) x=\(percent: start)% width=\(percent: before.thousandths(of: total) - start)% />"
        }
    }

    private func item(_ outcome: TransactionOutcome, _ count: Int) -> HTML {
        let content: HTML = "\(outcome.icon)<b>\(count)</b> \(Words.outcome(outcome))"
        guard let address else { return "<li class=\(outcome.name)>\(content)" }
        return "<li class=\(outcome.name)><a href=\"\(address(outcome))\">\(content)</a>"
    }
}
