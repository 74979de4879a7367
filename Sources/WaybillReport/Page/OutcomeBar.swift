import WaybillCore

/// How many transactions ended how: a bar in proportion, and the counts in words.
struct OutcomeBar {
    private let counts: [(outcome: Outcome, count: Int)]
    private let total: Int

    init(_ outcomes: [Outcome]) {
        let grouped = Dictionary(grouping: outcomes, by: \.self)
        counts = [.succeeded, .open, .canceled, .abandoned, .interrupted, .timedOut, .failed].compactMap { outcome in
            grouped[outcome].map { (outcome, $0.count) }
        }
        total = outcomes.count
    }

    var html: HTML {
        guard total > 0 else { return "" }
        return "<svg class=bar>\(segments)</svg>\n<ul class=outcomes>\(counts.map(item))</ul>\n"
    }

    private var segments: [HTML] {
        var before = 0
        return counts.map { outcome, count in
            let start = before * 1000 / total
            before += count
            return "<rect class=\(outcome.name) x=\(percent: start)% width=\(percent: before * 1000 / total - start)% />"
        }
    }

    private func item(_ outcome: Outcome, _ count: Int) -> HTML {
        "<li class=\(outcome.name)>\(outcome.icon)<b>\(count)</b> \(Words.outcome(outcome))"
    }
}
