import WaybillCore

/// Two groups beside each other, with what sets them apart as intervals and in plain sentences.
extension UseCaseSection {
    func compare(_ query: CompareQuery, _ answer: CompareAnswer) -> HTML {
        let rates = Whisker.reach(answer.rates.map { ($0.difference.value, $0.difference.low, $0.difference.high) })
        let times = Whisker.reach(answer.quantiles.map(Self.relative))
        let rows =
            answer.rates.map { rate -> HTML in
                let difference = rate.difference
                let whisker = Whisker(
                    value: difference.value, low: difference.low, high: difference.high, reach: rates, tone: rate.verdict.tone(rate.measure)
                )
                return row("\(rate.measure.rawValue)", rate.a, rate.b, difference, rate.verdict, whisker) { Words.percent($0) }
            }
            + answer.quantiles.map { quantile -> HTML in
                let (value, low, high) = Self.relative(quantile)
                let whisker = Whisker(value: value, low: low, high: high, reach: times, tone: quantile.verdict.tone(nil))
                return row(
                    "p\(quantile.percent)", quantile.aMicroseconds, quantile.bMicroseconds, quantile.differenceMicroseconds,
                    quantile.verdict, whisker, Words.duration)
            }
        let columns: [HTML] = [
            "", "<span class=mid>B has less | more</span>", group("A", answer.a), group("B", answer.b), "Difference", "95 % interval", "",
        ]
        let scales = """
            Lines are the intervals, points the differences. Of the first three, half the width is \(Words.percent(rates)); of the durations, \
            from \(Words.point(query.from)) to \(Words.point(query.to)), it is \(Words.percent(times)) of what A takes.
            """
        let sentences: HTML = "<ul class=sentences>\(answer.sentences.map { "<li>\($0)" as HTML })</ul>"
        return section("A and B", file: "compare.csv", "\(table("A and B", columns, rows))\(remarks([scales]))\(sentences)")
    }

    private func group(_ letter: HTML, _ group: CompareAnswer.Group) -> HTML {
        "\(letter): \(Segmentation.title(of: group.value)) <small>\(Words.count(group.transactions, "transaction"))</small>"
    }

    private func row<Value>(
        _ title: HTML, _ a: Estimate<Value>, _ b: Estimate<Value>, _ difference: Estimate<Value>, _ verdict: Verdict, _ whisker: Whisker,
        _ text: (Value) -> String
    ) -> HTML where Value: Comparable & SignedNumeric {
        func signed(_ value: Value?) -> String { value.map { ($0 > 0 ? "+" : "") + text($0) } ?? "?" }
        let isUnknown = difference.low == nil && difference.high == nil
        let range = isUnknown ? "unknown" : "\(signed(difference.low)) to \(signed(difference.high))"
        return """
            <tr><th scope=row>\(title)<td class=drawn>\(whisker.html)<td>\(a.value.map(text) ?? "-")<td>\(b.value.map(text) ?? "-")\
            <td>\(difference.value == nil ? "-" : signed(difference.value))<td>\(range)<td>\(verdict.word)</tr>
            """
    }

    /// As a share of what the first group takes, so that quantiles of different lengths have one scale.
    private static func relative(_ quantile: QuantileComparison) -> (value: Double?, low: Double?, high: Double?) {
        guard let a = quantile.aMicroseconds.value, a > 0 else { return (nil, nil, nil) }
        let difference = quantile.differenceMicroseconds
        func share(_ value: Int?) -> Double? { value.map { Double($0) / Double(a) } }
        return (share(difference.value), share(difference.low), share(difference.high))
    }
}

extension Verdict {
    fileprivate var word: String {
        switch self {
        case .higher: "more"
        case .lower: "less"
        case .noise: "may be noise"
        case .tooFew: "too few"
        }
    }

    /// The class of its colour: what is better is good, and what may be noise has none.
    ///
    /// - Parameter measure: nil: of how long it takes.
    fileprivate func tone(_ measure: RateComparison.Measure?) -> String {
        switch self {
        case .higher: measure == .succeeded ? Outcome.succeeded.name : Outcome.failed.name
        case .lower: measure == .succeeded ? Outcome.failed.name : Outcome.succeeded.name
        case .noise, .tooFew: ""
        }
    }
}
