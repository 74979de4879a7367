public import WaybillCore
import WaybillStore

/// The requests by host and path, with their results and durations.
///
/// An endpoint is a host, a path with IDs replaced, and a method: ``Grouping/method``.
public struct NetworkQuestion: Question {
    /// The members of a group's key. Each case is finer than the one before.
    public enum Grouping: String, Hashable, Sendable, Codable, CaseIterable {
        /// The host.
        case host
        /// The host and the path, with IDs replaced: `/users/{id}/orders/{id}`.
        case path
        /// The host, the path and the method.
        case method
    }

    /// The order of groups: the greatest value first, except for ``name``. Equal groups are in the order of ``count``.
    public enum Sort: String, Hashable, Sendable, Codable, CaseIterable {
        /// The number of exchanges.
        case count
        /// The share of exchanges that failed or have a status code of at least 400.
        case errors
        /// The number of timeouts.
        case timeouts
        /// The 50th percentile of successes.
        case p50
        /// The 95th percentile of successes.
        case p95
        /// The 99th percentile of successes.
        case p99
        /// The 50th percentile of all completed and failed exchanges.
        case allP50 = "all-p50"
        /// The 95th percentile of all completed and failed exchanges.
        case allP95 = "all-p95"
        /// The 99th percentile of all completed and failed exchanges.
        case allP99 = "all-p99"
        /// The bytes of request bodies.
        case sent
        /// The bytes of response bodies.
        case received
        /// The host, the path, the method and the role, in ascending order.
        case name
    }

    /// The most groups of an answer.
    public static let groupLimit = 2_000

    /// The exchanges to count.
    public var filter: ExchangeFilter
    /// The transactions that own the exchanges; `nil` also includes exchanges outside transactions.
    public var transactions: TransactionFilter?
    /// The key of the groups. Default: ``Grouping/path``.
    public var grouping: Grouping
    /// The only group to count; `nil` for all groups.
    public var group: NetworkKey?
    /// Path templates that take precedence over the replacement of IDs, such as `/users/{name}`.
    ///
    /// A segment in braces matches any segment. The first matching template names the path.
    public var templates: [String] = []
    /// The order of the groups. Default: ``Sort/count``.
    public var sort: Sort
    /// The most groups of the answer, at most ``groupLimit``. ``NetworkAnswer/other`` counts the others.
    public var limit: Int
    /// The most examples of slow and of failing exchanges in each group. Default: 3.
    public var exampleCount: Int
    package var stepMicroseconds: Int64?

    /// Creates a question, by default about all exchanges.
    public init(
        filter: ExchangeFilter = ExchangeFilter(), transactions: TransactionFilter? = nil, grouping: Grouping = .path,
        sort: Sort = .count, limit: Int = NetworkQuestion.groupLimit, exampleCount: Int = 3
    ) {
        self.filter = filter
        self.transactions = transactions
        self.grouping = grouping
        self.sort = sort
        self.limit = limit
        self.exampleCount = exampleCount
    }

    /// The length of the steps of ``NetworkGroup/steps``. Default: `nil`, for no steps.
    public var step: Duration? {
        get { stepMicroseconds.map { .microseconds($0) } }
        set { stepMicroseconds = newValue?.microseconds }
    }
}

extension NetworkQuestion {
    /// Reads a question. Missing members have defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            filter: try container.decode(ExchangeFilter.self, forKey: .filter),
            transactions: try container.decodeIfPresent(TransactionFilter.self, forKey: .transactions))
        grouping = try container.decodeIfPresent(Grouping.self, forKey: .grouping) ?? grouping
        group = try container.decodeIfPresent(NetworkKey.self, forKey: .group)
        templates = try container.decodeIfPresent([String].self, forKey: .templates) ?? templates
        sort = try container.decodeIfPresent(Sort.self, forKey: .sort) ?? sort
        limit = try container.decodeIfPresent(Int.self, forKey: .limit) ?? limit
        exampleCount = try container.decodeIfPresent(Int.self, forKey: .exampleCount) ?? exampleCount
        stepMicroseconds = try container.decodeIfPresent(Int64.self, forKey: .stepMicroseconds)
    }
}

/// The key of a group of exchanges.
public struct NetworkKey: Hashable, Sendable, Codable {
    /// The end that recorded the exchanges.
    public var role: ExchangeRole
    /// The host in lower case; `nil` if it is unknown.
    public var host: String?
    /// The path with IDs replaced, `/users/{id}`; `nil` for ``NetworkQuestion/Grouping/host``.
    public var path: String?
    /// The method; `nil` unless grouped by ``NetworkQuestion/Grouping/method``.
    public var method: String?

    /// Creates a key.
    public init(role: ExchangeRole, host: String?, path: String?, method: String?) {
        (self.role, self.host, self.path, self.method) = (role, host, path, method)
    }
}

extension NetworkKey: Comparable {
    fileprivate init(
        _ exchange: TransactionRow.Exchange, _ grouping: NetworkQuestion.Grouping, _ templates: PathTemplates
    ) {
        self.init(
            role: exchange.role,
            // Hosts ignore case (RFC 9110, section 4.2.3).
            host: exchange.host?.lowercased(),
            path: grouping == .host ? nil : templates.template(of: exchange.path),
            method: grouping == .method ? exchange.method : nil)
    }

    /// Returns the key of all exchanges beyond the limits. No recorded path equals its path, which has no slash.
    fileprivate static func other(_ role: ExchangeRole) -> NetworkKey {
        NetworkKey(role: role, host: nil, path: "(other)", method: nil)
    }

    /// Orders by host, path, method and role.
    public static func < (left: NetworkKey, right: NetworkKey) -> Bool {
        guard left.host == right.host else { return Segmentation.precedes(left.host, right.host) }
        return (left.path ?? "", left.method ?? "", left.role.rawValue) < (
            right.path ?? "", right.method ?? "", right.role.rawValue
        )
    }

    /// Whether this key stays in memory rather than `other`. Templates are usually shorter than paths with names in
    /// them, and an order of keys makes the choice independent of the order of exchanges.
    fileprivate func isHeld(before other: NetworkKey) -> Bool {
        length == other.length ? self < other : length < other.length
    }

    private var length: Int { (host?.utf8.count ?? 0) + (path?.utf8.count ?? 0) }
}

extension NetworkQuestion: FoldedQuestion {
    public typealias Answer = NetworkAnswer

    package var rowSelection: RowSelection {
        transactions.map { RowSelection(transactions: $0, exchanges: filter.conditions) } ?? RowSelection(filter)
    }
    package var rowContents: RowContents { RowContents() }

    package func answered(_ answer: NetworkAnswer) -> AnyAnswer { .network(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> GroupedExchanges {
        let templates = PathTemplates(templates)
        var found = GroupedExchanges(
            exampleCount: max(0, exampleCount), step: stepMicroseconds.map { max(1, $0) })
        let sampled = Int64(max(filter.sampledOneIn, transactions?.sampledOneIn ?? 1))
        func add(_ measured: MeasuredExchange) {
            var measured = measured
            measured.weight *= sampled
            let key = NetworkKey(measured.exchange, grouping, templates)
            if group == nil || group == key { found.add(measured, key) }
        }
        if let rows = context.rows {
            for index in rows.indices {
                for exchange in rows[index].exchanges {
                    add(MeasuredExchange(exchange, of: rows[index], now: context.now))
                }
            }
            return found
        }
        let sources = try SourceDirectory(context.connection)
        try ExchangeList(filter, of: transactions, now: context.now, context.connection).forEachRow(
            MeasuredExchange.columns
        ) { row in add(MeasuredExchange(row, sources, now: context.now)) }
        guard found.isEmpty else { return found }
        found.count = try context.reader.exchangeCount()
        found.asked = try transactions.map { transactions throws(WaybillError) in
            try AskedTransactions(counting: transactions, context)
        }
        return found
    }

    package func answer(_ found: consuming GroupedExchanges) throws(WaybillError) -> NetworkAnswer {
        let (groups, other) = found.sorted(by: sort, limit: max(0, min(limit, Self.groupLimit)))
        let exchanges = groups.reduce(0) { $0 + $1.count } + other.reduce(0) { $0 + $1.count }
        var answer = NetworkAnswer(exchanges: exchanges, groups: groups, other: other)
        answer.weighed = found.weights.weighing
        guard answer.exchanges == 0 else { return answer }
        let isAny = filter == ExchangeFilter() && group == nil
        let asked = isAny ? "an exchange" : "an exchange that passes the filter"
        answer.whyEmpty =
            found.asked?.whyNone { "None of \($0) has \(asked)." } ?? StoreReader.whyNone(of: found.count)
        return answer
    }
}

package struct GroupedExchanges: PartialResult {
    private var groups: [NetworkKey: CollectedExchanges] = [:]
    private var other: [ExchangeRole: CollectedExchanges] = [:]
    /// The last key that is held; `nil` while there are few keys.
    private var lastHeld: NetworkKey?
    private let none: CollectedExchanges
    fileprivate var weights = Weights()
    fileprivate var count = 0
    fileprivate var asked: AskedTransactions?

    fileprivate init(exampleCount: Int, step: Int64?) {
        none = CollectedExchanges(exampleCount: exampleCount, step: step)
    }

    fileprivate var isEmpty: Bool { groups.values.allSatisfy { $0.count == 0 } }

    fileprivate mutating func add(_ exchange: MeasuredExchange, _ key: NetworkKey) {
        weights.add(exchange.weight)
        if let index = groups.index(forKey: key) {
            groups.values[index].add(exchange)
        } else if let lastHeld, lastHeld.isHeld(before: key) {
            other[key.role, default: none].add(exchange)
        } else {
            groups[key, default: none].add(exchange)
            if groups.count > 2 * NetworkQuestion.groupLimit { prune() }
        }
    }

    package mutating func merge(_ more: consuming GroupedExchanges) {
        groups.merge(more.groups)
        other.merge(more.other)
        if groups.count > 2 * NetworkQuestion.groupLimit { prune() }
        weights.merge(more.weights)
        count += more.count
        guard let more = more.asked else { return }
        if asked == nil { asked = more } else { asked?.merge(more) }
    }

    package mutating func add(_ reason: EmptyReason, exchangeCount: Int) {
        count += exchangeCount
        asked?.count(reason)
    }

    /// Moves the groups beyond the limit to `other`.
    private mutating func prune() {
        guard groups.count > NetworkQuestion.groupLimit else { return }
        let keys = groups.keys.sorted { $0.isHeld(before: $1) }
        for key in keys[NetworkQuestion.groupLimit...] { move(key) }
        lastHeld = keys[NetworkQuestion.groupLimit - 1]
    }

    private mutating func move(_ key: NetworkKey) {
        guard let collected = groups.removeValue(forKey: key) else { return }
        other[key.role, default: none].merge(collected)
    }

    fileprivate mutating func sorted(
        by sort: NetworkQuestion.Sort, limit: Int
    ) -> (groups: [NetworkGroup], other: [NetworkGroup]) {
        prune()
        var made: [(key: NetworkKey, group: NetworkGroup, value: Double)] = []
        for key in Array(groups.keys) {
            // In place, to hold the durations in memory once.
            guard let index = groups.index(forKey: key) else { continue }
            let group = groups.values[index].group(key)
            made.append((key, group, sort.value(of: group) ?? -1))
        }
        made.sort { left, right in
            if sort == .name { return left.key < right.key }
            if left.value != right.value { return left.value > right.value }
            return left.group.count == right.group.count ? left.key < right.key : left.group.count > right.group.count
        }
        for (key, _, _) in made.dropFirst(limit) { move(key) }
        let others = other.sorted { $0.key.rawValue < $1.key.rawValue }.map { role, collected in
            var collected = collected
            return collected.group(.other(role))
        }
        return (made.prefix(limit).map(\.group), others)
    }
}

extension NetworkQuestion.Sort {
    /// `nil` if the group has no such value, which sorts it last.
    fileprivate func value(of group: NetworkGroup) -> Double? {
        switch self {
        case .count: Double(group.count)
        case .errors: group.count > 0 ? Double(group.failingCount) / Double(group.count) : nil
        case .timeouts: Double(group.timeoutCount)
        case .p50: group.succeeded.p50Microseconds.map(Double.init)
        case .p95: group.succeeded.p95Microseconds.map(Double.init)
        case .p99: group.succeeded.p99Microseconds.map(Double.init)
        case .allP50: group.all.p50Microseconds.map(Double.init)
        case .allP95: group.all.p95Microseconds.map(Double.init)
        case .allP99: group.all.p99Microseconds.map(Double.init)
        case .sent: Double(group.sentByteCount)
        case .received: Double(group.receivedByteCount)
        case .name: nil
        }
    }
}
