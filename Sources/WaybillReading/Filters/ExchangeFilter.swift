public import WaybillCore

/// Which exchanges a list shows; every condition that is set must hold.
///
/// People write one as text: see ``FilterExpression``.
public struct ExchangeFilter: Hashable, Sendable, Codable {
    /// The code of the use case of its transaction.
    public var useCase: Int?
    /// Any of these outcomes of its transaction; empty: all, also exchanges outside any transaction.
    public var outcomes: Set<TransactionOutcome> = []
    /// Opened at or after this time, in microseconds since 1970.
    public var sinceMicroseconds: Int?
    /// Opened before this time, in microseconds since 1970.
    public var untilMicroseconds: Int?
    /// Found in any case in the method, host, path, query, header fields, error or kept bodies, or the ID or support code of its transaction.
    public var text: String?
    /// Any of these methods, as they were written; empty: all.
    public var methods: Set<String> = []
    /// Status codes from the first to the last; nil: all, also those without a response.
    public var statuses: ClosedRange<Int>?
    /// Any of these; empty: all.
    public var states: Set<ExchangeRecord.State> = []
    /// What else must hold, each of them. Default: nothing.
    public var conditions: [ExchangeCondition] = []

    /// A filter that lets everything through.
    public init() {}
}

extension ExchangeFilter {
    /// Reads a filter; a condition that is left out lets everything through.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        useCase = try container.decodeIfPresent(Int.self, forKey: .useCase)
        outcomes = try container.decodeIfPresent(Set<TransactionOutcome>.self, forKey: .outcomes) ?? []
        sinceMicroseconds = try container.decodeIfPresent(Int.self, forKey: .sinceMicroseconds)
        untilMicroseconds = try container.decodeIfPresent(Int.self, forKey: .untilMicroseconds)
        text = try container.decodeIfPresent(String.self, forKey: .text)
        methods = try container.decodeIfPresent(Set<String>.self, forKey: .methods) ?? []
        statuses = try container.decodeIfPresent(ClosedRange<Int>.self, forKey: .statuses)
        states = try container.decodeIfPresent(Set<ExchangeRecord.State>.self, forKey: .states) ?? []
        conditions = try container.decodeIfPresent([ExchangeCondition].self, forKey: .conditions) ?? []
    }
}
