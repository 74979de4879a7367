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
}

extension DurationQuestion {
    /// Reads a question. Missing members have defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(filter: try container.decodeIfPresent(TransactionFilter.self, forKey: .filter) ?? TransactionFilter())
        from = try container.decodeIfPresent(TransactionPoint.self, forKey: .from) ?? from
        to = try container.decodeIfPresent(TransactionPoint.self, forKey: .to) ?? to
        occurrence = try container.decodeIfPresent(Occurrence.self, forKey: .occurrence) ?? occurrence
        segmentation = try container.decodeIfPresent(Segmentation.self, forKey: .segmentation)
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

    /// Creates a segment.
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

/// The time from each event of a use case to the next one.
public struct TransitionsQuestion: Question {
    /// The transactions to measure. A use case is required.
    public var filter: TransactionFilter

    /// Creates a question.
    public init(filter: TransactionFilter) { self.filter = filter }
}

extension TransitionsQuestion {
    /// Reads a question. Missing members have defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(filter: try container.decodeIfPresent(TransactionFilter.self, forKey: .filter) ?? TransactionFilter())
    }
}

/// The transitions between consecutive events.
public struct TransitionsAnswer: QuestionAnswer {
    /// The transitions, the most frequent first, then by name.
    public var transitions: [Transition]
    /// One sentence on why there is no transition; `nil` if there is one.
    public var whyEmpty: String?
    public var weighed: Weighing?

    /// Creates an answer.
    public init(transitions: [Transition], whyEmpty: String? = nil) {
        self.transitions = transitions
        self.whyEmpty = whyEmpty
    }

    /// An event and the next one in the merged order of all sources.
    public struct Transition: Hashable, Sendable, Codable {
        /// The name of the event.
        public var from: String
        /// The name of the next event.
        public var to: String
        /// The times between them. They can be negative only between two sources, because of their clocks.
        public var statistics: DurationStatistics

        /// Creates a transition.
        public init(from: String, to: String, statistics: DurationStatistics) {
            self.from = from
            self.to = to
            self.statistics = statistics
        }
    }
}

extension DurationQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> DurationAnswer {
        try answer(partial(from: context))
    }

    package func answered(_ answer: DurationAnswer) -> AnyAnswer { .duration(self, answer) }

    package func partial(
        from context: AnswerContext
    ) throws(WaybillError) -> Folded<NamedSegments<CollectedDurations>> {
        let points = try PointMatcher([from, to], of: filter.useCase, context)
        let all = try EventCursor(
            filter, codes: points.codes, reading: points.contents.union(.outcome), segmentation: segmentation,
            sources: points.sources, context)
        var folded = try context.fold(all, into: Segmented(CollectedDurations())) {
            (events, collected) throws(WaybillError) in
            try events.forEach { transaction, events, sources in
                guard let start = points.occurrence(occurrence, of: 0, in: transaction, events, sources) else { return }
                let end = points.occurrence(occurrence, of: 1, in: transaction, events, sources)
                collected.add(transaction) { $0.add(start, end, sources, transaction) }
            }
        }
        folded.asked.events = points.unknown
        return folded.map { $0.named(all.transactions.segmentValues) }
    }

    package func answer(
        _ found: consuming Folded<NamedSegments<CollectedDurations>>
    ) throws(WaybillError) -> DurationAnswer {
        let asked = found.asked
        try asked.check()
        var answer = found.collected.answer(by: segmentation) { $0.segment($1) }
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

    mutating func add(
        _ start: TimePoint, _ end: TimePoint?, _ sources: SourceDirectory, _ transaction: TransactionCursor.Transaction
    ) {
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
    }

    mutating func segment(_ value: String?) -> DurationSegment {
        let histogram = [DurationSegment.Bar](of: durations)
        return DurationSegment(
            value: value, statistics: DurationStatistics(&durations), withoutEnd: Weights.count(withoutEnd),
            reversed: Weights.count(reversed), outcomes: outcomes.counts, histogram: histogram)
    }
}

extension TransitionsQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> TransitionsAnswer {
        try answer(partial(from: context))
    }

    package func answered(_ answer: TransitionsAnswer) -> AnyAnswer { .transitions(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<PairedDurations> {
        guard filter.useCase != nil else {
            throw WaybillError(.setting, "Events follow each other within a use case; say which.")
        }
        let all = try EventCursor(filter, codes: nil, sources: try SourceDirectory(context.connection), context)
        return try context.fold(all, into: PairedDurations()) { (events, collected) throws(WaybillError) in
            var numbered = NumberedPairs()
            try events.forEachInOrder { transaction, ordered, _ in
                for index in ordered.indices.dropFirst() {
                    numbered.add(
                        ordered[index].microseconds(since: ordered[index - 1]), from: ordered[index - 1].name,
                        to: ordered[index].name, weight: transaction.weight)
                }
            }
            collected = numbered.named(events.sources.names)
        }
    }

    package func answer(_ found: consuming Folded<PairedDurations>) throws(WaybillError) -> TransitionsAnswer {
        let asked = found.asked
        let transitions = try found.collected.transitions()
        var answer = TransitionsAnswer(
            transitions: transitions.sorted {
                (-$0.statistics.count, $0.from, $0.to) < (-$1.statistics.count, $1.from, $1.to)
            }, whyEmpty: transitions.isEmpty ? asked.whyNone { "None of \($0) has two events." } : nil)
        answer.weighed = asked.weighing
        return answer
    }
}

package struct PairedDurations: Mergeable {
    fileprivate var durations: [Pair: Durations] = [:]

    fileprivate struct Pair: Hashable {
        var from, to: String
    }

    package mutating func merge(_ other: consuming PairedDurations) { durations.merge(other.durations) }

    fileprivate consuming func transitions() throws(WaybillError) -> [TransitionsAnswer.Transition] {
        var all: [(pair: Pair, durations: Durations)] = []
        while let (pair, durations) = durations.popFirst() { all.append((pair, durations)) }
        return all.onThreads { element in
            TransitionsAnswer.Transition(
                from: element.pair.from, to: element.pair.to, statistics: DurationStatistics(&element.durations))
        }
    }
}

private struct NumberedPairs {
    private var durations: [Durations] = []
    private var places: [Pair: Int] = [:]
    /// The last successor of each event, because it is usually the next one, too.
    private var latest: [(to: Int, place: Int)] = []

    private struct Pair: Hashable {
        var from: Int
        var to: Int
    }

    mutating func add(_ duration: Int64, from: Int, to: Int, weight: Int64) {
        while latest.count <= from { latest.append((-1, -1)) }
        if latest[from].to != to { latest[from] = (to, place(of: Pair(from: from, to: to))) }
        durations[latest[from].place].append(duration, weight: weight)
    }

    private mutating func place(of pair: Pair) -> Int {
        if let place = places[pair] { return place }
        places[pair] = durations.count
        durations.append(Durations())
        return durations.count - 1
    }

    func named(_ names: [String]) -> PairedDurations {
        var named = PairedDurations()
        for (pair, place) in places {
            named.durations[PairedDurations.Pair(from: names[pair.from], to: names[pair.to])] = durations[place]
        }
        return named
    }
}
