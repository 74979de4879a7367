public import Foundation
public import WaybillCore
import WaybillStore

/// The exchanges by group.
public struct NetworkAnswer: QuestionAnswer {
    /// The number of exchanges. An exchange that both ends recorded counts twice.
    public var exchanges: Int
    /// The groups in the order of the question. Groups with equal values are in the order of their counts, then of host,
    /// path, method and role.
    public var groups: [NetworkGroup]
    /// The exchanges beyond the limits of the question and of memory: at most one group for each end, with the path
    /// `(other)`.
    ///
    /// At most ``NetworkQuestion/groupLimit`` groups are held, those with the shortest hosts and paths.
    public var other: [NetworkGroup]
    /// One sentence on why no exchange counts; `nil` if one does.
    public var whyEmpty: String?
    public var weighed: Weighing?

    /// Creates an answer.
    public init(exchanges: Int, groups: [NetworkGroup], other: [NetworkGroup] = [], whyEmpty: String? = nil) {
        self.exchanges = exchanges
        self.groups = groups
        self.other = other
        self.whyEmpty = whyEmpty
    }
}

/// The exchanges of one key, as one end recorded them.
public struct NetworkGroup: Hashable, Sendable, Codable {
    /// The end that recorded them. Groups never mix both ends, because they measure different things.
    public var role: ExchangeRole
    /// The host in lower case; `nil` if it is unknown.
    public var host: String?
    /// The path with IDs replaced, `/users/{id}`; `nil` for ``NetworkQuestion/Grouping/host``.
    public var path: String?
    /// The method; `nil` unless grouped by ``NetworkQuestion/Grouping/method``.
    public var method: String?
    /// The number of exchanges.
    public var count: Int
    /// The numbers by status code.
    public var statuses: StatusCounts
    /// The numbers by state; only states that occur.
    public var states: [ExchangeRecord.State: Int]
    /// The number of exchanges that failed or have a status code of at least 400, without mocked ones.
    public var failingCount: Int
    /// The number of exchanges that failed with a timeout. Timeouts also count in ``failingCount``.
    public var timeoutCount: Int
    /// The errors of failed exchanges, the most frequent first.
    public var errors: [UseCaseSummary.ErrorCount]
    /// The times from the opening to the first byte of the response, without mocked exchanges.
    public var firstByte: DurationStatistics
    /// The durations of completed exchanges without a status code of at least 400, and without mocked ones.
    public var succeeded: DurationStatistics
    /// The durations of completed and failed exchanges, without mocked ones.
    public var all: DurationStatistics
    /// The durations of completed exchanges, without mocked ones. Timeouts are in ``failed``.
    public var whole: DurationStatistics
    /// The durations of failed exchanges, including timeouts, but not cancelled ones.
    public var failed: DurationStatistics
    /// The bytes of all request bodies of known size.
    public var sentByteCount: Int64
    /// The bytes of all response bodies of known size.
    public var receivedByteCount: Int64
    package var firstOpenedMicroseconds, lastOpenedMicroseconds: Int64
    /// The exchanges by the time of their opening, in order. Steps without exchanges are left out; `nil` if the question
    /// has no step.
    public var steps: [Step]?
    /// The slowest completed or failed exchanges, the slowest first.
    public var slowest: [Example]
    /// The latest exchanges that failed or have a status code of at least 400, the latest first.
    public var failing: [Example]

    /// Creates a group.
    public init(
        role: ExchangeRole, host: String?, path: String?, method: String?, count: Int, statuses: StatusCounts,
        states: [ExchangeRecord.State: Int], failingCount: Int, timeoutCount: Int, errors: [UseCaseSummary.ErrorCount],
        firstByte: DurationStatistics, succeeded: DurationStatistics, all: DurationStatistics,
        whole: DurationStatistics, failed: DurationStatistics, sentByteCount: Int64, receivedByteCount: Int64,
        firstOpened: Date, lastOpened: Date, steps: [Step]? = nil, slowest: [Example], failing: [Example]
    ) {
        (self.role, self.host, self.path, self.method, self.count) = (role, host, path, method, count)
        (self.statuses, self.states, self.errors) = (statuses, states, errors)
        (self.failingCount, self.timeoutCount) = (failingCount, timeoutCount)
        (self.firstByte, self.succeeded, self.all) = (firstByte, succeeded, all)
        (self.whole, self.failed) = (whole, failed)
        (self.sentByteCount, self.receivedByteCount) = (sentByteCount, receivedByteCount)
        firstOpenedMicroseconds = firstOpened.microseconds
        lastOpenedMicroseconds = lastOpened.microseconds
        (self.steps, self.slowest, self.failing) = (steps, slowest, failing)
    }

    /// The key.
    public var key: NetworkKey { NetworkKey(role: role, host: host, path: path, method: method) }
    /// The time of the first opening.
    public var firstOpened: Date { Date(microseconds: firstOpenedMicroseconds) }
    /// The time of the last opening.
    public var lastOpened: Date { Date(microseconds: lastOpenedMicroseconds) }

    /// The exchanges that were opened in one step.
    public struct Step: Hashable, Sendable, Codable {
        package var startMicroseconds: Int64
        /// The number of exchanges.
        public var count: Int
        /// The number of exchanges that failed or have a status code of at least 400, without mocked ones.
        public var failingCount: Int
        /// The durations of completed exchanges without a status code of at least 400, and without mocked ones.
        public var succeeded: DurationStatistics

        /// Creates a step.
        public init(start: Date, count: Int, failingCount: Int, succeeded: DurationStatistics) {
            startMicroseconds = start.microseconds
            (self.count, self.failingCount, self.succeeded) = (count, failingCount, succeeded)
        }

        /// The start of the step, a multiple of its length since 1970.
        public var start: Date { Date(microseconds: startMicroseconds) }
    }

    /// The numbers by class of status code (RFC 9110, section 15).
    public struct StatusCounts: Hashable, Sendable, Codable {
        /// 200 to 299.
        public var successful: Int64 = 0
        /// 300 to 399.
        public var redirection: Int64 = 0
        /// 400 to 499.
        public var clientError: Int64 = 0
        /// 500 to 599.
        public var serverError: Int64 = 0
        /// Any other code.
        public var other: Int64 = 0
        /// No response, or none yet.
        public var none: Int64 = 0

        /// Creates counts of 0.
        public init() {}
    }

    /// An exchange as an example.
    public struct Example: Hashable, Sendable, Codable, Identifiable {
        /// The source and the sequence of its `exchange_opened` fact.
        public var id: FactID
        /// The transaction of the exchange; `nil` outside any.
        public var transaction: GUID?
        package var openedMicroseconds: Int64
        package var durationMicroseconds: Int64?
        /// The status code; `nil` without a response.
        public var status: Int?
        /// The recorded error; `nil` without one.
        public var error: RecordedError?

        /// Creates an example.
        public init(
            id: FactID, transaction: GUID?, opened: Date, duration: Duration?, status: Int?, error: RecordedError?
        ) {
            self.id = id
            self.transaction = transaction
            openedMicroseconds = opened.microseconds
            durationMicroseconds = duration?.microseconds
            self.status = status
            self.error = error
        }

        /// The time of the opening.
        public var opened: Date { Date(microseconds: openedMicroseconds) }
        /// The time from the opening to the closing; `nil` while the exchange is open.
        public var duration: Duration? { durationMicroseconds.map { .microseconds($0) } }
    }
}
