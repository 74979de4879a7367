public import Foundation
public import WaybillCore

/// Whether one group of transactions does better than another: how often it succeeds, fails and is abandoned, and how
/// long it takes.
///
/// Each measure has an interval at the 95 % level, under the assumption that the transactions are independent of each
/// other; where a few installations made most of them, the intervals are too narrow. And each is judged by itself: of
/// twenty measures of two groups that do not differ at all, one is expected to look more than noise. Decide beforehand
/// which one matters, or trust only what is seen again in other transactions.
///
/// ## Usage
///
/// ```swift
/// let variants = CompareQuestion(filter: logins, groups: .values(of: .attribute("variant"), "A", "B"))
/// for sentence in try await transactions.answer(variants).sentences { print(sentence) }
/// ```
public struct CompareQuestion: Question {
    /// What the two groups are. They share no transaction.
    public enum Groups: Hashable, Sendable {
        /// Those that have one value, and those that have another; nil: that have no such value.
        case values(of: Segmentation, String?, String?)
        /// Those begun in one stretch of time, and those begun in another; the two must not overlap.
        case windows(Range<Date>, Range<Date>)
    }

    /// Which transactions count; has to name a use case where a point is an event.
    public var filter: TransactionFilter
    /// The first is what the second is compared with.
    public var groups: Groups
    /// Where the duration starts.
    public var from: TransactionPoint
    /// Where the duration ends.
    public var to: TransactionPoint
    /// Of both points. Default: the first.
    public var occurrence: DurationQuestion.Occurrence

    /// Makes a question; by default with the duration of the whole transaction.
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
    /// Reads a question; what is left out is as by default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            filter: try container.decodeIfPresent(TransactionFilter.self, forKey: .filter) ?? TransactionFilter(),
            groups: try container.decode(Groups.self, forKey: .groups))
        from = try container.decodeIfPresent(TransactionPoint.self, forKey: .from) ?? from
        to = try container.decodeIfPresent(TransactionPoint.self, forKey: .to) ?? to
        occurrence = try container.decodeIfPresent(DurationQuestion.Occurrence.self, forKey: .occurrence) ?? occurrence
    }
}

/// What sets two groups of transactions apart.
public struct CompareAnswer: QuestionAnswer {
    /// What is compared with.
    public var a: Group
    /// What is compared.
    public var b: Group
    /// Each measure once, in the order of its cases.
    public var rates: [RateComparison]
    /// Of the duration: p50, p90 and p99.
    public var quantiles: [QuantileComparison]
    /// One sentence on why one of the groups, or both, have no transaction; nil where both have some.
    public var whyEmpty: String?
    public var weighed: Weighing?

    /// Makes an answer.
    public init(a: Group, b: Group, rates: [RateComparison], quantiles: [QuantileComparison], whyEmpty: String? = nil) {
        self.a = a
        self.b = b
        self.rates = rates
        self.quantiles = quantiles
        self.whyEmpty = whyEmpty
    }

    /// What is said of each measure, in their order.
    public var sentences: [String] { rates.map(\.sentence) + quantiles.map(\.sentence) }

    /// One of the two.
    public struct Group: Hashable, Sendable, Codable {
        /// What its transactions have in common: a value, or a stretch of time as ISO 8601 writes it; nil: that they
        /// have no such value.
        public var value: String?
        /// Transactions.
        public var transactions: Int
        /// Those that are over, which rates are of: all but the open ones.
        public var ended: Int
        /// Of the transactions that have both points in this order.
        public var statistics: DurationStatistics

        /// Makes a group.
        public init(value: String?, transactions: Int, ended: Int, statistics: DurationStatistics) {
            self.value = value
            self.transactions = transactions
            self.ended = ended
            self.statistics = statistics
        }
    }
}

/// Two values are `{"segmentation": "variant", "a": "A", "b": "B"}`, where a value that is left out stands for those
/// that have none; two stretches of time are `{"a_since_us": 0, "a_until_us": 5, "b_since_us": 5, "b_until_us": 9}`.
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

/// What both groups have is read once.
extension CompareQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> CompareAnswer {
        try answer(partial(from: context))
    }

    package func answered(_ answer: CompareAnswer) -> AnyAnswer { .compare(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<ComparedSamples> {
        try groups.check()
        let points = try PointMatcher([from, to], of: filter.useCase, context)
        let all = try EventCursor(
            filter, codes: points.codes, reading: [.times, .outcome], segmentation: groups.segmentation,
            sources: points.sources, context)
        let values = Set(all.transactions.segmentValues)
        if !context.isPartial { try check(values, of: all.transactions.count) }
        let members = GroupMembers(groups, all.transactions.segmentValues)
        let (a, b) = groups.names
        let none = ComparedSamples(a: ComparedSample(value: a), b: ComparedSample(value: b), values: values)
        var folded = try context.fold(all, into: none) { (events, collected) throws(WaybillError) in
            try events.forEach { transaction, events, sources in
                let (isInA, isInB) = (members.isInA(transaction), members.isInB(transaction))
                guard isInA || isInB else { return }
                let duration = self.duration(of: transaction, events, points, sources)
                if isInA {
                    collected.a.add(transaction.outcome, duration: duration, weight: transaction.weight)
                } else {
                    collected.b.add(transaction.outcome, duration: duration, weight: transaction.weight)
                }
            }
        }
        folded.asked.events = points.unknown
        return folded
    }

    package func answer(_ found: consuming Folded<ComparedSamples>) throws(WaybillError) -> CompareAnswer {
        let asked = found.asked
        try asked.check()
        try check(found.collected.values, of: asked.count)
        var answer = CompareAnswer(found.collected.a, found.collected.b)
        answer.weighed = asked.weighing
        let empty = [answer.a, answer.b].filter { $0.transactions == 0 }.map {
            $0.value.map { "“\($0)”" } ?? "those without a value"
        }
        if !empty.isEmpty {
            answer.whyEmpty = asked.whyNone { "None of \($0) belongs to \(empty.joined(separator: ", or to "))." }
        }
        return answer
    }

    /// - Throws: `.notFound` for a value that none of the transactions has, though there are some.
    private func check(_ values: Set<String>, of count: Int) throws(WaybillError) {
        // Of none, an answer says better why it is empty.
        guard count > 0, case .values(let segmentation, let a, let b) = groups else { return }
        for case let value? in [a, b] where !values.contains(value) {
            let hint = value.hint(among: values.sorted(), none: "none of them has any.")
            throw WaybillError(.notFound, "No transaction that counts has the \(segmentation) “\(value)”: \(hint)")
        }
    }

    /// As ``DurationQuestion`` has it; nil where a transaction lacks one of the points, or has them the other way
    /// round.
    private func duration(
        of transaction: TransactionCursor.Transaction, _ events: [TimePoint], _ points: PointMatcher,
        _ sources: SourceDirectory
    ) -> Int64? {
        guard let start = points.occurrence(occurrence, of: 0, in: transaction, events, sources),
            let end = points.occurrence(occurrence, of: 1, in: transaction, events, sources),
            !start.isAfter(end, sources)
        else { return nil }
        return end.microseconds(since: start)
    }
}

/// Which transactions belong to which of two groups.
private struct GroupMembers {
    let isInA: (TransactionCursor.Transaction) -> Bool
    let isInB: (TransactionCursor.Transaction) -> Bool

    /// - Parameter values: Those that the transactions' segments stand for.
    init(_ groups: CompareQuestion.Groups, _ values: [String]) {
        switch groups {
        case .values(_, let a, let b):
            // Those that have none have no segment, and one that none has is none.
            let segments = [a, b].map { value in value.map { values.firstIndex(of: $0) ?? -1 } }
            isInA = { $0.segment == segments[0] }
            isInB = { $0.segment == segments[1] }
        case .windows(let a, let b):
            let (a, b) = (a.microseconds, b.microseconds)
            isInA = { a.contains($0.begun) }
            isInB = { b.contains($0.begun) }
        }
    }
}

/// The two groups, and what tells them apart.
package struct ComparedSamples: Mergeable {
    fileprivate var a, b: ComparedSample
    /// All values that tell transactions apart, those of other groups, too.
    fileprivate var values: Set<String>

    package mutating func merge(_ other: consuming ComparedSamples) {
        a.merge(other.a)
        b.merge(other.b)
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

    fileprivate var names: (a: String?, b: String?) {
        switch self {
        case .values(_, let a, let b): (a, b)
        case .windows(let a, let b): (a.microseconds.interval, b.microseconds.interval)
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
    /// `2026-03-01T00:00:00Z/2026-03-08T00:00:00Z`: an interval of ISO 8601, to the second.
    fileprivate var interval: String {
        [lowerBound, upperBound].map { bound in
            Date(timeIntervalSince1970: Double(bound.quotientAndRemainder(flooringBy: 1_000_000).quotient)).formatted(
                .iso8601)
        }.joined(separator: "/")
    }
}

extension RateComparison {
    /// `“B” failed more often than “A”: 12.0 % against 8.0 %, a difference of
    /// +4.0 points (95 % interval +1.2 to +6.8). That is more than noise.`
    func inWords(_ a: CompareAnswer.Group, _ b: CompareAnswer.Group) -> String {
        guard let aRate = self.a.value, let bRate = self.b.value, let value = difference.value else {
            let empty = a.ended == 0 ? a.name : b.name
            return "No transaction of \(empty) is over, so nothing can be said about how often it \(measure.verb)."
        }
        let difference =
            "a difference of \(value.pointsText) points (95 % interval \(difference.inWords { $0.pointsText }))"
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
    /// `The p90 of “B” is longer than that of “A”: 1.20 s against 900.0 ms,
    /// a difference of +300.0 ms (95 % interval ...). That is more than noise.`
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
    fileprivate func inWords(_ text: (Value) -> String) -> String {
        switch (low, high) {
        case (let low?, let high?): "\(text(low)) to \(text(high))"
        case (let low?, nil): "\(text(low)) or more"
        case (nil, let high?): "\(text(high)) or less"
        case (nil, nil): "unknown"
        }
    }
}

extension Int64 {
    /// `+1.20 s` for 1,200,000, `-850 µs`: microseconds more or less.
    package var differenceText: String { (self < 0 ? "" : "+") + durationText }
}

extension Double {
    /// Rounded, and no more than a billion times the whole: the numbers may come from anywhere.
    private var tenthsOfPercent: Int64 { isNaN ? 0 : Int64((Swift.min(Swift.max(self, -1e9), 1e9) * 1000).rounded()) }

    /// `12.0 %` for 0.12.
    fileprivate var percentText: String { "\(tenthsOfPercent.decimalText(per: 10, digits: 1)) %" }

    /// `-1.2` for -0.012, always with a sign: percentage points.
    package var pointsText: String {
        let tenths = tenthsOfPercent
        return (tenths < 0 ? "-" : "+") + abs(tenths).decimalText(per: 10, digits: 1)
    }
}
