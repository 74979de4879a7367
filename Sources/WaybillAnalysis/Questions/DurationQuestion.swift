public import WaybillCore
public import WaybillReading

/// How long it takes from one point of a transaction to another.
public struct DurationQuestion: Question {
    /// Which occurrence of an event counts, where a transaction has several.
    public enum Occurrence: String, Hashable, Sendable, Codable {
        /// The earliest.
        case first
        /// The latest.
        case last
    }

    /// Which transactions count; has to name a use case where a point is an event.
    public var filter: TransactionFilter
    /// Where the duration starts. Default: the beginning.
    public var from: TransactionPoint
    /// Where the duration ends. Default: the outcome.
    public var to: TransactionPoint
    /// Of both points. Default: the first.
    public var occurrence: Occurrence
    /// By what to tell the transactions apart; nil: not at all.
    public var segmentation: Segmentation?

    /// Makes a question; by default about how long the whole transaction takes.
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
}

extension DurationQuestion {
    /// Reads a question; what is left out is as by default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(filter: try container.decodeIfPresent(TransactionFilter.self, forKey: .filter) ?? TransactionFilter())
        from = try container.decodeIfPresent(TransactionPoint.self, forKey: .from) ?? from
        to = try container.decodeIfPresent(TransactionPoint.self, forKey: .to) ?? to
        occurrence = try container.decodeIfPresent(Occurrence.self, forKey: .occurrence) ?? occurrence
        segmentation = try container.decodeIfPresent(Segmentation.self, forKey: .segmentation)
    }
}

/// How long it takes; nothing counts where there is no duration.
public typealias DurationAnswer = SegmentedAnswer<DurationSegment>

/// The durations of one segment.
public struct DurationSegment: Hashable, Sendable, Codable {
    /// What its transactions have in common; nil for those that have no such value, and for all.
    public var value: String?
    /// Of the transactions that have both points in this order.
    public var statistics: DurationStatistics
    /// Transactions that have the first point only.
    public var withoutEnd: Int
    /// Transactions that have both points, the other way round.
    public var reversed: Int
    /// How many of the transactions that ``statistics`` are of ended how; an outcome that none has is left out.
    public var outcomes: [TransactionOutcome: Int]
    /// How many durations lie where.
    public var histogram: [Bar]

    /// Makes a segment.
    public init(
        value: String?, statistics: DurationStatistics, withoutEnd: Int, reversed: Int,
        outcomes: [TransactionOutcome: Int], histogram: [Bar]
    ) {
        self.value = value
        self.statistics = statistics
        self.withoutEnd = withoutEnd
        self.reversed = reversed
        self.outcomes = outcomes
        self.histogram = histogram
    }

    /// One step of the histogram: durations from ``from`` to below ``to``.
    public struct Bar: Hashable, Sendable, Codable {
        package var fromMicroseconds, toMicroseconds: Int64
        /// How many durations lie in it.
        public var count: Int

        /// Makes a bar.
        public init(from: Duration, to: Duration, count: Int) {
            (fromMicroseconds, toMicroseconds, self.count) = (from.microseconds, to.microseconds, count)
        }

        /// The least duration that counts.
        public var from: Duration { .microseconds(fromMicroseconds) }
        /// The least duration that no longer counts.
        public var to: Duration { .microseconds(toMicroseconds) }
    }
}

extension [DurationSegment.Bar] {
    /// Steps of 1, 2, 5, 10, ... microseconds, from the first that has any value to the last.
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
            // The last bound that is not above the value.
            var (low, high) = (0, bounds.count)
            while high - low > 1 {
                let middle = (low + high) / 2
                if bounds[middle] <= value { low = middle } else { high = middle }
            }
            counts[low].addWeight(weight)
        }
        for index in bounds.indices.dropLast() where bounds[index + 1] > least && bounds[index] <= greatest {
            append(
                DurationSegment.Bar(
                    from: .microseconds(bounds[index]), to: .microseconds(bounds[index + 1]),
                    count: Weights.count(counts[index])))
        }
    }
}

/// How long it takes from each event of a use case to the one that follows it.
public struct TransitionsQuestion: Question {
    /// Which transactions count; has to name a use case.
    public var filter: TransactionFilter

    /// Makes a question.
    public init(filter: TransactionFilter) { self.filter = filter }
}

extension TransitionsQuestion {
    /// Reads a question; what is left out is as by default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(filter: try container.decodeIfPresent(TransactionFilter.self, forKey: .filter) ?? TransactionFilter())
    }
}

/// Each pair of events that follow each other.
public struct TransitionsAnswer: QuestionAnswer {
    /// The most frequent first, then by names.
    public var transitions: [Transition]
    /// One sentence on why there is no transition; nil where there is one.
    public var whyEmpty: String?
    public var weighed: Weighing?

    /// Makes an answer.
    public init(transitions: [Transition], whyEmpty: String? = nil) {
        self.transitions = transitions
        self.whyEmpty = whyEmpty
    }

    /// From one event to the next in the merged order of all sources.
    public struct Transition: Hashable, Sendable, Codable {
        /// The name of the one.
        public var from: String
        /// The name of the next.
        public var to: String
        /// Never below zero where both are of one source; of two, as their clocks say.
        public var statistics: DurationStatistics

        /// Makes a transition.
        public init(from: String, to: String, statistics: DurationStatistics) {
            self.from = from
            self.to = to
            self.statistics = statistics
        }
    }
}
