public import Foundation
package import WaybillCore

/// A comparison of two groups of transactions: how often they succeed, fail and are abandoned, and how long they take.
///
/// Each measure has a 95 % confidence interval. The intervals assume independent transactions: they are too narrow if a
/// few installations made most of them. Measures are judged separately: out of twenty, one is expected to look
/// significant by chance. Decide on one beforehand, or confirm the result with other transactions.
///
/// ## Usage
///
/// ```swift
/// let variants = CompareQuestion(filter: logins, groups: .values(of: .attribute("variant"), "A", "B"))
/// for sentence in try await transactions.answer(variants).sentences { print(sentence) }
/// ```
public struct CompareQuestion: Question {
    /// The two groups. They share no transaction.
    public enum Groups: Hashable, Sendable {
        /// Transactions with one value, and those with another; `nil` selects those without a value.
        case values(of: Segmentation, String?, String?)
        /// Transactions begun in one time range, and those begun in another. The ranges must not overlap.
        case windows(Range<Date>, Range<Date>)
    }

    /// The transactions to compare. A use case is required if a point is an event.
    public var filter: TransactionFilter
    /// The groups. The second one is compared with the first.
    public var groups: Groups
    /// The start of the duration.
    public var from: TransactionPoint
    /// The end of the duration.
    public var to: TransactionPoint
    /// The occurrence of an event that counts, for both points. Default: the first.
    public var occurrence: DurationQuestion.Occurrence
    package var isCertified: Bool?

    /// Creates a question, by default about the duration of the whole transaction.
    public init(
        filter: TransactionFilter, groups: Groups, from: TransactionPoint = .begun, to: TransactionPoint = .finished,
        occurrence: DurationQuestion.Occurrence = .first
    ) {
        self.filter = filter
        self.groups = groups
        self.from = from
        self.to = to
        self.occurrence = occurrence
    }
}

extension CompareQuestion {
    /// Reads a question. Missing members have defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            filter: try container.decode(TransactionFilter.self, forKey: .filter),
            groups: try container.decode(Groups.self, forKey: .groups))
        from = try container.decodeIfPresent(TransactionPoint.self, forKey: .from) ?? from
        to = try container.decodeIfPresent(TransactionPoint.self, forKey: .to) ?? to
        occurrence = try container.decodeIfPresent(DurationQuestion.Occurrence.self, forKey: .occurrence) ?? occurrence
        isCertified = try container.decodeIfPresent(Bool.self, forKey: .isCertified)
    }
}

/// The differences between two groups of transactions.
public struct CompareAnswer: QuestionAnswer {
    /// The first group, which is the baseline.
    public var a: Group
    /// The second group.
    public var b: Group
    /// Each measure once, in the order of its cases.
    public var rates: [RateComparison]
    /// The p50, p90 and p99 of the duration.
    public var quantiles: [QuantileComparison]
    /// One sentence on why a group has no transactions; `nil` if both have some.
    public var whyEmpty: String?
    public var weighed: Weighing?
    package var bounds: AnswerBounds?

    /// Creates an answer.
    public init(a: Group, b: Group, rates: [RateComparison], quantiles: [QuantileComparison], whyEmpty: String? = nil) {
        self.a = a
        self.b = b
        self.rates = rates
        self.quantiles = quantiles
        self.whyEmpty = whyEmpty
    }

    /// The sentences of all measures, in their order.
    public var sentences: [String] { rates.map(\.sentence) + quantiles.map(\.sentence) }

    /// One of the two groups.
    public struct Group: Hashable, Sendable, Codable {
        /// The value of its transactions, or their time range in ISO 8601; `nil` without a value.
        public var value: String?
        /// The number of transactions.
        public var transactions: Int
        /// The number of transactions that have ended, the base of all rates.
        public var ended: Int
        /// The durations of transactions with both points in this order.
        public var statistics: DurationStatistics

        /// Creates a group.
        public init(value: String?, transactions: Int, ended: Int, statistics: DurationStatistics) {
            self.value = value
            self.transactions = transactions
            self.ended = ended
            self.statistics = statistics
        }
    }
}

/// JSON for values: `{"segmentation": "variant", "a": "A", "b": "B"}`. A missing member selects those without a value.
/// JSON for time ranges: `{"a_since_us": 0, "a_until_us": 5, "b_since_us": 5, "b_until_us": 9}`.
extension CompareQuestion.Groups: Codable {
    private enum CodingKeys: CodingKey {
        case segmentation, a, b, aSinceMicroseconds, aUntilMicroseconds, bSinceMicroseconds, bUntilMicroseconds
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let segmentation = try container.decodeIfPresent(Segmentation.self, forKey: .segmentation) {
            self = .values(
                of: segmentation, try container.decodeIfPresent(String.self, forKey: .a),
                try container.decodeIfPresent(String.self, forKey: .b))
            return
        }
        func window(_ since: CodingKeys, _ until: CodingKeys) throws -> Range<Date> {
            let (since, end) = (
                try container.decode(Int64.self, forKey: since), try container.decode(Int64.self, forKey: until)
            )
            guard since <= end else {
                throw DecodingError.dataCorruptedError(
                    forKey: until, in: container, debugDescription: "It lies before the beginning.")
            }
            return Range(microseconds: since..<end)
        }
        self = .windows(
            try window(.aSinceMicroseconds, .aUntilMicroseconds), try window(.bSinceMicroseconds, .bUntilMicroseconds))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .values(let segmentation, let a, let b):
            try container.encode(segmentation, forKey: .segmentation)
            try container.encodeIfPresent(a, forKey: .a)
            try container.encodeIfPresent(b, forKey: .b)
        case .windows(let a, let b):
            try container.encode(a.microseconds.lowerBound, forKey: .aSinceMicroseconds)
            try container.encode(a.microseconds.upperBound, forKey: .aUntilMicroseconds)
            try container.encode(b.microseconds.lowerBound, forKey: .bSinceMicroseconds)
            try container.encode(b.microseconds.upperBound, forKey: .bUntilMicroseconds)
        }
    }
}

extension CompareQuestion: FoldedQuestion {
    public typealias Answer = CompareAnswer

    package var points: [TransactionPoint] { [from, to] }
    package var segmentation: Segmentation? { groups.segmentation }

    package func answered(_ answer: CompareAnswer) -> AnyAnswer { .compare(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<ComparedSamples> {
        try groups.check()
        let all = try EventCursor(self, reading: [.times, .outcome], context)
        let values = Set(all.transactions.segmentValues)
        if !context.isPartial { try check(values, of: all.transactions.count) }
        let index = groups.index(among: all.transactions.segmentValues)
        let none = ComparedSamples(samples: groups.names.map { ComparedSample(value: $0) }, values: values)
        return try context.fold(all, into: none) { (events, collected) throws(WaybillError) in
            try events.forEach { found in
                let transaction = found.transaction
                guard let group = index(transaction) else { return }
                collected.samples[group].add(
                    transaction.outcome, duration: duration(of: found), weight: transaction.weight)
            }
        }
    }

    package func answer(_ found: consuming Folded<ComparedSamples>) throws(WaybillError) -> CompareAnswer {
        let (asked, samples) = (found.asked, found.collected.samples)
        try asked.check()
        try check(found.collected.values, of: asked.count)
        var answer = CompareAnswer(samples[0], samples[1])
        answer.weighed = asked.weighing
        answer.bounds = asked.owed.map { $0.bounds($0.rows(samples[0], samples[1], answer)) }
        let empty = [answer.a, answer.b].filter { $0.transactions == 0 }.map {
            $0.value.map { "“\($0)”" } ?? "those without a value"
        }
        if !empty.isEmpty {
            answer.whyEmpty = asked.whyNone { "None of \($0) belongs to \(empty.joined(separator: ", or to "))." }
        }
        return answer
    }

    private func check(_ values: Set<String>, of count: Int) throws(WaybillError) {
        guard count > 0, case .values(let segmentation, let a, let b) = groups else { return }
        for case let value? in [a, b] where !values.contains(value) {
            let hint = value.hint(among: values.sorted(), none: "none of them has any.")
            throw WaybillError(.notFound, "No transaction that counts has the \(segmentation) “\(value)”: \(hint)")
        }
    }

    private func duration(of found: TimedTransaction) -> Int64? {
        guard let start = found.occurrence(occurrence, of: 0), let end = found.occurrence(occurrence, of: 1),
            !start.isAfter(end, found.sources)
        else { return nil }
        return end.microseconds(since: start)
    }
}

package struct ComparedSamples: Mergeable {
    fileprivate var samples: [ComparedSample]
    fileprivate var values: Set<String>

    package mutating func merge(_ other: consuming ComparedSamples) {
        for (index, sample) in other.samples.enumerated() { samples[index].merge(sample) }
        values.formUnion(other.values)
    }
}

extension CompareQuestion.Groups {
    fileprivate var segmentation: Segmentation? {
        switch self {
        case .values(let segmentation, _, _): segmentation
        case .windows: nil
        }
    }

    fileprivate var names: [String?] {
        switch self {
        case .values(_, let a, let b): [a, b]
        case .windows(let a, let b): [a.microseconds.interval, b.microseconds.interval]
        }
    }

    fileprivate func index(among values: [String]) -> (TransactionCursor.Transaction) -> Int? {
        switch self {
        case .values(_, let a, let b):
            // `nil` is the segment without a value, and -1 is no segment.
            let segments = [a, b].map { value in value.map { values.firstIndex(of: $0) ?? -1 } }
            return { segments.firstIndex(of: $0.segment) }
        case .windows(let a, let b):
            let windows = [a.microseconds, b.microseconds]
            return { transaction in windows.firstIndex { $0.contains(transaction.begun) } }
        }
    }

    fileprivate func check() throws(WaybillError) {
        switch self {
        case .values(_, let a, let b):
            guard a != b else { throw WaybillError(.setting, "Both groups are the same; say two values.") }
        case .windows(let a, let b):
            let (a, b) = (a.microseconds, b.microseconds)
            guard !a.overlaps(b) else {
                throw WaybillError(.setting, "The two stretches of time overlap, so they cannot be compared.")
            }
        }
    }
}

extension Range<Int64> {
    fileprivate var interval: String {
        [lowerBound, upperBound].map { bound in
            Date(timeIntervalSince1970: Double(bound.quotientAndRemainder(flooringBy: 1_000_000).quotient)).formatted(
                .iso8601)
        }.joined(separator: "/")
    }
}

extension RateComparison {
    func inWords(_ a: CompareAnswer.Group, _ b: CompareAnswer.Group) -> String {
        guard let aRate = self.a.value, let bRate = self.b.value, let value = difference.value else {
            let empty = a.ended == 0 ? a.name : b.name
            return "No transaction of \(empty) is over, so nothing can be said about how often it \(measure.verb)."
        }
        let difference =
            "a difference of \(value.pointsText) points (95 % interval \(difference.pointsInterval))"
        return switch verdict {
        case .higher, .lower:
            "\(b.name) \(measure.verb) \(verdict == .higher ? "more" : "less") often than \(a.name): \(bRate.percentText) against "
                + "\(aRate.percentText), \(difference). That is more than noise."
        case .noise, .tooFew:
            "\(b.name) \(measure.verb) in \(bRate.percentText) and \(a.name) in \(aRate.percentText), \(difference). That may be noise."
        }
    }
}

extension QuantileComparison {
    func inWords(_ a: CompareAnswer.Group, _ b: CompareAnswer.Group) -> String {
        guard let aTime = aMicroseconds.value, let bTime = bMicroseconds.value, let value = differenceMicroseconds.value
        else {
            return
                "There is no duration of \(a.statistics.count == 0 ? a.name : b.name), so nothing can be said about the p\(percent)."
        }
        let both = "The p\(percent) is \(bTime.durationText) for \(b.name) and \(aTime.durationText) for \(a.name)"
        let interval = differenceMicroseconds.inWords { $0.differenceText }
        let difference = "a difference of \(value.differenceText) (95 % interval \(interval))"
        return switch verdict {
        case .higher, .lower:
            "The p\(percent) of \(b.name) is \(verdict == .higher ? "longer" : "shorter") than that of \(a.name): \(bTime.durationText) "
                + "against \(aTime.durationText), \(difference). That is more than noise."
        case .noise: "\(both), \(difference). That may be noise."
        case .tooFew:
            "\(both). With \(b.statistics.count) and \(a.statistics.count) durations there are too few to say whether that is more than noise."
        }
    }
}

extension CompareAnswer.Group {
    fileprivate var name: String { value.map { "“\($0)”" } ?? "the rest without a value" }
}

extension RateComparison.Measure {
    fileprivate var verb: String {
        switch self {
        case .succeeded, .failed: rawValue
        case .abandoned: "was abandoned"
        }
    }
}

extension Estimate {
    func inWords(_ text: (Value) -> String) -> String {
        switch (low, high) {
        case (let low?, let high?): "\(text(low)) to \(text(high))"
        case (let low?, nil): "\(text(low)) or more"
        case (nil, let high?): "\(text(high)) or less"
        case (nil, nil): "unknown"
        }
    }
}

extension Estimate<Double> {
    /// The limits in points, for example `-0.3 to +1.2`.
    package var pointsInterval: String { inWords { $0.pointsText } }
}

extension Int64 {
    package var differenceText: String { (self < 0 ? "" : "+") + durationText }
}

extension Double {
    /// The bound of a billion avoids overflows of untrusted numbers.
    private var tenthsOfPercent: Int64 { isNaN ? 0 : Int64((Swift.min(Swift.max(self, -1e9), 1e9) * 1000).rounded()) }

    package var percentText: String { "\(tenthsOfPercent.decimalText(per: 10, digits: 1)) %" }

    package var pointsText: String {
        let tenths = tenthsOfPercent
        return (tenths < 0 ? "-" : "+") + abs(tenths).decimalText(per: 10, digits: 1)
    }
}
