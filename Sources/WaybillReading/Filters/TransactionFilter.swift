public import WaybillCore
import WaybillStore

/// Which transactions a list shows or an answer counts; every condition that is set must hold.
///
/// People write one as text: see ``FilterExpression``.
public struct TransactionFilter: ListFilter, Hashable, Sendable, Codable {
    /// The use case's code.
    public var useCase: Int?
    /// Any of these outcomes; empty: all.
    public var outcomes: Set<TransactionOutcome> = []
    package var sinceMicroseconds: Int64?
    package var untilMicroseconds: Int64?
    /// Found in any case in the ID, support code, names, attributes, errors, or in the host or path of an exchange.
    public var text: String?
    /// What else must hold, each of them. Default: nothing.
    public var conditions: [FilterCondition] = []
    /// By what is known of who began them. Default: those whose beginner is known.
    public var beginner = Beginner.known
    /// In which order a list shows them; what is no list has no order. Default: the newest first.
    public var order = Order.newest
    /// Whether a list leaves out what was begun below a transaction that it shows. No part of the JSON: it changes no
    /// answer.
    package var isFolded = false

    private enum CodingKeys: CodingKey {
        case useCase, outcomes, sinceMicroseconds, untilMicroseconds, text, conditions, beginner, order
    }

    /// A filter that lets everything through.
    public init() {}

    /// What is known of who began a transaction. A source that joins one goes by a header field alone, and anybody can
    /// invent that: until a part arrives that began it, nothing says that there is such a transaction.
    public enum Beginner: String, Hashable, Sendable, Codable, CaseIterable {
        /// A part of it is there that began it.
        case known
        /// Only joined parts are there; see ``TransactionSummary/isWaitingForBeginner``.
        case unknown
        /// Either.
        case any
    }

    /// An order of transactions; ties have an order, too, which stays the same.
    public enum Order: String, Hashable, Sendable, Codable, CaseIterable {
        /// By time of beginning.
        case newest, oldest
        /// By the time from opening to closing; those without a closing come last.
        case longest, shortest
    }
}

extension TransactionFilter {
    package static var subject: FilterExpression.Subject { .transactions }

    package mutating func sort(_ order: Order) { self.order = order }

    package mutating func admit(_ beginner: Beginner) { self.beginner = beginner }

    package mutating func fold() { isFolded = true }

    /// What is asked of one transaction after the other.
    var terms: [FilterCondition] { textCondition + conditions }

    /// Reads a filter; a condition that is left out lets everything through.
    public init(from decoder: any Decoder) throws {
        try self.init(common: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        beginner = try container.decodeIfPresent(Beginner.self, forKey: .beginner) ?? .known
        order = try container.decodeIfPresent(Order.self, forKey: .order) ?? .newest
    }
}
