package import WaybillCore

/// One of two groups of transactions, as far as a comparison goes.
package struct ComparedSample {
    /// What they have in common; nil: that they have no such value.
    package var value: String?
    package private(set) var transactions = 0
    /// Microseconds, of those that have both points.
    package private(set) var durations: [Int] = []
    private var outcomes: [TransactionOutcome: Int] = [:]

    /// A group without any transaction yet.
    package init(value: String?) { self.value = value }

    /// Adds a transaction.
    ///
    /// - Parameter duration: Microseconds; nil where it does not have both points in this order.
    package mutating func add(_ outcome: TransactionOutcome, duration: Int?) {
        transactions += 1
        outcomes[outcome, default: 0] += 1
        if let duration { durations.append(duration) }
    }

    fileprivate var ended: Int { transactions - (outcomes[.open] ?? 0) }

    fileprivate func count(_ measure: RateComparison.Measure) -> Int {
        switch measure {
        case .succeeded: outcomes[.succeeded] ?? 0
        case .failed: outcomes[.failed] ?? 0
        case .abandoned: [.abandoned, .interrupted, .timedOut].map { outcomes[$0] ?? 0 }.reduce(0, +)
        }
    }

    fileprivate mutating func group() -> CompareAnswer.Group {
        durations.sort()
        var values = durations
        return CompareAnswer.Group(
            value: value, transactions: transactions, ended: ended, statistics: DurationStatistics(&values))
    }
}

extension CompareAnswer {
    /// Compares the second with the first.
    package init(_ a: ComparedSample, _ b: ComparedSample) {
        var (a, b) = (a, b)
        self.init(a: a.group(), b: b.group(), rates: [], quantiles: [])
        rates = RateComparison.Measure.allCases.map { measure in
            RateComparison(measure, (a.count(measure), self.a), (b.count(measure), self.b))
        }
        quantiles = [50, 90, 99].map { percent in
            QuantileComparison(percent, (a.durations, self.a), (b.durations, self.b))
        }
    }
}

extension RateComparison {
    fileprivate init(
        _ measure: Measure, _ a: (count: Int, group: CompareAnswer.Group), _ b: (count: Int, group: CompareAnswer.Group)
    ) {
        self.measure = measure
        (aCount, bCount) = (a.count, b.count)
        self.a = Estimate(rateOf: a.count, of: a.group.ended)
        self.b = Estimate(rateOf: b.count, of: b.group.ended)
        difference = Estimate(from: self.a, to: self.b)
        verdict = Verdict(difference)
        sentence = ""
        sentence = inWords(a.group, b.group)
    }
}

extension QuantileComparison {
    /// - Parameter a: The sorted durations of the first group.
    fileprivate init(
        _ percent: Int, _ a: (durations: [Int], group: CompareAnswer.Group),
        _ b: (durations: [Int], group: CompareAnswer.Group)
    ) {
        self.percent = percent
        aMicroseconds = Estimate(percent: percent, of: a.durations)
        bMicroseconds = Estimate(percent: percent, of: b.durations)
        differenceMicroseconds = Estimate(percent: percent, from: a.durations, to: b.durations)
        verdict = Verdict(differenceMicroseconds)
        sentence = ""
        sentence = inWords(a.group, b.group)
    }
}

extension Verdict {
    fileprivate init<Value: Comparable & ExpressibleByIntegerLiteral>(_ difference: Estimate<Value>) {
        if let low = difference.low, low > 0 {
            self = .higher
        } else if let high = difference.high, high < 0 {
            self = .lower
        } else {
            self = difference.low == nil || difference.high == nil ? .tooFew : .noise
        }
    }
}
