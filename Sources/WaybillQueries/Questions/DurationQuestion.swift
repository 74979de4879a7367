public import Foundation
public import WaybillCore

/// The time from one point of a transaction to another.
public struct DurationQuestion: Question {
    /// The occurrence that counts if a transaction has several of an event.
    public enum Occurrence: String, Hashable, Sendable, Codable {
        /// The earliest.
        case first
        /// The latest.
        case last
    }

    /// The transactions to measure. A use case is required if a point is an event.
    public var filter: TransactionFilter
    /// The start of the duration. Default: the beginning.
    public var from: TransactionPoint
    /// The end of the duration. Default: the outcome.
    public var to: TransactionPoint
    /// The occurrence that counts, for both points. Default: the first.
    public var occurrence: Occurrence
    /// The segments; `nil` for one result.
    public var segmentation: Segmentation?
    package var stepMicroseconds: Int64?
    package var isCertified: Bool?

    /// Creates a question, by default about the duration of the whole transaction.
    public init(
        filter: TransactionFilter, from: TransactionPoint = .begun, to: TransactionPoint = .finished,
        occurrence: Occurrence = .first,
        segmentation: Segmentation? = nil
    ) {
        self.filter = filter
        self.from = from
        self.to = to
        self.occurrence = occurrence
        self.segmentation = segmentation
    }

    /// The length of the steps of ``DurationSegment/steps``. Default: `nil`, for no steps.
    public var step: Duration? {
        get { stepMicroseconds.map { .microseconds($0) } }
        set { stepMicroseconds = newValue?.microseconds }
    }
}

extension DurationQuestion {
    /// Reads a question. Missing members have defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(filter: try container.decode(TransactionFilter.self, forKey: .filter))
        from = try container.decodeIfPresent(TransactionPoint.self, forKey: .from) ?? from
        to = try container.decodeIfPresent(TransactionPoint.self, forKey: .to) ?? to
        occurrence = try container.decodeIfPresent(Occurrence.self, forKey: .occurrence) ?? occurrence
        segmentation = try container.decodeIfPresent(Segmentation.self, forKey: .segmentation)
        stepMicroseconds = try container.decodeIfPresent(Int64.self, forKey: .stepMicroseconds)
        isCertified = try container.decodeIfPresent(Bool.self, forKey: .isCertified)
    }
}

/// The durations by segment. It is empty without any duration.
public typealias DurationAnswer = SegmentedAnswer<DurationSegment>

/// The durations of one segment.
public struct DurationSegment: Hashable, Sendable, Codable {
    /// The value of its transactions; `nil` for those without one, and for all.
    public var value: String?
    /// The durations of transactions with both points in this order.
    public var statistics: DurationStatistics
    /// The number of transactions with only the first point.
    public var withoutEnd: Int
    /// The number of transactions with both points in reverse order.
    public var reversed: Int
    /// The outcomes of the transactions in ``statistics``; only those that occur.
    public var outcomes: [TransactionOutcome: Int]
    /// The distribution of the durations.
    public var histogram: [Bar]
    /// The transactions by the time of their beginning, in order. Steps without transactions are left out; `nil` if the
    /// question has no step.
    public var steps: [Step]?

    /// Creates a segment.
    public init(
        value: String?, statistics: DurationStatistics, withoutEnd: Int, reversed: Int,
        outcomes: [TransactionOutcome: Int], histogram: [Bar], steps: [Step]? = nil
    ) {
        self.value = value
        self.statistics = statistics
        self.withoutEnd = withoutEnd
        self.reversed = reversed
        self.outcomes = outcomes
        self.histogram = histogram
        self.steps = steps
    }

    /// The transactions that began in one step of time.
    public struct Step: Hashable, Sendable, Codable {
        package var startMicroseconds: Int64
        /// The durations of transactions with both points in this order.
        public var statistics: DurationStatistics
        /// The number of transactions with only the first point.
        public var withoutEnd: Int
        /// The number of transactions with both points in reverse order.
        public var reversed: Int
        /// The outcomes of the transactions in ``statistics``; only those that occur.
        public var outcomes: [TransactionOutcome: Int]

        /// Creates a step.
        public init(
            start: Date, statistics: DurationStatistics, withoutEnd: Int, reversed: Int,
            outcomes: [TransactionOutcome: Int]
        ) {
            startMicroseconds = start.microseconds
            (self.statistics, self.withoutEnd, self.reversed) = (statistics, withoutEnd, reversed)
            self.outcomes = outcomes
        }

        /// The start of the step, a multiple of its length since 1970.
        public var start: Date { Date(microseconds: startMicroseconds) }
    }

    /// One bar of the histogram: durations from ``from`` to below ``to``.
    public struct Bar: Hashable, Sendable, Codable {
        package var fromMicroseconds, toMicroseconds: Int64
        /// The number of durations.
        public var count: Int

        /// Creates a bar.
        public init(from: Duration, to: Duration, count: Int) {
            (fromMicroseconds, toMicroseconds, self.count) = (from.microseconds, to.microseconds, count)
        }

        /// The inclusive lower bound.
        public var from: Duration { .microseconds(fromMicroseconds) }
        /// The exclusive upper bound.
        public var to: Duration { .microseconds(toMicroseconds) }
    }
}

extension [DurationSegment.Bar] {
    /// Bars of 1, 2, 5, 10, ... microseconds, from the first with a value to the last.
    package init(of values: Durations) {
        self = []
        guard let least = values.minimum, let greatest = values.maximum else { return }
        var bounds: [Int64] = [0]
        var decade: Int64 = 1
        while bounds[bounds.count - 1] <= greatest {
            bounds += [1, 2, 5].map { $0 * decade }
            decade *= 10
        }
        var counts = [Int64](repeating: 0, count: bounds.count)
        values.forEach { value, weight in
            let next = bounds[...].partitioningIndex { $0 > value }
            counts[Swift.max(0, next - 1)].addWeight(weight)
        }
        for index in bounds.indices.dropLast() where bounds[index + 1] > least && bounds[index] <= greatest {
            append(
                DurationSegment.Bar(
                    from: .microseconds(bounds[index]), to: .microseconds(bounds[index + 1]),
                    count: Weights.count(counts[index])))
        }
    }
}

extension DurationQuestion: FoldedQuestion {
    public typealias Answer = DurationAnswer

    package var points: [TransactionPoint] { [from, to] }

    package func answered(_ answer: DurationAnswer) -> AnyAnswer { .duration(self, answer) }

    package func partial(
        from context: AnswerContext
    ) throws(WaybillError) -> Folded<Segments<CollectedDurations>> {
        let step = stepMicroseconds.map { max(1, $0) }
        let all = try EventCursor(self, reading: step == nil ? .outcome : [.outcome, .times], context)
        return try context.fold(all, into: Segments(CollectedDurations(), all.transactions.segmentValues)) {
            (events, collected) throws(WaybillError) in
            try events.forEach { found in
                guard let start = found.occurrence(occurrence, of: 0) else { return }
                let end = found.occurrence(occurrence, of: 1)
                collected.add(found.transaction) { $0.add(start, end, found.sources, found.transaction, each: step) }
            }
        }
    }

    package func answer(
        _ found: consuming Folded<Segments<CollectedDurations>>
    ) throws(WaybillError) -> DurationAnswer {
        let asked = found.asked
        try asked.check()
        var rows: [[AnswerBounds.Row]] = []
        var answer = found.collected.answer(by: segmentation) { collected, value in
            if let owed = asked.owed { rows.append(collected.bounds(owed)) }
            return collected.segment(value, each: stepMicroseconds)
        }
        answer.add(rows, of: answer.segments.map(\.value), asked.owed)
        answer.weighed = asked.weighing
        let total = answer.total
        guard total.statistics.count == 0 else { return answer }
        answer.whyEmpty = asked.whyNone { found in
            "None of \(found) has \(from.inWords) and then \(to.inWords): \(total.withoutEnd) only \(from.inWords), "
                + "\(total.reversed) both the other way round."
        }
        return answer
    }
}

package struct CollectedDurations: Mergeable {
    private var durations = Durations()
    private var withoutEnd: Int64 = 0
    private var reversed: Int64 = 0

    private var outcomes: [TransactionOutcome: Int64] = [:]
    /// The transactions by step. These do not count in the other members, to hold durations in memory once.
    private var steps: [Int64: CollectedDurations] = [:]

    /// - Parameter step: The length of steps in microseconds; `nil` for none.
    mutating func add(
        _ start: TimePoint, _ end: TimePoint?, _ sources: SourceDirectory,
        _ transaction: TransactionCursor.Transaction, each step: Int64?
    ) {
        if let step {
            let number = transaction.begun.quotientAndRemainder(flooringBy: step).quotient
            steps[number, default: CollectedDurations()].add(start, end, sources, transaction, each: nil)
            return
        }
        let weight = transaction.weight
        guard let end else {
            withoutEnd.addWeight(weight)
            return
        }
        // The same event as both points takes no time.
        if start.isAfter(end, sources) {
            reversed.addWeight(weight)
        } else {
            durations.append(end.microseconds(since: start), weight: weight)
            outcomes[transaction.outcome, default: 0].addWeight(weight)
        }
    }

    package mutating func merge(_ other: consuming CollectedDurations) {
        withoutEnd.addWeight(other.withoutEnd)
        reversed.addWeight(other.reversed)
        outcomes.merge(other.outcomes, uniquingKeysWith: { $0.addingWeight($1) })
        durations.merge(other.durations)
        steps.merge(other.steps)
    }

    fileprivate func bounds(_ owed: OwedFacts) -> [AnswerBounds.Row] {
        let all = steps.values.reduce(into: durations) { $0.merge($1.durations) }
        return [owed.row("", "count", count: all.count)] + owed.rows("", "", percentilesOf: all)
    }

    mutating func segment(_ value: String?, each step: Int64?) -> DurationSegment {
        guard let step else {
            let histogram = [DurationSegment.Bar](of: durations)
            return DurationSegment(
                value: value, statistics: DurationStatistics(&durations), withoutEnd: Weights.count(withoutEnd),
                reversed: Weights.count(reversed), outcomes: outcomes.counts, histogram: histogram)
        }
        var whole = CollectedDurations()
        for collected in steps.values { whole.merge(collected) }
        var segment = whole.segment(value, each: nil)
        segment.steps = steps.sorted { $0.key < $1.key }.map { number, collected in
            var collected = collected
            return DurationSegment.Step(
                start: Date(microseconds: number * max(1, step)),
                statistics: DurationStatistics(&collected.durations),
                withoutEnd: Weights.count(collected.withoutEnd), reversed: Weights.count(collected.reversed),
                outcomes: collected.outcomes.counts)
        }
        return segment
    }
}
