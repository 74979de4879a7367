package import WaybillCore

/// The time from each event of a use case to the next one.
public struct TransitionsQuestion: Question {
    /// The transactions to measure. A use case is required.
    public var filter: TransactionFilter

    /// Creates a question.
    public init(filter: TransactionFilter) { self.filter = filter }
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

extension TransitionsQuestion: FoldedQuestion {
    public typealias Answer = TransitionsAnswer

    package var rowContents: RowContents { RowContents(codes: nil, readsSources: false) }

    package func answered(_ answer: TransitionsAnswer) -> AnyAnswer { .transitions(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<PairedDurations> {
        guard filter.useCase != nil else {
            throw WaybillError(.setting, "Events follow each other within a use case; say which.")
        }
        let all = try EventCursor(self, context)
        return try context.fold(all, into: PairedDurations()) { (events, collected) throws(WaybillError) in
            var numbered = NumberedPairs()
            try events.forEachInOrder { found in
                for (event, next) in zip(found.events, found.events.dropFirst()) {
                    numbered.add(
                        next.microseconds(since: event), from: event.name, to: next.name,
                        weight: found.transaction.weight)
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
