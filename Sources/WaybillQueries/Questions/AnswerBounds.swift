import WaybillCore

/// The smallest and the greatest value of each number of an answer, for any content of the missing facts.
package struct AnswerBounds: Hashable, Sendable, Codable {
    /// The sources that owe facts.
    package var sourceCount: Int
    package var factCount: Int64
    /// The most transactions that these facts can add or change.
    package var transactionCount: Int
    package var rows: [Row]

    /// One number.
    package struct Row: Hashable, Sendable, Codable {
        /// The use case, the segment or the group.
        package var subject: String
        package var measure: String
        package var unit: Unit
        /// The value in the answer; `nil` without one.
        package var value: Double?
        /// The limits; `nil` for none.
        package var low, high: Double?
        /// For a difference: its 95 % interval in the case that is worst for the verdict.
        package var worstLow, worstHigh: Double?
        /// Whether the verdict on a difference is the same in every case; `nil` without a verdict.
        package var isVerdictSafe: Bool?
    }

    package enum Unit: String, Hashable, Sendable, Codable {
        case count, microseconds, rate
        /// The difference of two rates, or of two times in microseconds.
        case rateDifference = "rate_difference"
        case microsecondsDifference = "microseconds_difference"
    }

    /// The owed facts, the verdicts and the limits of the bounds, in sentences.
    package var sentences: [String] {
        func counted(_ count: some BinaryInteger, _ noun: String) -> String {
            "\(count) \(noun)\(count == 1 ? "" : "s")"
        }
        let owed =
            factCount == 0
            ? "No source owes a fact, so the bounds are the numbers themselves."
            : "\(counted(sourceCount, "source")) \(sourceCount == 1 ? "owes" : "owe") \(counted(factCount, "fact")), at most "
                + "\(counted(transactionCount, "transaction"))."
        return [owed] + rows.compactMap(\.sentence) + [
            "The bounds leave out installations that never sent anything, facts recorded after a source's last "
                + "delivery, and clock corrections that have not arrived. Erased, withheld and expired transactions "
                + "do not count."
        ]
    }
}

extension AnswerBounds.Row {
    fileprivate var sentence: String? {
        guard let isVerdictSafe else { return nil }
        let verdict = isVerdictSafe ? "The verdict stands." : "The verdict does not stand."
        guard worstLow != nil || worstHigh != nil else { return "\(measure): worst case: unknown. \(verdict)" }
        let limits = Estimate<Double>(value: nil, low: worstLow, high: worstHigh).inWords(text)
        return "\(measure): worst case: \(limits). \(verdict)"
    }

    package func text(_ number: Double) -> String {
        let whole = Int64(exactly: number.rounded())?.bounded ?? 0
        return switch unit {
        case .count: "\(whole)"
        case .microseconds: whole.durationText
        case .rate: number.percentText
        case .rateDifference: "\(number.pointsText) points"
        case .microsecondsDifference: whole.differenceText
        }
    }
}

extension OwedFacts {
    func bounds(_ rows: [AnswerBounds.Row]) -> AnswerBounds {
        AnswerBounds(sourceCount: sourceCount, factCount: factCount, transactionCount: transactionCount, rows: rows)
    }

    func row(_ subject: String, _ measure: String, count: Int) -> AnswerBounds.Row {
        AnswerBounds.Row(
            subject: subject, measure: measure, unit: .count, value: Double(count),
            low: Double(max(0, count - transactionCount)),
            high: Double(count) + Double(transactionCount))
    }

    func row(_ subject: String, _ measure: String, rate: Tally) -> AnswerBounds.Row {
        AnswerBounds.Row(
            subject: subject, measure: measure, unit: .rate, value: rate.rate,
            low: rate.lowest(self, adding: transactionCount).rate,
            high: rate.inverted.lowest(self, adding: transactionCount).inverted.rate)
    }

    func rows(_ subject: String, _ measure: String, percentilesOf durations: Durations) -> [AnswerBounds.Row] {
        let sample = durations.sample
        let (lowest, highest) = (sample.lowest(self), sample.highest(self))
        return [50, 75, 90, 95, 99].map { percent in
            func value(_ sample: QuantileSample) -> Double? {
                sample.count > 0 ? sample.quantile(percent).map(Double.init) : nil
            }
            return AnswerBounds.Row(
                subject: subject, measure: "\(measure)p\(percent)", unit: .microseconds, value: value(sample),
                low: value(lowest), high: value(highest))
        }
    }

    /// A part of a number of transactions.
    struct Tally {
        var part, whole: Int

        var rest: Int { whole - part }
        var rate: Double? { whole > 0 ? Double(part) / Double(whole) : nil }
        var inverted: Tally { Tally(part: rest, whole: whole) }

        /// The smallest part that missing facts can leave, if they add this many transactions.
        func lowest(_ owed: OwedFacts, adding count: Int) -> Tally {
            let part = max(0, part - owed.transactionCount)
            return Tally(part: part, whole: part + rest + count)
        }
    }
}

extension QuantileSample {
    /// The sample with the smallest percentiles that missing facts can leave: durations below all others.
    func lowest(_ owed: OwedFacts) -> QuantileSample {
        let sorted = known
        return .values(
            Array(sorted.dropLast(owed.transactionCount)),
            below: Self.additions(owed, to: sorted.count))
    }

    func highest(_ owed: OwedFacts) -> QuantileSample {
        let sorted = known
        return .values(
            Array(sorted.dropFirst(owed.transactionCount)),
            above: Self.additions(owed, to: sorted.count))
    }

    /// With a hundred times as many unknown durations, no percentile from 1 to 99 is a known one.
    private static func additions(_ owed: OwedFacts, to count: Int) -> Int {
        min(owed.transactionCount, 100 * (count + 1))
    }

    private var known: [Int64] {
        switch self {
        case .values(let values, below: _, above: _): values
        // Certified answers count each transaction once.
        case .weighed: []
        }
    }
}

extension SegmentedAnswer {
    /// Takes the rows of segments in the order of their making. The total is the last one.
    mutating func add(_ rows: [[AnswerBounds.Row]], of values: [String?], _ owed: OwedFacts?) {
        let subjects = ["all"] + values.map { $0 ?? "(none)" }
        let named: [AnswerBounds.Row] = zip(subjects, rows.suffix(1) + rows.dropLast()).flatMap { subject, rows in
            rows.map { row in
                var row = row
                row.subject = subject
                return row
            }
        }
        bounds = owed?.bounds(named)
    }
}
