package import WaybillCore
import WaybillStore

/// The number of transactions that reach each of several steps.
public struct FunnelQuestion: Question {
    /// The transactions to count. A use case is required if a step is an event.
    public var filter: TransactionFilter
    /// The steps in order. A step is reached by its first occurrence after the step before.
    public var steps: [TransactionPoint]
    package var windowMicroseconds: Int64?
    /// Whether no other event may occur between two steps.
    public var isStrict: Bool
    /// The segments; `nil` for one result.
    public var segmentation: Segmentation?
    package var isCertified: Bool?

    package static let stepLimit = 100

    /// Creates a question.
    public init(
        filter: TransactionFilter, steps: [TransactionPoint], window: Duration? = nil, isStrict: Bool = false,
        segmentation: Segmentation? = nil
    ) {
        self.filter = filter
        self.steps = steps
        windowMicroseconds = window?.microseconds
        self.isStrict = isStrict
        self.segmentation = segmentation
    }

    /// The longest time from the first step to any other; `nil` for any time.
    public var window: Duration? {
        get { windowMicroseconds.map { .microseconds($0) } }
        set { windowMicroseconds = newValue?.microseconds }
    }
}

extension FunnelQuestion {
    /// Reads a question. Missing members have defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            filter: try container.decode(TransactionFilter.self, forKey: .filter),
            steps: try container.decode([TransactionPoint].self, forKey: .steps),
            isStrict: try container.decodeIfPresent(Bool.self, forKey: .isStrict) ?? false,
            segmentation: try container.decodeIfPresent(Segmentation.self, forKey: .segmentation))
        windowMicroseconds = try container.decodeIfPresent(Int64.self, forKey: .windowMicroseconds)
        isCertified = try container.decodeIfPresent(Bool.self, forKey: .isCertified)
    }
}

/// The funnel by segment. It is empty if no transaction reaches the first step.
public typealias FunnelAnswer = SegmentedAnswer<FunnelSegment>

/// The funnel of one segment.
public struct FunnelSegment: Hashable, Sendable, Codable {
    /// The value of its transactions; `nil` for those without one, and for all.
    public var value: String?
    /// The number of transactions, whether they reached a step or not.
    public var transactions: Int
    /// One for each step of the question.
    public var steps: [Step]

    /// Creates a segment.
    public init(value: String?, transactions: Int, steps: [Step]) {
        self.value = value
        self.transactions = transactions
        self.steps = steps
    }

    /// One step.
    public struct Step: Hashable, Sendable, Codable {
        /// The point of the step.
        public var point: TransactionPoint
        /// The number of transactions that reached the step.
        public var reached: Int
        /// The transactions that reached the step before, but not this one; for the first step, all that missed it.
        public var lost: Int
        /// The times from the step before.
        public var statistics: DurationStatistics

        /// Creates a step.
        public init(point: TransactionPoint, reached: Int, lost: Int, statistics: DurationStatistics) {
            self.point = point
            self.reached = reached
            self.lost = lost
            self.statistics = statistics
        }
    }
}

/// The last events of unfinished transactions.
public struct DropOffQuestion: Question {
    /// The transactions to count. Without outcomes: those that were abandoned, interrupted or timed out.
    public var filter: TransactionFilter

    /// Creates a question.
    public init(filter: TransactionFilter) { self.filter = filter }
}

/// The last events of unfinished transactions.
public struct DropOffAnswer: QuestionAnswer {
    /// The number of transactions.
    public var transactions: Int
    /// The last events, the most frequent first, then by name.
    public var lastEvents: [LastEvent]
    /// One sentence on why no transaction counts; `nil` if one does.
    public var whyEmpty: String?
    public var weighed: Weighing?

    /// Creates an answer.
    public init(transactions: Int, lastEvents: [LastEvent], whyEmpty: String? = nil) {
        self.transactions = transactions
        self.lastEvents = lastEvents
        self.whyEmpty = whyEmpty
    }

    /// The last event of some transactions.
    public struct LastEvent: Hashable, Sendable, Codable {
        /// The name of the event; `nil` for transactions without events.
        public var event: String?
        /// The number of transactions that ended with it.
        public var count: Int
        /// The times from the beginning to the event.
        public var statistics: DurationStatistics

        /// Creates a last event.
        public init(event: String?, count: Int, statistics: DurationStatistics) {
            self.event = event
            self.count = count
            self.statistics = statistics
        }
    }
}

extension FunnelQuestion: FoldedQuestion {
    public typealias Answer = FunnelAnswer

    package var rowContents: RowContents { RowContents(codes: isStrict ? nil : [], readsSources: false) }
    package var points: [TransactionPoint] { steps }

    package func answered(_ answer: FunnelAnswer) -> AnyAnswer { .funnel(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<Segments<CollectedSteps>> {
        guard !steps.isEmpty else { throw WaybillError(.setting, "A funnel needs at least one step.") }
        let all = try EventCursor(self, context)
        let none = Segments(CollectedSteps(stepCount: steps.count), all.transactions.segmentValues)
        return try context.fold(all, into: none) {
            (events, collected) throws(WaybillError) in
            if isStrict {
                try events.forEachInOrder { found in
                    collected.add(found.transaction) { $0.add(strict(found), found.transaction.weight) }
                }
            } else {
                try events.forEach { found in
                    collected.add(found.transaction) { $0.add(loose(found), found.transaction.weight) }
                }
            }
        }
    }

    package func answer(
        _ found: consuming Folded<Segments<CollectedSteps>>
    ) throws(WaybillError) -> FunnelAnswer {
        let asked = found.asked
        try asked.check()
        var rows: [[AnswerBounds.Row]] = []
        var answer = found.collected.answer(by: segmentation) { collected, value in
            let segment = collected.segment(value, steps)
            if let owed = asked.owed { rows.append(segment.bounds(owed)) }
            return segment
        }
        answer.add(rows, of: answer.segments.map(\.value), asked.owed)
        answer.weighed = asked.weighing
        if let first = steps.first, answer.total.steps.first?.reached == 0 {
            answer.whyEmpty = asked.whyNone { "None of \($0) gets to the first step, \(first.inWords)." }
        }
        return answer
    }

    private func loose(_ found: TimedTransaction) -> [Int64] {
        var durations: [Int64] = []
        var (first, last): (TimePoint?, TimePoint?) = (nil, nil)
        for index in steps.indices {
            guard let step = found.occurrence(.first, of: index, after: last) else { break }
            if let first, let window = windowMicroseconds, step.microseconds(since: first) > window { break }
            durations.append(last.map(step.microseconds(since:)) ?? 0)
            (first, last) = (first ?? step, step)
        }
        return durations
    }

    /// The longest run of steps without other events in between, and the earliest of equally long ones.
    private func strict(_ found: TimedTransaction) -> [Int64] {
        var ordered = found.events
        if steps.contains(.begun) { ordered.insert(found.begin, at: 0) }
        if steps.contains(.finished), let end = found.end {
            // Facts after the closing are late.
            let place = ordered.firstIndex { $0.isAfter(end, found.sources) } ?? ordered.endIndex
            ordered.insert(end, at: place)
        }
        var best: [Int64] = []
        for start in ordered.indices {
            var durations: [Int64] = []
            for index in steps.indices {
                guard start + index < ordered.count, found.isPoint(index, ordered[start + index]) else { break }
                let step = ordered[start + index]
                if let window = windowMicroseconds, step.microseconds(since: ordered[start]) > window { break }
                durations.append(index == 0 ? 0 : step.microseconds(since: ordered[start + index - 1]))
            }
            if durations.count > best.count { best = durations }
        }
        return best
    }
}

extension FunnelSegment {
    fileprivate func bounds(_ owed: OwedFacts) -> [AnswerBounds.Row] {
        [owed.row("", "transactions", count: transactions)]
            + steps.enumerated().flatMap { number, step in
                let measure = "step \(number + 1), \(step.point)"
                let tally = OwedFacts.Tally(part: step.reached, whole: transactions)
                return [
                    owed.row("", measure, count: step.reached),
                    owed.row("", "\(measure), of all", rate: tally),
                ]
            }
    }
}

package struct CollectedSteps: Mergeable {
    private var transactions: Int64 = 0
    private var durations: [Durations]

    init(stepCount: Int) { durations = Array(repeating: Durations(), count: stepCount) }

    mutating func add(_ steps: [Int64], _ weight: Int64) {
        transactions.addWeight(weight)
        for (index, duration) in steps.enumerated() { durations[index].append(duration, weight: weight) }
    }

    package mutating func merge(_ other: consuming CollectedSteps) {
        transactions.addWeight(other.transactions)
        for (index, durations) in other.durations.enumerated() { self.durations[index].merge(durations) }
    }

    mutating func segment(_ value: String?, _ points: [TransactionPoint]) -> FunnelSegment {
        let transactions = Weights.count(transactions)
        var before = transactions
        var steps: [FunnelSegment.Step] = []
        for (index, point) in points.enumerated() {
            let reached = durations[index].count
            var none = Durations()
            let statistics = index == 0 ? DurationStatistics(&none) : DurationStatistics(&durations[index])
            steps.append(
                FunnelSegment.Step(point: point, reached: reached, lost: before - reached, statistics: statistics))
            before = reached
        }
        return FunnelSegment(value: value, transactions: transactions, steps: steps)
    }
}

extension DropOffQuestion: FoldedQuestion {
    public typealias Answer = DropOffAnswer

    package var rowSelection: RowSelection { RowSelection(transactions: unfinished) }
    package var rowContents: RowContents { RowContents(codes: nil, readsSources: false) }

    package func answered(_ answer: DropOffAnswer) -> AnyAnswer { .dropOff(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<LastEvents> {
        guard filter.useCase != nil else {
            throw WaybillError(.setting, "A last event is one of a use case; say of which.")
        }
        let all = try EventCursor(self, reading: .times, context)
        return try context.fold(all, into: LastEvents()) { (events, collected) throws(WaybillError) in
            var durations: [Int?: Durations] = [:]
            try events.forEachInOrder { found in
                let last = found.events.last
                durations[last?.name, default: Durations()].append(
                    last?.microseconds(since: found.begin) ?? 0, weight: found.transaction.weight)
            }
            let names = events.sources.names
            for (name, durations) in durations { collected.durations[name.map { names[$0] }] = durations }
        }
    }

    package func answer(_ found: consuming Folded<LastEvents>) throws(WaybillError) -> DropOffAnswer {
        let asked = found.asked
        let last = found.collected.durations.map { name, durations in
            var taken = name == nil ? Durations() : durations
            return DropOffAnswer.LastEvent(
                event: name, count: durations.count, statistics: DurationStatistics(&taken))
        }
        var answer = DropOffAnswer(
            transactions: Weights.count(asked.weights.sum),
            lastEvents: last.sorted {
                $0.count == $1.count ? Segmentation.precedes($0.event, $1.event) : $0.count > $1.count
            },
            whyEmpty: asked.count == 0 ? asked.whyNone { "\($0) can be listed." } : nil)
        answer.weighed = asked.weighing
        return answer
    }

    var unfinished: TransactionFilter {
        var filter = filter
        if filter.outcomes == nil { filter.conditions.append(.outcome([.abandoned, .interrupted, .timedOut])) }
        return filter
    }
}

package struct LastEvents: Mergeable {
    fileprivate var durations: [String?: Durations] = [:]

    package mutating func merge(_ other: consuming LastEvents) { durations.merge(other.durations) }
}

package struct Folded<Collected: Mergeable>: PartialResult {
    var collected: Collected
    var asked: AskedTransactions

    package mutating func merge(_ other: consuming Folded) {
        collected.merge(other.collected)
        asked.merge(other.asked)
    }

    package mutating func add(_ reason: EmptyReason, exchangeCount: Int) {
        asked.add(reason)
    }
}

extension AnswerContext {
    /// Collects from all transactions: on one thread if they are few, otherwise on one per connection.
    func fold<Collected: Mergeable>(
        _ all: EventCursor, into none: Collected,
        _ collect: (inout EventCursor, inout Collected) throws(WaybillError) -> Void
    ) throws(WaybillError) -> Folded<Collected> {
        let ranges = all.ranges(by: all.transactions.count > soonRead ? connections : [reader.connection])
        let partials = try onThreads(ranges.count) { (number) throws(WaybillError) in
            var (range, collected) = (ranges[number], none)
            try collect(&range, &collected)
            return (collected: collected, weights: range.transactions.weights)
        }
        var (collected, weights) = (none, Weights())
        for partial in partials {
            collected.merge(partial.collected)
            weights.merge(partial.weights)
        }
        return Folded(collected: collected, asked: try AskedTransactions(all.transactions, weights, self))
    }
}
