package import WaybillCore

package struct ComparedSample: Mergeable {
    package var value: String?
    package private(set) var durations = Durations()
    private var outcomes: [TransactionOutcome: Int64] = [:]
    private var ended = Weights()

    package init(value: String?) { self.value = value }

    package mutating func add(_ outcome: TransactionOutcome, duration: Int64?, weight: Int64 = Weights.one) {
        outcomes[outcome, default: 0].addWeight(weight)
        if outcome != .open { ended.add(weight) }
        if let duration { durations.append(duration, weight: weight) }
    }

    package mutating func merge(_ other: consuming ComparedSample) {
        durations.merge(other.durations)
        outcomes.merge(other.outcomes, uniquingKeysWith: { $0.addingWeight($1) })
        ended.merge(other.ended)
    }

    fileprivate func rate(_ measure: RateComparison.Measure) -> Estimate<Double> { ended.rate(of: weights(measure)) }

    fileprivate func count(_ measure: RateComparison.Measure) -> Int { Weights.count(weights(measure)) }

    private func weights(_ measure: RateComparison.Measure) -> Int64 {
        switch measure {
        case .succeeded: outcomes[.succeeded] ?? 0
        case .failed: outcomes[.failed] ?? 0
        case .abandoned: [.abandoned, .interrupted, .timedOut].reduce(0) { $0.addingWeight(outcomes[$1] ?? 0) }
        }
    }

    func tally(_ measure: RateComparison.Measure) -> OwedFacts.Tally {
        OwedFacts.Tally(part: count(measure), whole: Weights.count(ended.sum))
    }

    fileprivate func group() -> CompareAnswer.Group {
        var values = durations
        return CompareAnswer.Group(
            value: value, transactions: Weights.count(outcomes.values.reduce(0) { $0.addingWeight($1) }),
            ended: Weights.count(ended.sum),
            statistics: DurationStatistics(&values))
    }
}

extension CompareAnswer {
    package init(_ a: ComparedSample, _ b: ComparedSample) {
        self.init(a: a.group(), b: b.group(), rates: [], quantiles: [])
        rates = RateComparison.Measure.allCases.map { measure in
            RateComparison(measure, (a, self.a), (b, self.b))
        }
        let (a, b) = (a.durations.sample, b.durations.sample)
        quantiles = [50, 90, 99].map { percent in
            QuantileComparison(percent, (a, self.a), (b, self.b))
        }
    }
}

extension RateComparison {
    fileprivate init(
        _ measure: Measure, _ a: (sample: ComparedSample, group: CompareAnswer.Group),
        _ b: (sample: ComparedSample, group: CompareAnswer.Group)
    ) {
        self.measure = measure
        (aCount, bCount) = (a.sample.count(measure), b.sample.count(measure))
        self.a = a.sample.rate(measure)
        self.b = b.sample.rate(measure)
        difference = Estimate(from: self.a, to: self.b)
        verdict = Verdict(difference)
        sentence = ""
        sentence = inWords(a.group, b.group)
    }
}

extension QuantileComparison {
    fileprivate init(
        _ percent: Int, _ a: (durations: QuantileSample, group: CompareAnswer.Group),
        _ b: (durations: QuantileSample, group: CompareAnswer.Group)
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
