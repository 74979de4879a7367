import WaybillCore
public import WaybillReading

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
