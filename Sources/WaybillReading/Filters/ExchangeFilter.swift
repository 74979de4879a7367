public import WaybillCore

/// Which exchanges a list shows; every condition that is set must hold.
///
/// People write one as text: see ``FilterExpression``.
public struct ExchangeFilter: ListFilter, Hashable, Sendable, Codable {
    /// The code of the use case of its transaction.
    public var useCase: Int?
    /// Any of these outcomes of its transaction; empty: all, also exchanges outside any transaction.
    public var outcomes: Set<TransactionOutcome> = []
    package var sinceMicroseconds: Int64?
    package var untilMicroseconds: Int64?
    /// Found in any case in the method, host, path, query, header fields, error or kept bodies, or the ID or support
    /// code of its transaction.
    public var text: String?
    /// Any of these methods, in any case; empty: all.
    public var methods: Set<String> = []
    /// Status codes from the first to the last; nil: all, also those without a response.
    public var statuses: ClosedRange<Int>?
    /// Any of these; empty: all.
    public var states: Set<ExchangeRecord.State> = []
    /// What else must hold, each of them. Default: nothing.
    public var conditions: [FilterCondition] = []

    /// A filter that lets everything through.
    public init() {}
}

extension ExchangeFilter {
    package static var subject: FilterExpression.Subject { .exchanges }

    /// The newest come first always.
    package mutating func sort(_ order: TransactionFilter.Order) {}

    /// They are shown whoever began their transaction.
    package mutating func admit(_ beginner: TransactionFilter.Beginner) {}

    /// None is below another.
    package mutating func fold() {}

    /// All that is asked of one exchange after the other.
    var terms: [FilterCondition] {
        (methods.isEmpty ? [] : [.method(methods)]) + (statuses.map { [.status($0)] } ?? [])
            + (states.isEmpty ? [] : [.state(states)])
            + textCondition + conditions.filter { !$0.isOfTransaction }
    }

    /// Reads a filter; a condition that is left out lets everything through.
    public init(from decoder: any Decoder) throws {
        try self.init(common: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        methods = try container.decodeIfPresent(Set<String>.self, forKey: .methods) ?? []
        guard methods.count <= FilterExpression.termLimit else {
            let mistake = FilterExpression.tooMany("methods", at: 0, 1)
            throw DecodingError.dataCorruptedError(forKey: .methods, in: container, debugDescription: mistake.message)
        }
        statuses = try container.decodeIfPresent(ClosedRange<Int>.self, forKey: .statuses)
        states = try container.decodeIfPresent(Set<ExchangeRecord.State>.self, forKey: .states) ?? []
    }
}
