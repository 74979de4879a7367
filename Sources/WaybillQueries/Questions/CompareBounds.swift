import WaybillCore

extension OwedFacts {
    func rows(_ a: ComparedSample, _ b: ComparedSample, _ answer: CompareAnswer) -> [AnswerBounds.Row] {
        let names = [answer.a, answer.b].map { $0.value ?? "(none)" }
        let subject = "\(names[1]) against \(names[0])"
        let rates = answer.rates.flatMap { rate in
            let tallies = [a, b].map { $0.tally(rate.measure) }
            return zip(names, tallies).map { row($0, rate.measure.rawValue, rate: $1) } + [
                row(
                    subject, rate.measure.rawValue, .rateDifference, rate.verdict, rate.difference.value,
                    lowest(from: tallies[0], to: tallies[1]),
                    lowest(from: tallies[1], to: tallies[0])?.negated)
            ]
        }
        let samples = [a, b].map(\.durations.sample)
        let (low, high) = (samples.map { $0.lowest(self) }, samples.map { $0.highest(self) })
        return rates
            + answer.quantiles.map { quantile in
                let lowest = Estimate<Int64>(percent: quantile.percent, from: high[0], to: low[1]).map { Double($0) }
                let highest = Estimate<Int64>(percent: quantile.percent, from: low[0], to: high[1]).map { Double($0) }
                return row(
                    subject, "p\(quantile.percent)", .microsecondsDifference, quantile.verdict,
                    quantile.differenceMicroseconds.value.map(Double.init), lowest, highest)
            }
    }

    /// `lowest` and `highest` are the difference and the limits of its interval, each as far to one side as missing
    /// facts can move it.
    private func row(
        _ subject: String, _ measure: String, _ unit: AnswerBounds.Unit, _ verdict: Verdict, _ value: Double?,
        _ lowest: Estimate<Double>?, _ highest: Estimate<Double>?
    ) -> AnswerBounds.Row {
        var row = AnswerBounds.Row(
            subject: subject, measure: measure, unit: unit, value: value, low: lowest?.value, high: highest?.value)
        switch verdict {
        case .higher:
            (row.worstLow, row.worstHigh) = (lowest?.low, lowest?.high)
            row.isVerdictSafe = lowest?.low.map { $0 > 0 } ?? false
        case .lower:
            (row.worstLow, row.worstHigh) = (highest?.low, highest?.high)
            row.isVerdictSafe = highest?.high.map { $0 < 0 } ?? false
        case .noise:
            (row.worstLow, row.worstHigh) = (lowest?.low, highest?.high)
            let isNeverLower = lowest?.high.map { $0 >= 0 } ?? false
            row.isVerdictSafe = isNeverLower && (highest?.low.map { $0 <= 0 } ?? false)
        case .tooFew: break
        }
        return row
    }

    /// With more transactions, each group gets all of them, which is worse than any division.
    private static let divisionLimit = 2_000

    /// Returns the smallest difference from `a` to `b`.
    ///
    /// Both limits of Newcombe's interval rise with each success of `b`, and fall with each success of `a`. So the
    /// worst additions are failures of `b` and successes of `a`, in some division.
    private func lowest(from a: Tally, to b: Tally) -> Estimate<Double>? {
        let count = transactionCount
        let divisions = count <= Self.divisionLimit ? (0...count).map { ($0, count - $0) } : [(count, count)]
        var worst: Estimate<Double>?
        for (toA, toB) in divisions {
            let (a, b) = (a.inverted.lowest(self, adding: toA).inverted, b.lowest(self, adding: toB))
            let difference = Estimate(
                from: Estimate(rateOf: a.part, of: a.whole), to: Estimate(rateOf: b.part, of: b.whole))
            guard let value = difference.value, let low = difference.low, let high = difference.high else { return nil }
            let before = worst ?? difference
            worst = Estimate(
                value: min(before.value ?? value, value), low: min(before.low ?? low, low),
                high: min(before.high ?? high, high))
        }
        return worst
    }
}

extension Estimate<Double> {
    fileprivate var negated: Estimate<Double> {
        Estimate(value: value.map { -$0 }, low: high.map { -$0 }, high: low.map { -$0 })
    }
}
