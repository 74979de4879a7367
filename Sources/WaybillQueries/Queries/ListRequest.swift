public import Foundation
public import WaybillCore

/// A page of a list as it is asked for, in a URL's query or by options of a command: one grammar for both.
///
/// Each parameter is a text, as a person writes it; all that are set must hold. What they mean is a filter and a page:
///
/// ```swift
/// var request = ListRequest()
/// request[.outcome] = "failed,timed_out"
/// request[.since] = "24h"
/// let filter = try request.transactionFilter(names: names, now: Date())
/// ```
public struct ListRequest: Hashable, Sendable {
    private var values: [Parameter: String] = [:]

    /// The most and the fewest rows that a page may be asked to have.
    public static let limits = 1...500
    /// How many rows a page has where nothing is said.
    public static let defaultLimit = 50
    /// The value of ``Parameter/after`` that asks for a first position, and no rows.
    public static let now = "now"

    /// Asks for everything, from the first page on.
    public init() {}

    /// Reads the parameters of a URL, decoded; where one is given twice, the last one counts.
    ///
    /// - Throws: For a name that the subject does not have, since a misspelt filter would let everything through.
    public init(_ items: [(name: String, value: String)], about subject: Subject) throws(QueryFailure) {
        try self.init(items, among: subject.parameters)
    }

    /// Reads those parameters of a URL that are conditions: an answer has no pages.
    ///
    /// - Throws: For any other name.
    public init(conditions items: [(name: String, value: String)], about subject: Subject) throws(QueryFailure) {
        try self.init(items, among: subject.parameters.filter { ![.limit, .cursor, .after, .fold].contains($0) })
    }

    private init(_ items: [(name: String, value: String)], among parameters: [Parameter]) throws(QueryFailure) {
        for (name, value) in items {
            guard let parameter = Parameter(rawValue: name), parameters.contains(parameter) else {
                throw .unknownParameter(name, among: parameters.map(\.rawValue))
            }
            self[parameter] = value
        }
    }

    /// Sets what is not nil.
    package init(_ values: [Parameter: String?]) { self.values = values.compactMapValues(\.self) }

    /// A parameter as it is written; nil where it is not set.
    public subscript(_ parameter: Parameter) -> String? {
        get { values[parameter] }
        set { values[parameter] = newValue }
    }

    /// The parameters that are set, in their order, not percent-encoded.
    public var items: [(name: String, value: String)] {
        Parameter.allCases.compactMap { parameter in self[parameter].map { (parameter.rawValue, $0) } }
    }
}

extension ListRequest {
    /// What a list is of.
    public enum Subject: Sendable, CaseIterable {
        /// Runs of use cases, network exchanges, what recorded them, or the codes that have several names.
        case transactions, exchanges, sources, names

        /// The parameters that it has, in the order of a description.
        public var parameters: [Parameter] { Parameter.allCases.filter { $0.goes(with: self) } }
    }

    /// A parameter; the raw value is its name in a URL.
    public enum Parameter: String, Sendable, CaseIterable {
        /// A use case, by its code or its name; of an exchange, that of its transaction.
        case useCase = "use_case"
        /// Words of outcomes, separated by commas; of an exchange, those of its transaction.
        case outcome
        /// Begun, or opened, at or after this time: `24h` ago, an ISO 8601 date or time, or microseconds since 1970.
        case since
        /// Begun, or opened, before this time.
        case until
        /// The name of an app or a service.
        case app
        /// Found in any case in what is listed.
        case text
        /// The order of sources: `oldest` or `newest`.
        case sort
        /// Methods, separated by commas.
        case method
        /// `404`, `4xx` or `400-499`.
        case status
        /// Words of states, separated by commas; see ``ExchangeRecord/State``.
        case state
        /// A ``FilterExpression``; holds besides the others.
        case filter
        /// `true` leaves out the transactions below others that are listed; the lines of those say how many there are.
        case fold
        /// How many rows a page has, of ``ListRequest/limits``.
        case limit
        /// Where the page before ended: its ``RecordPage/next``.
        case cursor
        /// Only transactions that have changed since a page's ``RecordPage/position``.
        case after

        func goes(with subject: Subject) -> Bool {
            switch self {
            case .limit, .cursor: true
            case .text: subject != .names
            case .useCase, .outcome, .since, .until, .filter: subject == .transactions || subject == .exchanges
            case .method, .status, .state: subject == .exchanges
            case .after, .fold: subject == .transactions
            case .app, .sort: subject == .sources
            }
        }

        /// The term of a filter that means the same; nil for an empty text or list, which is no condition, and for what
        /// has no such term.
        func term(_ value: String) -> FilterExpression.Term? {
            let words = value.split(separator: ",").joined(separator: ",")
            return switch self {
            case .useCase: .init(.useCase, .equal, value)
            case .since: .init(.since, .equal, value)
            case .until: .init(.until, .equal, value)
            case .status: .init(.status, .equal, value)
            case .text: value.isEmpty ? nil : .init(nil, .equal, value)
            case .outcome: words.isEmpty ? nil : .init(.outcome, .equal, words)
            case .method: words.isEmpty ? nil : .init(.method, .equal, words)
            case .state: words.isEmpty ? nil : .init(.state, .equal, words)
            case .app, .sort, .filter, .fold, .limit, .cursor, .after: nil
            }
        }
    }
}

/// What a request means.
extension ListRequest {
    /// The transactions that are meant.
    ///
    /// - Parameters:
    ///   - names: What use cases and events are called in the store that is asked.
    ///   - now: For times that are so long ago.
    /// - Throws: For what cannot be read, with what would be right.
    public func transactionFilter(names: [RecordedName], now: Date) throws(QueryFailure) -> TransactionFilter {
        try filter(names: names, now: now.microseconds)
    }

    /// The exchanges that are meant; see ``transactionFilter(names:now:)``.
    public func exchangeFilter(names: [RecordedName], now: Date) throws(QueryFailure) -> ExchangeFilter {
        try filter(names: names, now: now.microseconds)
    }

    /// The sources that are meant.
    public func sourceFilter() throws(QueryFailure) -> SourceFilter {
        _ = try ListRequest(items, about: .sources)
        var filter = SourceFilter()
        (filter.app, filter.text) = (self[.app], self[.text])
        guard let sort = self[.sort] else { return filter }
        guard let order = SourceFilter.Order(rawValue: sort) else {
            let words = SourceFilter.Order.allCases.map(\.rawValue).joined(separator: ", ")
            throw .parameter("sort", "“\(sort)” is no order of sources. They are: \(words).")
        }
        filter.order = order
        return filter
    }

    /// Says what is wrong with a parameter, as far as that can be told without a store.
    public func validate(about subject: Subject) throws(QueryFailure) {
        switch subject {
        case .transactions: _ = try filter(names: nil, now: 0) as TransactionFilter
        case .exchanges: _ = try filter(names: nil, now: 0) as ExchangeFilter
        case .sources: _ = try sourceFilter()
        case .names: break
        }
        _ = try pageSize()
        _ = try position()
    }

    /// How many rows the page is to have.
    public func pageSize() throws(QueryFailure) -> Int {
        guard let limit = self[.limit] else { return Self.defaultLimit }
        guard let count = Int(limit), Self.limits.contains(count) else {
            throw .parameter(
                "limit", "“\(limit)” is not a number from \(Self.limits.lowerBound) to \(Self.limits.upperBound).")
        }
        return count
    }

    /// Where changes are to begin; nil: at the end of what there is, as with ``now``.
    func position() throws(QueryFailure) -> ExportCursor? {
        guard let after = self[.after], after != Self.now else { return nil }
        do throws(WaybillError) { return try ExportCursor(after) } catch {
            throw .parameter("after", "“\(after)” is no position of a page; “\(Self.now)” asks for the first.")
        }
    }

    /// The filter that is meant.
    ///
    /// - Parameters:
    ///   - names: nil: names are not looked up, and a use case counts where it is a code.
    ///   - now: Microseconds since 1970.
    package func filter<Filter: ListFilter>(names: [RecordedName]?, now: Int64) throws(QueryFailure) -> Filter {
        _ = try ListRequest(items, about: Filter.subject == .transactions ? .transactions : .exchanges)
        var filter = Filter()
        if let fold = self[.fold] {
            guard ["", "true", "false"].contains(fold) else {
                throw .parameter("fold", "“\(fold)” is neither true nor false.")
            }
            if fold == "true" { filter.fold() }
        }
        for (parameter, term) in terms {
            let expression = FilterExpression(terms: [term])
            do throws(FilterMistake) { try expression.add(to: &filter, names: names, now: now) } catch {
                throw .parameter(parameter.rawValue, error.message)
            }
        }
        if let expression = try written(about: Filter.subject) {
            do throws(FilterMistake) { try expression.add(to: &filter, names: names, now: now) } catch {
                throw .filter(error)
            }
        }
        return filter
    }

    /// The names that have to be looked up.
    package func names(about subject: FilterExpression.Subject) throws(QueryFailure) -> [String] {
        let useCase = self[.useCase].flatMap { Int($0) == nil ? $0 : nil }
        return (useCase.map { [$0] } ?? []) + (try written(about: subject)?.names ?? [])
    }

    /// Whether a list of transactions is in the order of beginning, the newest first.
    package var hasNewestFirst: Bool {
        get throws(QueryFailure) {
            let orders = try written(about: .transactions)?.terms.filter { $0.key == .sort }.map(\.value) ?? []
            return orders.allSatisfy { $0 == TransactionFilter.Order.newest.rawValue }
        }
    }

    /// All conditions on transactions as one expression, for a place that takes nothing else; nil where there are none.
    package func expression() throws(QueryFailure) -> FilterExpression? {
        let all = terms.map(\.term) + (try written(about: .transactions)?.terms ?? [])
        return all.isEmpty ? nil : FilterExpression(terms: all)
    }

    private var terms: [(parameter: Parameter, term: FilterExpression.Term)] {
        Parameter.allCases.compactMap { parameter in self[parameter].flatMap(parameter.term).map { (parameter, $0) } }
    }

    private func written(about subject: FilterExpression.Subject) throws(QueryFailure) -> FilterExpression? {
        guard let filter = self[.filter] else { return nil }
        do throws(FilterMistake) { return try FilterExpression(filter, about: subject) } catch { throw .filter(error) }
    }
}

/// The request that means a filter.
extension ListRequest {
    /// Asks for the transactions that pass a filter, in its order; times before 1970 count as its beginning.
    ///
    /// - Parameters:
    ///   - filter: What is asked for.
    ///   - limit: How many rows, of ``limits``; nil: ``defaultLimit``.
    ///   - cursor: Where the page before ended; nil: the first page.
    public init(matching filter: TransactionFilter, limit: Int? = nil, cursor: String? = nil) {
        var terms: [FilterExpression.Term] = []
        if filter.beginner != .known { terms.append(.init(.beginner, .equal, filter.beginner.rawValue)) }
        if filter.order != .newest { terms.append(.init(.sort, .equal, filter.order.rawValue)) }
        self.init(filter, terms, limit, cursor)
        if filter.isFolded { self[.fold] = "true" }
    }

    /// The same of exchanges, the newest first.
    public init(matching filter: ExchangeFilter, limit: Int? = nil, cursor: String? = nil) {
        self.init(filter, [], limit, cursor)
        self[.method] = filter.methods.isEmpty ? nil : filter.methods.sorted().joined(separator: ",")
        self[.status] = filter.statuses.map { StatusRange.text($0) }
        self[.state] = filter.states.isEmpty ? nil : filter.states.map(\.rawValue).sorted().joined(separator: ",")
    }

    /// The same of sources, in the filter's order.
    public init(matching filter: SourceFilter, limit: Int? = nil, cursor: String? = nil) {
        self.init([
            .app: filter.app, .text: filter.text, .sort: filter.order == .oldest ? nil : filter.order.rawValue,
            .limit: limit.map(String.init), .cursor: cursor,
        ])
    }

    /// A page without conditions.
    ///
    /// - Parameters:
    ///   - limit: How many rows, of ``limits``; nil: ``defaultLimit``.
    ///   - cursor: Where the page before ended; nil: the first page.
    public init(limit: Int?, cursor: String? = nil) { self.init([.limit: limit.map(String.init), .cursor: cursor]) }

    /// - Parameter others: Terms that are no conditions.
    private init(_ filter: some ListFilter, _ others: [FilterExpression.Term], _ limit: Int?, _ cursor: String?) {
        let terms = filter.conditions.map { FilterExpression.Term($0) } + others
        let outcomes = filter.outcomes.sorted { $0.rawValue < $1.rawValue }.map(\.name)
        self.init([
            .useCase: filter.useCase.map(String.init),
            .outcome: outcomes.isEmpty ? nil : outcomes.joined(separator: ","),
            .since: filter.sinceMicroseconds.map { "\(max(0, $0))" },
            .until: filter.untilMicroseconds.map { "\(max(0, $0))" },
            .text: filter.text, .filter: terms.isEmpty ? nil : FilterExpression(terms: terms).description,
            .limit: limit.map(String.init), .cursor: cursor,
        ])
    }
}
