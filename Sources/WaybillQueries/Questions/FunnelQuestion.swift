public import WaybillCore
import WaybillStore

/// How many transactions get how far, step by step.
public struct FunnelQuestion: Question {
    /// Which transactions count; has to name a use case where a step is an event.
    public var filter: TransactionFilter
    /// In order. A step is reached by its first occurrence after the step before was.
    public var steps: [TransactionPoint]
    package var windowMicroseconds: Int64?
    /// Whether no other event may lie between two steps.
    public var isStrict: Bool
    /// By what to tell the transactions apart; nil: not at all.
    public var segmentation: Segmentation?

    /// The most steps that are asked for at once.
    package static let stepLimit = 100

    /// Makes a question.
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

    /// The longest that it may take from the first step to any other; nil: any time.
    public var window: Duration? {
        get { windowMicroseconds.map { .microseconds($0) } }
        set { windowMicroseconds = newValue?.microseconds }
    }
}

extension FunnelQuestion {
    /// Reads a question; what is left out is as by default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            filter: try container.decodeIfPresent(TransactionFilter.self, forKey: .filter) ?? TransactionFilter(),
            steps: try container.decode([TransactionPoint].self, forKey: .steps),
            isStrict: try container.decodeIfPresent(Bool.self, forKey: .isStrict) ?? false,
            segmentation: try container.decodeIfPresent(Segmentation.self, forKey: .segmentation))
        windowMicroseconds = try container.decodeIfPresent(Int64.self, forKey: .windowMicroseconds)
    }
}

/// How many got how far; nothing counts where none reaches the first step.
public typealias FunnelAnswer = SegmentedAnswer<FunnelSegment>

/// The funnel of one segment.
public struct FunnelSegment: Hashable, Sendable, Codable {
    /// What its transactions have in common; nil for those that have no such value, and for all.
    public var value: String?
    /// Transactions looked at, whether they reached a step or not.
    public var transactions: Int
    /// One for each step of the query.
    public var steps: [Step]

    /// Makes a segment.
    public init(value: String?, transactions: Int, steps: [Step]) {
        self.value = value
        self.transactions = transactions
        self.steps = steps
    }

    /// One step.
    public struct Step: Hashable, Sendable, Codable {
        /// What has to be reached.
        public var point: TransactionPoint
        /// Transactions that got here.
        public var reached: Int
        /// Transactions that got to the step before, and not here; of the first step: that never began the funnel.
        public var lost: Int
        /// From the step before to here.
        public var statistics: DurationStatistics

        /// Makes a step.
        public init(point: TransactionPoint, reached: Int, lost: Int, statistics: DurationStatistics) {
            self.point = point
            self.reached = reached
            self.lost = lost
            self.statistics = statistics
        }
    }
}

/// What those did last who did not finish.
public struct DropOffQuestion: Question {
    /// Which transactions count; where it names no outcomes, those that were abandoned, interrupted or timed out.
    public var filter: TransactionFilter

    /// Makes a question.
    public init(filter: TransactionFilter) { self.filter = filter }
}

extension DropOffQuestion {
    /// Reads a question; what is left out is as by default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(filter: try container.decodeIfPresent(TransactionFilter.self, forKey: .filter) ?? TransactionFilter())
    }
}

/// The last events of those who did not finish.
public struct DropOffAnswer: QuestionAnswer {
    /// Transactions that count.
    public var transactions: Int
    /// The most frequent first, then by name.
    public var lastEvents: [LastEvent]
    /// One sentence on why no transaction counts; nil where one does.
    public var whyEmpty: String?
    public var weighed: Weighing?

    /// Makes an answer.
    public init(transactions: Int, lastEvents: [LastEvent], whyEmpty: String? = nil) {
        self.transactions = transactions
        self.lastEvents = lastEvents
        self.whyEmpty = whyEmpty
    }

    /// An event after which nothing came.
    public struct LastEvent: Hashable, Sendable, Codable {
        /// nil: there was no event at all.
        public var event: String?
        /// Transactions that ended there.
        public var count: Int
        /// From the beginning to it.
        public var statistics: DurationStatistics

        /// Makes a last event.
        public init(event: String?, count: Int, statistics: DurationStatistics) {
            self.event = event
            self.count = count
            self.statistics = statistics
        }
    }
}

extension FunnelQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> FunnelAnswer {
        try answer(partial(from: context))
    }

    package func answered(_ answer: FunnelAnswer) -> AnyAnswer { .funnel(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<NamedSegments<CollectedSteps>> {
        guard !steps.isEmpty else { throw WaybillError(.setting, "A funnel needs at least one step.") }
        let points = try PointMatcher(steps, of: filter.useCase, context)
        // Strictly, what lies between matters.
        let all = try EventCursor(
            filter, codes: isStrict ? nil : points.codes, reading: points.contents, segmentation: segmentation,
            sources: points.sources,
            context)
        var folded = try context.fold(all, into: Segmented(CollectedSteps(stepCount: steps.count))) {
            (events, collected) throws(WaybillError) in
            if isStrict {
                try events.forEachInOrder { transaction, ordered, sources in
                    let durations = strict(points, transaction, ordered, sources)
                    collected.add(transaction) { $0.add(durations, transaction.weight) }
                }
            } else {
                try events.forEach { transaction, events, sources in
                    let durations = loose(points, transaction, events, sources)
                    collected.add(transaction) { $0.add(durations, transaction.weight) }
                }
            }
        }
        folded.asked.events = points.unknown
        return folded.map { $0.named(all.transactions.segmentValues) }
    }

    package func answer(
        _ found: consuming Folded<NamedSegments<CollectedSteps>>
    ) throws(WaybillError) -> FunnelAnswer {
        let asked = found.asked
        try asked.check()
        var answer = found.collected.answer(by: segmentation) { $0.segment($1, steps) }
        answer.weighed = asked.weighing
        if let first = steps.first, answer.total.steps.first?.reached == 0 {
            answer.whyEmpty = asked.whyNone { "None of \($0) gets to the first step, \(first.inWords)." }
        }
        return answer
    }

    /// How long each step that was reached took: each by its first occurrence after the step before.
    private func loose(
        _ points: PointMatcher, _ transaction: TransactionCursor.Transaction, _ events: [TimePoint],
        _ sources: SourceDirectory
    ) -> [Int64] {
        var durations: [Int64] = []
        var (first, last): (TimePoint?, TimePoint?) = (nil, nil)
        for index in steps.indices {
            guard let step = points.occurrence(.first, of: index, in: transaction, events, after: last, sources) else {
                break
            }
            if let first, let window = windowMicroseconds, step.microseconds(since: first) > window { break }
            durations.append(last.map(step.microseconds(since:)) ?? 0)
            (first, last) = (first ?? step, step)
        }
        return durations
    }

    /// The same with nothing in between: the run of steps that gets furthest, of several the earliest.
    private func strict(
        _ points: PointMatcher, _ transaction: TransactionCursor.Transaction, _ events: [TimePoint],
        _ sources: SourceDirectory
    ) -> [Int64] {
        var ordered = events
        if steps.contains(.begun) { ordered.insert(transaction.begin, at: 0) }
        if steps.contains(.finished), let end = transaction.end(sources) {
            // Facts after the closing are late.
            let place = ordered.firstIndex { $0.isAfter(end, sources) } ?? ordered.endIndex
            ordered.insert(end, at: place)
        }
        var best: [Int64] = []
        for start in ordered.indices {
            var durations: [Int64] = []
            for (index, point) in steps.enumerated() {
                guard start + index < ordered.count, isAt(point, index, ordered[start + index], points) else { break }
                let step = ordered[start + index]
                if let window = windowMicroseconds, step.microseconds(since: ordered[start]) > window { break }
                durations.append(index == 0 ? 0 : step.microseconds(since: ordered[start + index - 1]))
            }
            if durations.count > best.count { best = durations }
        }
        return best
    }

    private func isAt(_ point: TransactionPoint, _ index: Int, _ event: TimePoint, _ points: PointMatcher) -> Bool {
        switch point {
        case .begun: event.name == -1
        case .finished: event.name == -2
        case .event: points.matches(event, index)
        }
    }
}

package struct CollectedSteps: Mergeable {
    /// Their weights, added up.
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

    /// Leaves the durations in another order.
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
    public func answer(from context: AnswerContext) throws(WaybillError) -> DropOffAnswer {
        try answer(partial(from: context))
    }

    package func answered(_ answer: DropOffAnswer) -> AnyAnswer { .dropOff(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<LastEvents> {
        guard filter.useCase != nil else {
            throw WaybillError(.setting, "A last event is one of a use case; say of which.")
        }
        let all = try EventCursor(
            unfinished, codes: nil, reading: .times, sources: try SourceDirectory(context.connection), context)
        return try context.fold(all, into: LastEvents()) { (events, collected) throws(WaybillError) in
            var durations: [Int?: Durations] = [:]
            try events.forEachInOrder { transaction, ordered, _ in
                durations[ordered.last?.name, default: Durations()].append(
                    ordered.last?.microseconds(since: transaction.begin) ?? 0, weight: transaction.weight)
                collected.weights.addWeight(transaction.weight)
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
            transactions: Weights.count(found.collected.weights),
            lastEvents: last.sorted {
                $0.count == $1.count ? Segmentation.precedes($0.event, $1.event) : $0.count > $1.count
            },
            whyEmpty: asked.count == 0 ? asked.whyNone { "\($0) can be listed." } : nil)
        answer.weighed = asked.weighing
        return answer
    }

    /// Its filter, with the outcomes of those who did not finish where it names none.
    private var unfinished: TransactionFilter {
        var filter = filter
        if filter.outcomes == nil { filter.conditions.append(.outcome([.abandoned, .interrupted, .timedOut])) }
        return filter
    }
}

/// How long it took to the last events, by their names; nil: there was no event.
package struct LastEvents: Mergeable {
    fileprivate var durations: [String?: Durations] = [:]
    /// Weights, added up.
    fileprivate var weights: Int64 = 0

    package mutating func merge(_ other: consuming LastEvents) {
        durations.merge(other.durations)
        weights.addWeight(other.weights)
    }
}

/// What is collected of the transactions that a question is about, and what is said of these.
package struct Folded<Collected: Mergeable>: Mergeable {
    var collected: Collected
    var asked: AskedTransactions

    package mutating func merge(_ other: consuming Folded) {
        collected.merge(other.collected)
        asked.merge(other.asked)
    }

    consuming func map<Other>(_ change: (consuming Collected) -> Other) -> Folded<Other> {
        Folded<Other>(collected: change(collected), asked: asked)
    }
}

/// What hands out transactions, and can be cut into ranges of them.
protocol TransactionRange {
    var transactions: TransactionCursor { get }

    /// As many ranges one after the other as there are connections, each for a thread of its own.
    func ranges(by connections: [Connection]) -> [Self]
}

extension AnswerContext {
    /// Collects something of all transactions, by as many threads as there are connections; where they are few, by one.
    ///
    /// - Parameters:
    ///   - none: What there is before the first one.
    ///   - collect: Goes through a range of them.
    func fold<Range: TransactionRange, Collected: Mergeable>(
        _ all: Range, into none: Collected, _ collect: (inout Range, inout Collected) throws(WaybillError) -> Void
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
