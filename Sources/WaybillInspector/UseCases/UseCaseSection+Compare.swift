import WaybillAnalysis
import WaybillCore
import WaybillExport

/// Two groups beside each other, with what sets them apart as intervals and in plain sentences.
extension UseCaseSection {
    func compare(_ query: CompareQuestion, _ answer: CompareAnswer) -> HTML {
        let rates = Whisker.reach(answer.rates.map { ($0.difference.value, $0.difference.low, $0.difference.high) })
        let times = Whisker.reach(answer.quantiles.map(Self.relative))
        let rows =
            answer.rates.map { rate -> [HTML] in
                let difference = rate.difference
                let whisker = Whisker(
                    value: difference.value, low: difference.low, high: difference.high, reach: rates,
                    tone: rate.verdict.tone(rate.measure)
                )
                return row(
                    "\(rate.measure.rawValue)", rate.a, rate.b, difference, rate.verdict, whisker,
                    { Words.percent($0) },
                    more: \.pointsText, unit: " points")
            }
            + answer.quantiles.map { quantile -> [HTML] in
                let (value, low, high) = Self.relative(quantile)
                let whisker = Whisker(
                    value: value, low: low, high: high, reach: times, tone: quantile.verdict.tone(nil))
                return row(
                    "p\(quantile.percent)", quantile.aMicroseconds, quantile.bMicroseconds,
                    quantile.differenceMicroseconds,
                    quantile.verdict, whisker, Words.duration, more: \.differenceText)
            }
        let (a, b) = Self.names(query, answer)
        let table = AnswerTable(
            caption: "\(a) and \(b)",
            columns: [
                "Measure", .drawn("<span class=mid>\(b) has less | more</span>"), group(a, answer.a),
                group(b, answer.b), "Difference",
                .long("95 % interval"), "Verdict",
            ], rows: rows)
        let scales = """
            Lines are the intervals, dots the differences; a line without a bar at its end goes on beyond the picture. Of the first three, half the width is \(rates.pointsText.dropFirst()) points; of the \
            durations, from \(Words.point(query.from)) to \(Words.point(query.to)), it is \(Words.percent(times)) of what \(a) takes.
            """
        let sentences: HTML = "<ul class=sentences>\(answer.sentences.map { "<li>\($0)" as HTML })</ul>"
        return section("\(a) and \(b)", file: "compare.csv", "\(table.html)\(remarks([scales]))\(sentences)")
    }

    /// What the groups are called where there is little room: by their values; stretches of time by letters.
    private static func names(_ query: CompareQuestion, _ answer: CompareAnswer) -> (a: String, b: String) {
        switch query.groups {
        case .values: (Segmentation.title(of: answer.a.value), Segmentation.title(of: answer.b.value))
        case .windows: ("A", "B")
        }
    }

    private func group(_ name: String, _ group: CompareAnswer.Group) -> AnswerTable.Column {
        let value = Segmentation.title(of: group.value)
        let label = name == value ? name : "\(name): \(value)"
        return AnswerTable.Column(
            "\(label) <small>\(Words.count(group.transactions, "transaction"))</small>", label: label)
    }

    private func row<Value>(
        _ title: HTML, _ a: Estimate<Value>, _ b: Estimate<Value>, _ difference: Estimate<Value>, _ verdict: Verdict,
        _ whisker: Whisker,
        _ text: (Value) -> String, more: (Value) -> String, unit: String = ""
    ) -> [HTML] {
        let isUnknown = difference.low == nil && difference.high == nil
        let range =
            isUnknown ? "unknown" : "\(difference.low.map(more) ?? "?") to \(difference.high.map(more) ?? "?")\(unit)"
        return [
            title, whisker.html, "\(a.value.map(text) ?? "-")", "\(b.value.map(text) ?? "-")",
            "\(difference.value.map { more($0) + unit } ?? "-")", "\(range)", "\(verdict.word)",
        ]
    }

    /// As a share of what the first group takes, so that quantiles of different lengths have one scale.
    private static func relative(_ quantile: QuantileComparison) -> (value: Double?, low: Double?, high: Double?) {
        guard let a = quantile.aMicroseconds.value, a > 0 else { return (nil, nil, nil) }
        let difference = quantile.differenceMicroseconds
        func share(_ value: Int64?) -> Double? { value.map { Double($0) / Double(a) } }
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
        case .higher: measure == .succeeded ? TransactionOutcome.succeeded.name : TransactionOutcome.failed.name
        case .lower: measure == .succeeded ? TransactionOutcome.failed.name : TransactionOutcome.succeeded.name
        case .noise, .tooFew: ""
        }
    }
}
