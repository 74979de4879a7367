public import Foundation
public import WaybillCore
import WaybillStore

/// The requests by host and path, with their results and durations.
public struct NetworkQuestion: Question {
    /// The key of a group. Each case is finer than the one before.
    public enum Grouping: String, Hashable, Sendable, Codable, CaseIterable {
        /// The host.
        case host
        /// The host and the path, with IDs replaced: `/users/{id}/orders/{id}`.
        case path
        /// The host, the path and the method.
        case method
    }

    /// The exchanges to count.
    public var filter: ExchangeFilter
    /// The transactions that own the exchanges; `nil` also includes exchanges outside transactions.
    public var transactions: TransactionFilter?
    /// The key of the groups. Default: ``Grouping/path``.
    public var grouping: Grouping
    /// The most examples of slow and of failing exchanges in each group. Default: 3.
    public var exampleCount: Int

    /// Creates a question, by default about all exchanges.
    public init(
        filter: ExchangeFilter = ExchangeFilter(), transactions: TransactionFilter? = nil, grouping: Grouping = .path,
        exampleCount: Int = 3
    ) {
        self.filter = filter
        self.transactions = transactions
        self.grouping = grouping
        self.exampleCount = exampleCount
    }
}

extension NetworkQuestion {
    /// Reads a question. Missing members have defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            filter: try container.decodeIfPresent(ExchangeFilter.self, forKey: .filter) ?? ExchangeFilter(),
            transactions: try container.decodeIfPresent(TransactionFilter.self, forKey: .transactions))
        grouping = try container.decodeIfPresent(Grouping.self, forKey: .grouping) ?? grouping
        exampleCount = try container.decodeIfPresent(Int.self, forKey: .exampleCount) ?? exampleCount
    }
}

/// The exchanges by group.
public struct NetworkAnswer: QuestionAnswer {
    /// The number of exchanges. An exchange that both ends recorded counts twice.
    public var exchanges: Int
    /// The groups, the most frequent first, then by host, path, method and role.
    public var groups: [NetworkGroup]
    /// One sentence on why no exchange counts; `nil` if one does.
    public var whyEmpty: String?
    public var weighed: Weighing?

    /// Creates an answer.
    public init(exchanges: Int, groups: [NetworkGroup], whyEmpty: String? = nil) {
        self.exchanges = exchanges
        self.groups = groups
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
    /// The errors of failed exchanges, the most frequent first.
    public var errors: [UseCaseSummary.ErrorCount]
    /// The times from the opening to the first byte of the response, without mocked exchanges.
    public var firstByte: DurationStatistics
    /// The durations of completed exchanges, without mocked ones. Timeouts are in ``failed``.
    public var whole: DurationStatistics
    /// The durations of failed exchanges, including timeouts, but not canceled ones.
    public var failed: DurationStatistics
    /// The bytes of all request bodies of known size.
    public var sentByteCount: Int64
    /// The bytes of all response bodies of known size.
    public var receivedByteCount: Int64
    /// The slowest completed or failed exchanges, the slowest first.
    public var slowest: [Example]
    /// The latest exchanges that failed or have a status code of at least 400, the latest first.
    public var failing: [Example]

    /// Creates a group.
    public init(
        role: ExchangeRole, host: String?, path: String?, method: String?, count: Int, statuses: StatusCounts,
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

extension NetworkQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> NetworkAnswer {
        try answer(partial(from: context))
    }

    package func answered(_ answer: NetworkAnswer) -> AnyAnswer { .network(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> GroupedExchanges {
        let sources = try SourceDirectory(context.connection)
        var found = GroupedExchanges()
        let sampled = Int64(max(filter.sampledOneIn, transactions?.sampledOneIn ?? 1))
        try ExchangeList(filter, of: transactions, now: context.now, context.connection).forEachRow(
            MeasuredExchange.columns
        ) { row in
            var exchange = MeasuredExchange(row, sources, now: context.now)
            exchange.weight *= sampled
            found.weights.add(exchange.weight)
            let key = NetworkKey(exchange, grouping)
            found.groups[key, default: CollectedExchanges(exampleCount: max(0, exampleCount))].add(exchange)
        }
        guard found.groups.values.allSatisfy({ $0.count == 0 }) else { return found }
        found.count = try context.reader.exchangeCount()
        found.asked = try transactions.map { transactions throws(WaybillError) in
            try AskedTransactions(counting: transactions, context)
        }
        return found
    }

    package func answer(_ found: consuming GroupedExchanges) throws(WaybillError) -> NetworkAnswer {
        var groups = found.groups
        found.groups = [:]
        var answer = NetworkAnswer(exchanges: groups.values.map(\.count).reduce(0, +), groups: [])
        let order = groups.map { key, collected in (key: key, count: collected.count) }
        for (key, _) in order.sorted(by: { $0.count == $1.count ? $0.key < $1.key : $0.count > $1.count }) {
            // Removed from the dictionary, to hold the durations in memory once.
            guard var collected = groups.removeValue(forKey: key) else { continue }
            answer.groups.append(collected.group(key))
        }
        answer.weighed = found.weights.weighing
        guard answer.exchanges == 0 else { return answer }
        let exchanges = filter == ExchangeFilter() ? "an exchange" : "an exchange that passes the filter"
        answer.whyEmpty =
            found.asked?.whyNone { "None of \($0) has \(exchanges)." } ?? StoreReader.whyNone(of: found.count)
        return answer
    }
}

package struct GroupedExchanges: Mergeable {
    fileprivate var groups: [NetworkKey: CollectedExchanges] = [:]
    fileprivate var weights = Weights()
    fileprivate var count = 0
    fileprivate var asked: AskedTransactions?

    package mutating func merge(_ other: consuming GroupedExchanges) {
        groups.merge(other.groups)
        weights.merge(other.weights)
        count += other.count
        guard let more = other.asked else { return }
        if asked == nil { asked = more } else { asked?.merge(more) }
    }
}

struct NetworkKey: Hashable, Comparable {
    var host, path, method: String?
    var role: ExchangeRole

    init(_ exchange: MeasuredExchange, _ grouping: NetworkQuestion.Grouping) {
        // Hosts ignore case (RFC 9110, section 4.2.3).
        host = exchange.host?.lowercased()
        path = grouping == .host ? nil : PathTemplate(exchange.path).description
        method = grouping == .method ? exchange.method : nil
        role = exchange.role
    }

    static func < (left: NetworkKey, right: NetworkKey) -> Bool {
        guard left.host == right.host else { return Segmentation.precedes(left.host, right.host) }
        return (left.path ?? "", left.method ?? "", left.role.rawValue) < (
            right.path ?? "", right.method ?? "", right.role.rawValue
        )
    }
}
