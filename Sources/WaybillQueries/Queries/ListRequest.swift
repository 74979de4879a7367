package import Foundation
package import WaybillCore

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
    /// The default number of rows of a page.
    public static let defaultLimit = 50
    /// The value of ``Parameter/after`` that asks for a first position, and no rows.
    public static let now = "now"

    /// Asks for everything, from the first page on.
    public init() {}

    /// Reads the decoded parameters of a URL. If one is given twice, the last one counts.
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

    /// Sets the values that are not `nil`.
    package init(_ values: [Parameter: String?]) { self.values = values.compactMapValues(\.self) }

    /// A parameter as text; `nil` if it is not set.
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
    /// The subject of a list.
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
        /// A text to find, ignoring case.
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

        /// The equivalent term of a filter; `nil` for an empty text or list, which is no condition, and for a parameter
        /// that has no such term.
        func term(_ value: String) -> FilterExpression? {
            let words = value.split(separator: ",").joined(separator: ",")
            return switch self {
            case .useCase: FilterExpression(.useCase, value)
            case .since: FilterExpression(.since, value)
            case .until: FilterExpression(.until, value)
            case .status: FilterExpression(.status, value)
            case .text: value.isEmpty ? nil : FilterExpression(nil, value)
            case .outcome: words.isEmpty ? nil : FilterExpression(.outcome, words)
            case .method: words.isEmpty ? nil : FilterExpression(.method, words)
            case .state: words.isEmpty ? nil : FilterExpression(.state, words)
            case .app, .sort, .filter, .fold, .limit, .cursor, .after: nil
            }
        }
    }
}

/// The meaning of a request.
extension ListRequest {
    /// Returns the filter of transactions.
    ///
    /// - Parameters:
    ///   - names: The names of use cases and events in the store.
    ///   - now: The time from which `24h` counts back.
    /// - Throws: ``QueryFailure`` if a value is malformed, with the expected form.
    package func transactionFilter(names: [RecordedName], now: Date) throws(QueryFailure) -> TransactionFilter {
        try filter(names: names, now: now.microseconds)
    }

    /// Returns the filter of exchanges; see ``transactionFilter(names:now:)``.
    package func exchangeFilter(names: [RecordedName], now: Date) throws(QueryFailure) -> ExchangeFilter {
        try filter(names: names, now: now.microseconds)
    }

    /// Returns the filter of sources.
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

    /// Checks all parameters that can be checked without a store.
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

    /// Returns the number of rows that a page has at most.
    public func pageSize() throws(QueryFailure) -> Int {
        guard let limit = self[.limit] else { return Self.defaultLimit }
        guard let count = Int(limit), Self.limits.contains(count) else {
            throw .parameter(
                "limit", "“\(limit)” is not a number from \(Self.limits.lowerBound) to \(Self.limits.upperBound).")
        }
        return count
    }

    /// Returns the position after which changes are listed; `nil` for the end of the store, as with ``now``.
    func position() throws(QueryFailure) -> ExportCursor? {
        guard let after = self[.after], after != Self.now else { return nil }
        do throws(WaybillError) { return try ExportCursor(after) } catch {
            throw .parameter("after", "“\(after)” is no position of a page; “\(Self.now)” asks for the first.")
        }
    }

    /// Returns the filter.
    ///
    /// - Parameters:
    ///   - names: The names in the store. If `nil`, names are not looked up, and use cases count only by their codes.
    ///   - now: Microseconds since 1970.
    package func filter<Filter: ListFilter>(names: [RecordedName]?, now: Int64) throws(QueryFailure) -> Filter {
        _ = try ListRequest(items, about: Filter.subject == .transactions ? .transactions : .exchanges)
        var filter = Filter([])
        if let fold = self[.fold] {
            guard ["", "true", "false"].contains(fold) else {
                throw .parameter("fold", "“\(fold)” is neither true nor false.")
            }
            filter.set(\.isFolded, fold == "true")
        }
        for (parameter, term) in terms {
            do throws(FilterMistake) { try term.add(to: &filter, names: names, now: now) } catch {
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

    /// All conditions on transactions as the text of a filter, for a place that takes nothing else; `nil` if there are
    /// none.
    package func filterText() throws(QueryFailure) -> String? {
        let all = terms.map(\.term) + [try written(about: .transactions)].compactMap(\.self)
        return all.isEmpty ? nil : all.map(\.description).joined(separator: " ")
    }

    private var terms: [(parameter: Parameter, term: FilterExpression)] {
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
    ///   - filter: The filter.
    ///   - limit: The number of rows, of ``limits``. Default: ``defaultLimit``.
    ///   - cursor: ``RecordPage/next`` of the previous page; `nil` for the first page.
    public init(matching filter: TransactionFilter, limit: Int? = nil, cursor: String? = nil) {
        var others: [FilterExpression] = []
        if filter.beginner != .known { others.append(FilterExpression(.beginner, filter.beginner.rawValue)) }
        if filter.order != .newest { others.append(FilterExpression(.sort, filter.order.rawValue)) }
        self.init(filter.conditions, others, limit, cursor)
        if filter.isFolded { self[.fold] = "true" }
    }

    /// Asks for the exchanges that pass a filter, the newest first; see ``init(matching:limit:cursor:)``.
    public init(matching filter: ExchangeFilter, limit: Int? = nil, cursor: String? = nil) {
        self.init(filter.conditions, [], limit, cursor)
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
    ///   - limit: The number of rows, of ``limits``. Default: ``defaultLimit``.
    ///   - cursor: ``RecordPage/next`` of the previous page; `nil` for the first page.
    public init(limit: Int?, cursor: String? = nil) { self.init([.limit: limit.map(String.init), .cursor: cursor]) }

    /// - Parameter others: Terms that are no conditions.
    private init(_ conditions: [FilterCondition], _ others: [FilterExpression], _ limit: Int?, _ cursor: String?) {
        self.init(limit: limit, cursor: cursor)
        let terms = conditions.map(\.description) + others.map(\.description)
        if !terms.isEmpty { self[.filter] = terms.joined(separator: " ") }
    }
}
