public import WaybillCore

/// The transactions that a list shows or an answer counts.
///
/// ```swift
/// let failed = TransactionFilter(useCase: Login.self, outcomes: [.failed, .timedOut], [.tookMoreThan(.seconds(2))])
/// ```
///
/// ``FilterExpression`` describes filters as text.
public struct TransactionFilter: ListFilter, Hashable, Sendable, Codable {
    /// The conditions. All must hold.
    public var conditions: [FilterCondition]
    /// Whether the part that began a transaction must be known. Default: ``Beginner/known``.
    public var beginner = Beginner.known
    /// The order of a list; answers ignore it. Default: the newest first.
    public var order = Order.newest
    /// Whether a list omits children of transactions that it shows. Answers and JSON ignore this.
    package var isFolded = false

    /// Creates a filter, by default one that matches everything.
    public init(_ conditions: [FilterCondition] = []) { self.conditions = conditions }

    /// Creates a filter for a use case, by default for all outcomes and without other conditions.
    public init<U: UseCase>(
        useCase: U.Type, outcomes: Set<TransactionOutcome> = [], _ conditions: [FilterCondition] = []
    ) {
        self.conditions = [.useCase(U.code)] + (outcomes.isEmpty ? [] : [.outcome(outcomes)]) + conditions
    }

    /// Whether the part that began a transaction has arrived. Anyone can forge the header that parts join by.
    public enum Beginner: String, Hashable, Sendable, Codable, CaseIterable {
        /// It has arrived.
        case known
        /// Only joined parts have arrived; see ``TransactionSummary/isWaitingForBeginner``.
        case unknown
        /// Either.
        case any
    }

    /// An order of transactions. Ties have a stable order.
    public enum Order: String, Hashable, Sendable, Codable, CaseIterable {
        /// By begin time.
        case newest, oldest
        /// By the time from opening to closing. Open transactions are last.
        case longest, shortest
    }
}

extension TransactionFilter {
    package static var subject: FilterExpression.Subject { .transactions }

    package mutating func set<Value>(_ option: WritableKeyPath<TransactionFilter, Value>, _ value: Value) {
        self[keyPath: option] = value
    }

    /// Reads a filter. A missing condition matches everything.
    public init(from decoder: any Decoder) throws {
        let json = try FilterJSON(from: decoder)
        self.init(try json.conditions(about: .transactions, decoder))
        (beginner, order) = (json.beginner ?? .known, json.order ?? .newest)
    }

    public func encode(to encoder: any Encoder) throws {
        var json = FilterJSON(self)
        (json.beginner, json.order) = (beginner, order)
        try json.encode(to: encoder)
    }
}

/// The exchanges that a list shows.
///
/// ```swift
/// let failing = ExchangeFilter([.host("example.com"), .status(500...599)])
/// ```
///
/// ``FilterExpression`` describes filters as text.
public struct ExchangeFilter: ListFilter, Hashable, Sendable, Codable {
    /// The conditions. All must hold.
    public var conditions: [FilterCondition]

    /// Creates a filter, by default one that matches everything.
    public init(_ conditions: [FilterCondition] = []) { self.conditions = conditions }
}

extension ExchangeFilter {
    package static var subject: FilterExpression.Subject { .exchanges }

    package mutating func set<Value>(_ option: WritableKeyPath<TransactionFilter, Value>, _ value: Value) {}

    /// Reads a filter. A missing condition matches everything.
    public init(from decoder: any Decoder) throws {
        self.init(try FilterJSON(from: decoder).conditions(about: .exchanges, decoder))
    }

    public func encode(to encoder: any Encoder) throws { try FilterJSON(self).encode(to: encoder) }
}

package protocol ListFilter: Hashable, Sendable, Codable {
    static var subject: FilterExpression.Subject { get }
    var conditions: [FilterCondition] { get set }

    init(_ conditions: [FilterCondition])
    mutating func set<Value>(_ option: WritableKeyPath<TransactionFilter, Value>, _ value: Value)
}

extension ListFilter {
    package var useCase: Int? { conditions.lazy.compactMap(\.useCase).first }
    package var outcomes: Set<TransactionOutcome>? {
        let all = conditions.compactMap(\.outcomes)
        return all.first.map { all.dropFirst().reduce($0) { $0.intersection($1) } }
    }
    package var sinceMicroseconds: Int64? { conditions.compactMap(\.since).max() }
    package var untilMicroseconds: Int64? { conditions.compactMap(\.until).min() }
    package var terms: [FilterCondition] {
        conditions.compactMap(\.useCase).dropFirst().map { .useCase($0) } + conditions.filter { !$0.isIndexed }
    }
    package var sampledOneIn: Int { conditions.compactMap(\.sampledOneIn).max() ?? 1 }
}

extension KeyedDecodingContainer {
    /// A missing filter matches everything. The synthesized `init(from:)` of a question calls this method.
    func decode<Filter: ListFilter>(_ type: Filter.Type, forKey key: Key) throws -> Filter {
        try decodeIfPresent(type, forKey: key) ?? Filter([])
    }
}

extension FilterCondition {
    package var isIndexed: Bool { useCase != nil || outcomes != nil || since != nil || until != nil }

    fileprivate var useCase: Int? { if case .useCase(let code) = self { code } else { nil } }
    var outcomes: Set<TransactionOutcome>? {
        guard case .outcome(let outcomes) = self else { return nil }
        return outcomes.isEmpty ? Set(TransactionOutcome.allCases) : outcomes
    }
    fileprivate var since: Int64? { if case .sinceMicroseconds(let time) = self { time } else { nil } }
    fileprivate var until: Int64? { if case .untilMicroseconds(let time) = self { time } else { nil } }
    var sampledOneIn: Int? { if case .oneIn(let count) = self { count } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    fileprivate var methods: Set<String>? { if case .method(let methods) = self { methods } else { nil } }
    fileprivate var statuses: ClosedRange<Int>? { if case .status(let range) = self { range } else { nil } }
    fileprivate var states: Set<ExchangeRecord.State>? { if case .state(let states) = self { states } else { nil } }
}

private struct FilterJSON: Codable {
    var useCase: Int?
    var outcomes: Set<TransactionOutcome>?
    var sinceMicroseconds, untilMicroseconds: Int64?
    var text: String?
    var methods: Set<String>?
    var statuses: ClosedRange<Int>?
    var states: Set<ExchangeRecord.State>?
    var conditions: [String]?
    var beginner: TransactionFilter.Beginner?
    var order: TransactionFilter.Order?

    init<Filter: ListFilter>(_ filter: Filter) {
        var rest = filter.conditions
        useCase = rest.removeFirst(\.useCase)
        // An empty list matches everything, so conditions that leave no outcome become texts.
        let outcomes = filter.outcomes ?? []
        if !outcomes.isEmpty { rest.removeAll { $0.outcomes != nil } }
        self.outcomes = outcomes
        (sinceMicroseconds, untilMicroseconds) = (filter.sinceMicroseconds, filter.untilMicroseconds)
        rest.removeAll { $0.since != nil || $0.until != nil }
        // Takes these only from the front, to keep the order of the other conditions.
        text = rest.removeFront(\.text)
        if Filter.subject == .exchanges {
            methods = rest.removeFront(\.methods) ?? []
            statuses = rest.removeFront(\.statuses)
            states = rest.removeFront(\.states) ?? []
        }
        conditions = rest.map(\.description)
    }

    func conditions(about subject: FilterExpression.Subject, _ decoder: any Decoder) throws -> [FilterCondition] {
        var all: [FilterCondition?] = [
            useCase.map { .useCase($0) }, outcomes.map { .outcome($0) },
            sinceMicroseconds.map { .sinceMicroseconds($0) },
            untilMicroseconds.map { .untilMicroseconds($0) }, text.map { .text($0) },
        ]
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if subject == .exchanges {
            guard methods?.count ?? 0 <= FilterExpression.termLimit else {
                let mistake = FilterExpression.tooMany("methods", at: 0, 1)
                throw DecodingError.dataCorruptedError(
                    forKey: .methods, in: container, debugDescription: mistake.message)
            }
            all += [methods.map { .method($0) }, statuses.map { .status($0) }, states.map { .state($0) }]
        }
        all.removeAll { [.outcome([]), .text(""), .method([]), .state([])].contains($0) }
        guard conditions != nil else { return all.compactMap(\.self) }
        var list = try container.nestedUnkeyedContainer(forKey: .conditions)
        while !list.isAtEnd {
            let isOneTooMany = list.currentIndex >= FilterExpression.termLimit
            all.append(
                try list.superDecoder().filterText { (text) throws(FilterMistake) in
                    guard !isOneTooMany else {
                        throw FilterExpression.tooMany("terms", at: 0, text.unicodeScalars.count)
                    }
                    return try FilterCondition(text, about: subject)
                })
        }
        return all.compactMap(\.self)
    }
}

extension [FilterCondition] {
    fileprivate mutating func removeFirst<Value>(_ value: (FilterCondition) -> Value?) -> Value? {
        guard let index = firstIndex(where: { value($0) != nil }) else { return nil }
        return value(remove(at: index))
    }

    fileprivate mutating func removeFront<Value>(_ value: (FilterCondition) -> Value?) -> Value? {
        first.flatMap(value) == nil ? nil : removeFirst(value)
    }
}

extension GUID {
    /// The last four bytes decide, because they are random in every UUID version.
    package func isOne(in count: Int) -> Bool { low & 0xFFFF_FFFF < Self.bound(oneIn: count) }

    package static func sampleBound(oneIn count: Int) -> String {
        let digits = String(bound(oneIn: count), radix: 16, uppercase: true)
        return count <= 1 ? "FFFFFFFF00" : String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static func bound(oneIn count: Int) -> UInt64 { (1 << 32) / UInt64(max(1, count)) }
}
