public import Foundation
public import WaybillCore

/// The number of runs of each use case, and their outcomes.
public struct SummaryQuestion: Question {
    /// The transactions to count.
    public var filter: TransactionFilter
    package var stepMicroseconds: Int64
    package var isCertified: Bool?

    /// Creates a question, by default about all transactions, with rates per day.
    public init(filter: TransactionFilter = TransactionFilter(), step: Duration = .seconds(86_400)) {
        self.filter = filter
        stepMicroseconds = step.microseconds
    }

    /// The step of ``UseCaseSummary/rates``. Default: one day.
    public var step: Duration {
        get { .microseconds(stepMicroseconds) }
        set { stepMicroseconds = newValue.microseconds }
    }
}

extension SummaryQuestion {
    /// Reads a question. Missing members have defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        filter = try container.decode(TransactionFilter.self, forKey: .filter)
        stepMicroseconds = try container.decodeIfPresent(Int64.self, forKey: .stepMicroseconds) ?? stepMicroseconds
        isCertified = try container.decodeIfPresent(Bool.self, forKey: .isCertified)
    }
}

/// The summaries of use cases.
public struct SummaryAnswer: QuestionAnswer {
    /// The use cases, sorted by number of runs, then by code.
    public var useCases: [UseCaseSummary]
    /// One sentence on why no transaction counts; `nil` if one does.
    public var whyEmpty: String?
    public var weighed: Weighing?
    package var bounds: AnswerBounds?

    /// Creates an answer.
    public init(useCases: [UseCaseSummary], whyEmpty: String? = nil) {
        self.useCases = useCases
        self.whyEmpty = whyEmpty
    }
}

/// The summary of one use case.
public struct UseCaseSummary: Hashable, Sendable, Codable {
    /// The code.
    public var useCase: Int
    /// The alphabetically first name of the use case; `use case 17` without a known name.
    public var name: String
    /// The number of transactions.
    public var runs: Int
    /// The numbers by outcome; only outcomes that occur.
    public var outcomes: [TransactionOutcome: Int]
    /// The numbers by error, the most frequent first.
    public var errors: [ErrorCount]
    /// The number of different installations that began the transactions.
    public var installations: Int
    /// The runs by begin time, in order. Steps without runs are left out.
    public var rates: [Rate]
    /// The durations of closed transactions with any outcome, as of a default ``DurationQuestion``.
    public var duration: DurationStatistics
    /// The durations of successful transactions.
    public var succeeded: DurationStatistics

    /// Creates a summary.
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

    /// The number of transactions that closed with an error.
    public struct ErrorCount: Hashable, Sendable, Codable {
        /// The domain of the error; empty if the error has only a number.
        public var domain: String
        /// The code of the error. The smallest one if app versions give different codes to the same name.
        public var code: Int64
        /// The name that identifies the error; `nil` if its code does.
        public var name: String?
        /// The number of transactions.
        public var count: Int

        /// Creates a count.
        public init(domain: String, code: Int64, name: String? = nil, count: Int) {
            self.domain = domain
            self.code = code
            self.name = name
            self.count = count
        }

        package var error: RecordedError { RecordedError(domain: domain, code: code, name: name) }
    }

    /// The transactions that began in one step of time.
    public struct Rate: Hashable, Sendable, Codable {
        package var startMicroseconds: Int64
        /// The number of transactions.
        public var runs: Int
        /// The number of failed transactions.
        public var failed: Int
        /// The number of abandoned transactions, without the interrupted and timed out ones in ``outcomes``.
        public var abandoned: Int
        /// The numbers by outcome; only outcomes that occur.
        public var outcomes: [TransactionOutcome: Int]

        /// Creates a rate with the numbers from the outcomes.
        public init(start: Date, outcomes: [TransactionOutcome: Int]) {
            startMicroseconds = start.microseconds
            self.outcomes = outcomes
            runs = outcomes.values.reduce(0, +)
            failed = outcomes[.failed] ?? 0
            abandoned = outcomes[.abandoned] ?? 0
        }

        /// The start of the step, a multiple of its length since 1970.
        public var start: Date { Date(microseconds: startMicroseconds) }
    }
}

extension SummaryQuestion: FoldedQuestion {
    public typealias Answer = SummaryAnswer

    package var rowContents: RowContents { RowContents(readsSources: false, groupStep: wholeStep) }

    package func answered(_ answer: SummaryAnswer) -> AnyAnswer { .summary(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<CountedUseCases> {
        let all = try EventCursor(self, reading: [.times, .outcome, .error], context)
        var folded = try context.fold(all, into: CountedUseCases()) { (events, collected) throws(WaybillError) in
            var counts: [UseCaseCounts] = []
            var places: [Int: Int] = [:]
            let step = wholeStep
            try events.transactions.forEach { (transaction, _) throws(WaybillError) in
                let place = places[transaction.useCase] ?? counts.count
                if place == counts.count {
                    places[transaction.useCase] = place
                    counts.append(UseCaseCounts())
                }
                counts[place].add(transaction, step: transaction.begun.quotientAndRemainder(flooringBy: step).quotient)
            }
            for (useCase, place) in places {
                counts[place].tellInstallations(events.sources)
                collected.useCases[useCase] = counts[place]
            }
        }
        let names = NameTable(context.connection)
        for useCase in folded.collected.useCases.keys {
            folded.collected.useCases[useCase]?.name = try names.knownUseCase(useCase)
        }
        return folded
    }

    var wholeStep: Int64 { max(1, stepMicroseconds) }

    package func answer(_ found: consuming Folded<CountedUseCases>) throws(WaybillError) -> SummaryAnswer {
        let asked = found.asked
        var summaries: [UseCaseSummary] = []
        var rows: [AnswerBounds.Row] = []
        for (useCase, counts) in found.collected.useCases.sorted(by: { $0.key < $1.key }) {
            var counts = counts
            let summary = counts.summary(of: useCase, step: wholeStep)
            rows += asked.owed.map { counts.bounds(summary, $0) } ?? []
            summaries.append(summary)
        }
        var answer = SummaryAnswer(
            useCases: summaries.sorted { (-$0.runs, $0.useCase) < (-$1.runs, $1.useCase) },
            whyEmpty: summaries.isEmpty ? asked.whyNone { "\($0) can be listed." } : nil)
        answer.weighed = asked.weighing
        answer.bounds = asked.owed?.bounds(rows)
        return answer
    }
}

package struct CountedUseCases: Mergeable {
    fileprivate var useCases: [Int: UseCaseCounts] = [:]

    package mutating func merge(_ other: consuming CountedUseCases) { useCases.merge(other.useCases) }
}

private struct UseCaseCounts: Mergeable {
    fileprivate var name: String?
    private var errors = ErrorCounts()
    private var sources: Set<Int64> = []
    private var installations: Set<GUID> = []
    private var durations = Durations()
    private var succeeded = Durations()
    /// The sums of weights by step.
    private var rates: [Int64: [TransactionOutcome: Int64]] = [:]

    mutating func add(_ transaction: TransactionCursor.Transaction, step: Int64) {
        rates[step, default: [:]][transaction.outcome, default: 0].addWeight(transaction.weight)
        if let error = transaction.error { errors.add(error, transaction.weight) }
        sources.insert(transaction.source)
        if let closing = transaction.closing, closing.sequence >= transaction.sequence {
            durations.append(closing.at - transaction.at, weight: transaction.weight)
            if transaction.outcome == .succeeded {
                succeeded.append(closing.at - transaction.at, weight: transaction.weight)
            }
        }
    }

    /// Replaces sources by their installations, because row numbers mean nothing outside of their store.
    fileprivate mutating func tellInstallations(_ known: SourceDirectory) {
        installations.formUnion(sources.compactMap { known.installation(of: $0) })
        sources = []
    }

    mutating func merge(_ other: consuming UseCaseCounts) {
        name = EmptyReason.least(name, other.name)
        errors.merge(other.errors)
        installations.formUnion(other.installations)
        durations.merge(other.durations)
        succeeded.merge(other.succeeded)
        for (step, outcomes) in other.rates {
            rates[step, default: [:]].merge(outcomes, uniquingKeysWith: { $0.addingWeight($1) })
        }
    }

    fileprivate mutating func summary(of useCase: Int, step: Int64) -> UseCaseSummary {
        var sums: [TransactionOutcome: Int64] = [:]
        for outcomes in rates.values { sums.merge(outcomes, uniquingKeysWith: { $0.addingWeight($1) }) }
        let outcomes = sums.counts
        return UseCaseSummary(
            useCase: useCase, name: name ?? "use case \(useCase)", runs: outcomes.values.reduce(0, +),
            outcomes: outcomes, errors: errors.sorted, installations: installations.count,
            rates: rates.sorted { $0.key < $1.key }.map {
                .init(start: Date(microseconds: $0.key * step), outcomes: $0.value.counts)
            }, duration: DurationStatistics(&durations), succeeded: DurationStatistics(&succeeded))
    }
}

extension UseCaseCounts {
    fileprivate func bounds(_ summary: UseCaseSummary, _ owed: OwedFacts) -> [AnswerBounds.Row] {
        let outcomes = TransactionOutcome.allCases.map { outcome in
            owed.row(summary.name, outcome.name, count: summary.outcomes[outcome] ?? 0)
        }
        return [owed.row(summary.name, "runs", count: summary.runs)] + outcomes
            + owed.rows(summary.name, "", percentilesOf: durations)
            + owed.rows(summary.name, "succeeded ", percentilesOf: succeeded)
    }
}

struct ErrorCounts: Mergeable {
    private var counts: [RecordedError: (code: Int64, count: Int64)] = [:]

    mutating func add(_ error: RecordedError, _ weight: Int64) { add((error.code, weight), of: error.group) }

    private mutating func add(_ more: (code: Int64, count: Int64), of group: RecordedError) {
        let known = counts[group] ?? (more.code, 0)
        counts[group] = (min(known.code, more.code), known.count.addingWeight(more.count))
    }

    mutating func merge(_ other: consuming ErrorCounts) {
        for (group, more) in other.counts { add(more, of: group) }
    }

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
