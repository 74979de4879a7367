public import Foundation
public import WaybillCore
public import WaybillReading

/// The exchanges of one host and path, as one end recorded them.
public struct NetworkGroup: Hashable, Sendable, Codable {
    /// Which end recorded them; both are never mixed, since they measure different things.
    public var role: Fact.Role
    /// In small letters; nil where it is not known.
    public var host: String?
    /// With IDs folded: `/users/{id}`; nil where hosts are not told apart by it.
    public var path: String?
    /// nil where paths are not told apart by it.
    public var method: String?
    /// Exchanges.
    public var count: Int
    /// By status code.
    public var statuses: StatusCounts
    /// How many stand how; a state that none has is left out.
    public var states: [ExchangeRecord.State: Int]
    /// How many ended without a whole response for which reason, the most frequent first; cancelations do not count.
    public var errors: [UseCaseSummary.ErrorCount]
    /// From the opening to the first byte of the response, where one came; what a rule answered does not count.
    public var firstByte: DurationStatistics
    /// From the opening to the closing, of those that were completed; what a rule answered does not count.
    ///
    /// A request that timed out is not among them: ``failed`` says how long those took.
    public var whole: DurationStatistics
    /// From the opening to the end, of those that failed, timeouts among them. Canceled ones do not count.
    public var failed: DurationStatistics
    /// Of all bodies, as far as it was recorded.
    public var sentByteCount: Int64
    /// Of all bodies, as far as it was recorded.
    public var receivedByteCount: Int64
    /// The slowest of those that were completed or failed, the slowest first.
    public var slowest: [Example]
    /// The latest of those that failed or have a status code of 400 or above, the latest first.
    public var failing: [Example]

    /// Makes a group.
    public init(
        role: Fact.Role, host: String?, path: String?, method: String?, count: Int, statuses: StatusCounts,
        states: [ExchangeRecord.State: Int], errors: [UseCaseSummary.ErrorCount], firstByte: DurationStatistics,
        whole: DurationStatistics, failed: DurationStatistics, sentByteCount: Int64, receivedByteCount: Int64,
        slowest: [Example], failing: [Example]
    ) {
        self.role = role
        self.host = host
        self.path = path
        self.method = method
        self.count = count
        self.statuses = statuses
        self.states = states
        self.errors = errors
        self.firstByte = firstByte
        self.whole = whole
        self.failed = failed
        self.sentByteCount = sentByteCount
        self.receivedByteCount = receivedByteCount
        self.slowest = slowest
        self.failing = failing
    }

    /// How many have a status code of which class (RFC 9110, section 15).
    public struct StatusCounts: Hashable, Sendable, Codable {
        /// 200 to 299.
        public var successful: Int64 = 0
        /// 300 to 399.
        public var redirection: Int64 = 0
        /// 400 to 499.
        public var clientError: Int64 = 0
        /// 500 to 599.
        public var serverError: Int64 = 0
        /// Any other number.
        public var other: Int64 = 0
        /// No response came, or none yet.
        public var none: Int64 = 0

        /// Counts nothing yet.
        public init() {}

        /// Counts some more; nil: they have none.
        ///
        /// - Parameter weights: For how many they stand, added up; ``rounded`` says how many these are.
        package mutating func add(_ status: Int?, _ weights: Int64) {
            guard let status else {
                none.addWeight(weights)
                return
            }
            switch status {
            case 200..<300: successful.addWeight(weights)
            case 300..<400: redirection.addWeight(weights)
            case 400..<500: clientError.addWeight(weights)
            case 500..<600: serverError.addWeight(weights)
            default: other.addWeight(weights)
            }
        }

        /// Of weights, which were added up.
        package var rounded: StatusCounts {
            var counts = StatusCounts()
            (counts.successful, counts.redirection) = (
                Int64(Weights.count(successful)), Int64(Weights.count(redirection))
            )
            (counts.clientError, counts.serverError) = (
                Int64(Weights.count(clientError)), Int64(Weights.count(serverError))
            )
            (counts.other, counts.none) = (Int64(Weights.count(other)), Int64(Weights.count(none)))
            return counts
        }
    }

    /// One exchange, to look at.
    public struct Example: Hashable, Sendable, Codable, Identifiable {
        /// The source and the sequence of its `exchange_opened` fact.
        public var id: Fact.ID
        /// The transaction that it belongs to; nil outside any.
        public var transaction: GUID?
        package var openedMicroseconds: Int64
        package var durationMicroseconds: Int64?
        /// The status code; nil where no response came.
        public var status: Int?
        /// Why there was no whole response; nil where there was, or nothing was said.
        public var error: RecordedError?

        /// Makes an example.
        public init(
            id: Fact.ID, transaction: GUID?, opened: Date, duration: Duration?, status: Int?, error: RecordedError?
        ) {
            self.id = id
            self.transaction = transaction
            openedMicroseconds = opened.microseconds
            durationMicroseconds = duration?.microseconds
            self.status = status
            self.error = error
        }

        /// When it was opened.
        public var opened: Date { Date(microseconds: openedMicroseconds) }
        /// From its opening to its closing; nil where it was not closed.
        public var duration: Duration? { durationMicroseconds.map { .microseconds($0) } }
    }
}
