public import WaybillReading

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
