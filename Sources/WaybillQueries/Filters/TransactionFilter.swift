public import Foundation
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

/// What filters of transactions and of exchanges have in common.
package protocol ListFilter: Hashable, Sendable, Codable {
    static var subject: FilterExpression.Subject { get }
    var useCase: Int? { get set }
    var outcomes: Set<TransactionOutcome> { get set }
    var sinceMicroseconds: Int64? { get set }
    var untilMicroseconds: Int64? { get set }
    var text: String? { get set }
    var conditions: [FilterCondition] { get set }

    /// A filter that lets everything through.
    init()
    /// Takes an order, where it has one.
    mutating func sort(_ order: TransactionFilter.Order)
    /// Lets transactions through by what is known of who began them, where it is about transactions.
    mutating func admit(_ beginner: TransactionFilter.Beginner)
    /// Leaves out what was begun below another one that passes, where it is about transactions.
    mutating func fold()
}

private enum ListFilterKey: CodingKey { case useCase, outcomes, sinceMicroseconds, untilMicroseconds, text, conditions }

extension ListFilter {
    /// Reads a filter but for what it alone has; a condition that is left out lets everything through.
    init(common decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: ListFilterKey.self)
        self.init()
        useCase = try container.decodeIfPresent(Int.self, forKey: .useCase)
        outcomes = try container.decodeIfPresent(Set<TransactionOutcome>.self, forKey: .outcomes) ?? []
        sinceMicroseconds = try container.decodeIfPresent(Int64.self, forKey: .sinceMicroseconds)
        untilMicroseconds = try container.decodeIfPresent(Int64.self, forKey: .untilMicroseconds)
        text = try container.decodeIfPresent(String.self, forKey: .text)
        guard container.contains(.conditions), try !container.decodeNil(forKey: .conditions) else { return }
        var list = try container.nestedUnkeyedContainer(forKey: .conditions)
        while !list.isAtEnd {
            let condition = try list.superDecoder()
            conditions.append(
                try condition.filterText { (text) throws(FilterMistake) in
                    guard conditions.count < FilterExpression.termLimit else {
                        throw FilterExpression.tooMany("terms", at: 0, text.unicodeScalars.count)
                    }
                    return try FilterCondition(text, about: Self.subject)
                })
        }
    }

    /// The text as a condition; none where there is none.
    var textCondition: [FilterCondition] { text.map { $0.isEmpty ? [] : [.text($0)] } ?? [] }
}

extension GUID {
    /// Whether it is among one in so many, by its last four bytes, which are random in every version of a UUID.
    ///
    /// - Parameter count: From 1 to 1,000,000. What is among one in a hundred is also among one in ten.
    package func isOne(in count: Int) -> Bool { low & 0xFFFF_FFFF < Self.bound(oneIn: count) }

    /// The last four bytes of those that are stay below this, in hexadecimal digits; where that is all, it is longer.
    package static func sampleBound(oneIn count: Int) -> String {
        let digits = String(bound(oneIn: count), radix: 16, uppercase: true)
        return count <= 1 ? "FFFFFFFF00" : String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static func bound(oneIn count: Int) -> UInt64 { (1 << 32) / UInt64(max(1, count)) }
}

extension ListFilter {
    /// Of how many transactions it lets one through, where it takes a sample of them; 1: of each.
    package var sampledOneIn: Int { conditions.reduce(1) { max($0, $1.sampledOneIn) } }
}

extension FilterCondition {
    fileprivate var sampledOneIn: Int {
        guard case .oneIn(let count) = self else { return 1 }
        return count
    }
}

// Filters keep whole microseconds, as JSON has them; these are the same as dates.

extension TransactionFilter {
    /// Begun at or after this time; nil: at any.
    public var since: Date? {
        get { sinceMicroseconds.map { Date(microseconds: $0) } }
        set { sinceMicroseconds = newValue?.microseconds }
    }
    /// Begun before this time; nil: at any.
    public var until: Date? {
        get { untilMicroseconds.map { Date(microseconds: $0) } }
        set { untilMicroseconds = newValue?.microseconds }
    }
}

extension ExchangeFilter {
    /// Opened at or after this time; nil: at any.
    public var since: Date? {
        get { sinceMicroseconds.map { Date(microseconds: $0) } }
        set { sinceMicroseconds = newValue?.microseconds }
    }
    /// Opened before this time; nil: at any.
    public var until: Date? {
        get { untilMicroseconds.map { Date(microseconds: $0) } }
        set { untilMicroseconds = newValue?.microseconds }
    }
}
