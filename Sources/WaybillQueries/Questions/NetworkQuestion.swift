public import Foundation
public import WaybillCore
import WaybillStore

/// Which requests are made, how they end, and how long they take, by host and path.
public struct NetworkQuestion: Question {
    /// What goes into one group; each is finer than the one before.
    public enum Grouping: String, Hashable, Sendable, Codable, CaseIterable {
        /// All of a host together.
        case host
        /// Of a host, paths that differ only by an ID together: `/users/{id}/orders/{id}`.
        case path
        /// The same, methods apart.
        case method
    }

    /// Which exchanges count.
    public var filter: ExchangeFilter
    /// Whose exchanges count; nil: those of all transactions, and those outside any.
    public var transactions: TransactionFilter?
    /// Default: by host and path.
    public var grouping: Grouping
    /// How many exchanges each group names of the slowest, and of the failing. Default: 3.
    public var exampleCount: Int

    /// Makes a question; by default about all exchanges.
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
    /// Reads a question; what is left out is as by default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            filter: try container.decodeIfPresent(ExchangeFilter.self, forKey: .filter) ?? ExchangeFilter(),
            transactions: try container.decodeIfPresent(TransactionFilter.self, forKey: .transactions))
        grouping = try container.decodeIfPresent(Grouping.self, forKey: .grouping) ?? grouping
        exampleCount = try container.decodeIfPresent(Int.self, forKey: .exampleCount) ?? exampleCount
    }
}

/// One entry for each host and path.
public struct NetworkAnswer: QuestionAnswer {
    /// Exchanges that count. One that both ends recorded is two of them.
    public var exchanges: Int
    /// The most frequent first, then by host, path, method and role.
    public var groups: [NetworkGroup]
    /// One sentence on why no exchange counts; nil where one does.
    public var whyEmpty: String?
    public var weighed: Weighing?

    /// Makes an answer.
    public init(exchanges: Int, groups: [NetworkGroup], whyEmpty: String? = nil) {
        self.exchanges = exchanges
        self.groups = groups
        self.whyEmpty = whyEmpty
    }
}

/// The exchanges of one host and path, as one end recorded them.
public struct NetworkGroup: Hashable, Sendable, Codable {
    /// Which end recorded them; both are never mixed, since they measure different things.
    public var role: ExchangeRole
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
        public var id: FactID
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
            id: FactID, transaction: GUID?, opened: Date, duration: Duration?, status: Int?, error: RecordedError?
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

/// Each exchange is read once.
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
        // Of interest only where nothing counts, here and elsewhere.
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
            // Taken out, so that its durations are in memory once.
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

/// What is collected of exchanges, by what those of a group have in common.
package struct GroupedExchanges: Mergeable {
    fileprivate var groups: [NetworkKey: CollectedExchanges] = [:]
    fileprivate var weights = Weights()
    /// Of all exchanges; not counted where some are collected.
    fileprivate var count = 0
    /// The transactions whose exchanges are asked about; nil: those of all, or some are collected.
    fileprivate var asked: AskedTransactions?

    package mutating func merge(_ other: consuming GroupedExchanges) {
        groups.merge(other.groups)
        weights.merge(other.weights)
        count += other.count
        guard let more = other.asked else { return }
        if asked == nil { asked = more } else { asked?.merge(more) }
    }
}

/// What the exchanges of a group have in common.
struct NetworkKey: Hashable, Comparable {
    var host, path, method: String?
    var role: ExchangeRole

    init(_ exchange: MeasuredExchange, _ grouping: NetworkQuestion.Grouping) {
        // RFC 9110, section 4.2.3: a host is the same in any case.
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
