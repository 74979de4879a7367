public import Foundation
public import WaybillCore
public import WaybillReading

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
