public import Foundation
public import WaybillCore

/// How often each use case was run, and how it ended.
public struct SummaryQuestion: Question {
    /// Which transactions count.
    public var filter: TransactionFilter
    package var stepMicroseconds: Int64

    /// Makes a question.
    public init(filter: TransactionFilter = TransactionFilter(), step: Duration = .seconds(86_400)) {
        self.filter = filter
        stepMicroseconds = step.microseconds
    }

    /// The length of the steps of ``UseCaseSummary/rates``. Default: a day.
    public var step: Duration {
        get { .microseconds(stepMicroseconds) }
        set { stepMicroseconds = newValue.microseconds }
    }
}

extension SummaryQuestion {
    /// Reads a question; what is left out is as by default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        filter = try container.decodeIfPresent(TransactionFilter.self, forKey: .filter) ?? filter
        stepMicroseconds = try container.decodeIfPresent(Int64.self, forKey: .stepMicroseconds) ?? stepMicroseconds
    }
}

/// One entry for each use case, the most frequent first.
public struct SummaryAnswer: QuestionAnswer {
    /// By number of runs, then by code.
    public var useCases: [UseCaseSummary]
    /// One sentence on why no transaction counts; nil where one does.
    public var whyEmpty: String?
    public var weighed: Weighing?

    /// Makes an answer.
    public init(useCases: [UseCaseSummary], whyEmpty: String? = nil) {
        self.useCases = useCases
        self.whyEmpty = whyEmpty
    }
}

/// What is said of one use case.
public struct UseCaseSummary: Hashable, Sendable, Codable {
    /// The code.
    public var useCase: Int
    /// The name that most of its runs have; `use case 17` where none is known.
    public var name: String
    /// Transactions.
    public var runs: Int
    /// How many ended how; an outcome that none has is left out.
    public var outcomes: [TransactionOutcome: Int]
    /// How many gave which error, the most frequent first.
    public var errors: [ErrorCount]
    /// Different installations that began them; those that told none do not count.
    public var installations: Int
    /// By time of beginning, in order; steps without runs are left out.
    public var rates: [Rate]
    /// How long those took that were closed, with any outcome, as a ``DurationQuestion`` says it by default.
    public var duration: DurationStatistics
    /// How long those took that succeeded.
    public var succeeded: DurationStatistics

    /// Makes a summary.
    public init(
        useCase: Int, name: String, runs: Int, outcomes: [TransactionOutcome: Int], errors: [ErrorCount],
        installations: Int, rates: [Rate],
        duration: DurationStatistics, succeeded: DurationStatistics
    ) {
        self.useCase = useCase
        self.name = name
        self.runs = runs
        self.outcomes = outcomes
        self.errors = errors
        self.installations = installations
        self.rates = rates
        self.duration = duration
        self.succeeded = succeeded
    }

    /// Transactions that were closed with an error.
    public struct ErrorCount: Hashable, Sendable, Codable {
        /// Empty for a mere number.
        public var domain: String
        /// The error's number in its domain; of several that have the same name, as versions of an app may have them,
        /// the least.
        public var code: Int64
        /// The error's name, which it is counted by; nil where it has none, and is counted by its code.
        public var name: String?
        /// How many were closed with it.
        public var count: Int

        /// Makes a count.
        public init(domain: String, code: Int64, name: String? = nil, count: Int) {
            self.domain = domain
            self.code = code
            self.name = name
            self.count = count
        }

        /// What is counted, as people read it and a filter finds it.
        package var error: RecordedError { RecordedError(domain: domain, code: code, name: name) }
    }

    /// What began in one step of time.
    public struct Rate: Hashable, Sendable, Codable {
        package var startMicroseconds: Int64
        /// Transactions that began in it.
        public var runs: Int
        /// Those of them that failed.
        public var failed: Int
        /// Those of them that were abandoned; interrupted and timed out ones are counted in ``outcomes`` only.
        public var abandoned: Int
        /// How many ended how; an outcome that none has is left out.
        public var outcomes: [TransactionOutcome: Int]

        /// Makes a rate, which counts what the outcomes say.
        public init(start: Date, outcomes: [TransactionOutcome: Int]) {
            startMicroseconds = start.microseconds
            self.outcomes = outcomes
            runs = outcomes.values.reduce(0, +)
            failed = outcomes[.failed] ?? 0
            abandoned = outcomes[.abandoned] ?? 0
        }

        /// When the step starts: a multiple of its length after 1970.
        public var start: Date { Date(microseconds: startMicroseconds) }
    }
}

/// One pass over the transactions.
extension SummaryQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> SummaryAnswer {
        try answer(partial(from: context))
    }

    package func answered(_ answer: SummaryAnswer) -> AnyAnswer { .summary(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<CountedUseCases> {
        let sources = try SourceDirectory(context.connection)
        let all = try TransactionCursor(filter, reading: [.times, .outcome, .error], sources: sources, context)
        var folded = try context.fold(all, into: CountedUseCases()) { (transactions, collected) throws(WaybillError) in
            var counts: [UseCaseCounts] = []
            var places: [Int: Int] = [:]
            let step = wholeStep
            try transactions.forEach { (transaction, _) throws(WaybillError) in
                let place = places[transaction.useCase] ?? counts.count
                if place == counts.count {
                    places[transaction.useCase] = place
                    counts.append(UseCaseCounts())
                }
                counts[place].add(transaction, step: transaction.begun.quotientAndRemainder(flooringBy: step).quotient)
            }
            for (useCase, place) in places {
                counts[place].tellInstallations(sources)
                collected.useCases[useCase] = counts[place]
            }
        }
        let names = NameTable(context.connection)
        for useCase in folded.collected.useCases.keys {
            folded.collected.useCases[useCase]?.name = try names.knownUseCase(useCase)
        }
        return folded
    }

    private var wholeStep: Int64 { max(1, stepMicroseconds) }

    package func answer(_ found: consuming Folded<CountedUseCases>) throws(WaybillError) -> SummaryAnswer {
        let asked = found.asked
        var summaries: [UseCaseSummary] = []
        for (useCase, counts) in found.collected.useCases {
            var counts = counts
            summaries.append(counts.summary(of: useCase, step: wholeStep))
        }
        var answer = SummaryAnswer(
            useCases: summaries.sorted { (-$0.runs, $0.useCase) < (-$1.runs, $1.useCase) },
            whyEmpty: summaries.isEmpty ? asked.whyNone { "\($0) can be listed." } : nil)
        answer.weighed = asked.weighing
        return answer
    }
}

/// What is counted, by the codes of use cases.
package struct CountedUseCases: Mergeable {
    fileprivate var useCases: [Int: UseCaseCounts] = [:]

    package mutating func merge(_ other: consuming CountedUseCases) { useCases.merge(other.useCases) }
}

/// What is counted of one use case.
private struct UseCaseCounts: Mergeable {
    /// The least of its names; nil: it has none.
    fileprivate var name: String?
    private var outcomes: [TransactionOutcome: Int64] = [:]
    private var errors = ErrorCounts()
    /// Those whose installations were not told yet.
    private var sources: Set<Int64> = []
    private var installations: Set<GUID> = []
    private var durations = Durations()
    private var succeeded = Durations()
    private var rates: [Rate] = []
    private var places: [Int64: Int] = [:]
    /// What began shortly after each other stands together.
    private var latest = 0

    private struct Rate {
        var step: Int64
        var outcomes: [TransactionOutcome: Int64] = [:]
    }

    mutating func add(_ transaction: TransactionCursor.Transaction, step: Int64) {
        outcomes[transaction.outcome, default: 0].addWeight(transaction.weight)
        if let error = transaction.error { errors.add(error, transaction.weight) }
        sources.insert(transaction.source)
        if let closing = transaction.closing, closing.sequence >= transaction.sequence {
            durations.append(closing.at - transaction.at, weight: transaction.weight)
            if transaction.outcome == .succeeded {
                succeeded.append(closing.at - transaction.at, weight: transaction.weight)
            }
        }
        if latest >= rates.count || rates[latest].step != step { latest = place(of: step) }
        rates[latest].outcomes[transaction.outcome, default: 0].addWeight(transaction.weight)
    }

    private mutating func place(of step: Int64) -> Int {
        if let place = places[step] { return place }
        places[step] = rates.count
        rates.append(Rate(step: step))
        return rates.count - 1
    }

    /// Keeps which installations its sources are of, in place of the sources, which have a number in their store only.
    fileprivate mutating func tellInstallations(_ known: SourceDirectory) {
        installations.formUnion(sources.compactMap { known.entries[$0]?.installation })
        sources = []
    }

    mutating func merge(_ other: consuming UseCaseCounts) {
        name = EmptyReason.least(name, other.name)
        outcomes.merge(other.outcomes, uniquingKeysWith: { $0.addingWeight($1) })
        errors.merge(other.errors)
        installations.formUnion(other.installations)
        durations.merge(other.durations)
        succeeded.merge(other.succeeded)
        for rate in other.rates {
            rates[place(of: rate.step)].outcomes.merge(rate.outcomes, uniquingKeysWith: { $0.addingWeight($1) })
        }
    }

    /// Leaves the durations in another order.
    fileprivate mutating func summary(of useCase: Int, step: Int64) -> UseCaseSummary {
        UseCaseSummary(
            useCase: useCase, name: name ?? "use case \(useCase)", runs: outcomes.counts.values.reduce(0, +),
            outcomes: outcomes.counts,
            errors: errors.sorted,
            installations: installations.count,
            rates: rates.sorted { $0.step < $1.step }.map {
                .init(start: Date(microseconds: $0.step * step), outcomes: $0.outcomes.counts)
            }, duration: DurationStatistics(&durations), succeeded: DurationStatistics(&succeeded))
    }
}

/// How often which error came.
struct ErrorCounts: Mergeable {
    private var counts: [RecordedError: (code: Int64, count: Int64)] = [:]

    /// - Parameter weight: For how many it stands, in millionths.
    mutating func add(_ error: RecordedError, _ weight: Int64) { add((error.code, weight), of: error.group) }

    private mutating func add(_ more: (code: Int64, count: Int64), of group: RecordedError) {
        let known = counts[group] ?? (more.code, 0)
        counts[group] = (min(known.code, more.code), known.count.addingWeight(more.count))
    }

    mutating func merge(_ other: consuming ErrorCounts) {
        for (group, more) in other.counts { add(more, of: group) }
    }

    /// The most frequent first.
    var sorted: [UseCaseSummary.ErrorCount] {
        counts.filter { $0.value.count > 0 }
            .map {
                .init(
                    domain: $0.key.domain, code: $0.value.code, name: $0.key.name, count: Weights.count($0.value.count))
            }
            .sorted {
                ($1.count, $0.domain, $0.name ?? "", $0.code) < ($0.count, $1.domain, $1.name ?? "", $1.code)
            }
    }
}
