package import WaybillCore

/// A request for a page of a list, with the same grammar in a URL's query and in a command's options.
///
/// Each parameter is a text, and all conditions must hold.
///
/// ```swift
/// var request = ListRequest()
/// request[.outcome] = "failed,timed_out"
/// request[.since] = "24h"
/// try request.validate(about: .transactions)
/// ```
package struct ListRequest: Hashable, Sendable {
    private var values: [Parameter: String] = [:]

    /// The range for the number of rows of a page.
    package static let limits = 1...500
    package static let defaultLimit = 50
    /// The value of ``Parameter/after`` that asks for a first position, and no rows.
    package static let now = "now"

    package init() {}

    /// Reads the decoded parameters of a URL. The last value of a repeated parameter wins.
    ///
    /// - Throws: ``QueryFailure`` for an unknown name, because a misspelled filter would match everything.
    package init(_ items: [(name: String, value: String)], about subject: Subject) throws(QueryFailure) {
        try self.init(items, among: subject.parameters)
    }

    /// Reads the decoded conditions of a URL, and throws ``QueryFailure`` for other names, also those of pages.
    package init(conditions items: [(name: String, value: String)], about subject: Subject) throws(QueryFailure) {
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

    package init(_ values: [Parameter: String?]) { self.values = values.compactMapValues(\.self) }

    /// `nil` if the parameter is not set.
    package subscript(_ parameter: Parameter) -> String? {
        get { values[parameter] }
        set { values[parameter] = newValue }
    }

    /// The parameters that are set, in their order, not percent-encoded.
    package var items: [(name: String, value: String)] {
        Parameter.allCases.compactMap { parameter in self[parameter].map { (parameter.rawValue, $0) } }
    }
}

extension ListRequest {
    package enum Subject: Sendable, CaseIterable {
        case transactions, exchanges, sources, names

        /// The parameters of this subject, in the order of its documentation.
        package var parameters: [Parameter] { Parameter.allCases.filter { $0.goes(with: self) } }
    }

    /// The raw value is the name in a URL.
    package enum Parameter: String, Sendable, CaseIterable {
        /// A use case, by code or name. An exchange has that of its transaction.
        case useCase = "use_case"
        /// Outcomes, separated by commas. An exchange has that of its transaction.
        case outcome
        /// A lower bound for the begin time: `24h` ago, `yesterday`, an ISO 8601 date or time, or microseconds since 1970.
        case since
        /// An exclusive upper bound for the begin time.
        case until
        case app
        /// A text to find, ignoring case.
        case text
        /// The order of sources: `oldest` or `newest`.
        case sort
        /// Methods, separated by commas.
        case method
        /// `404`, `4xx` or `400-499`.
        case status
        /// States, separated by commas; see ``ExchangeRecord/State``.
        case state
        /// A ``FilterExpression``, in addition to the other parameters.
        case filter
        /// `true` omits the children of listed transactions. Their parents' rows have the counts.
        case fold
        /// The number of rows of a page, within ``ListRequest/limits``.
        case limit
        /// The ``RecordPage/next`` of the page before.
        case cursor
        /// The ``RecordPage/position`` of a page, to list only transactions that have changed since.
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

extension ListRequest {
    package func sourceFilter() throws(QueryFailure) -> SourceFilter {
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

    /// Validates the parameters that need no store, and throws ``QueryFailure`` with the expected form.
    package func validate(about subject: Subject) throws(QueryFailure) {
        switch subject {
        case .transactions: _ = try filter(names: nil, now: 0) as TransactionFilter
        case .exchanges: _ = try filter(names: nil, now: 0) as ExchangeFilter
        case .sources: _ = try sourceFilter()
        case .names: break
        }
        _ = try pageSize()
        _ = try position()
    }

    /// Default: ``defaultLimit``. Throws ``QueryFailure`` outside ``limits``.
    package func pageSize() throws(QueryFailure) -> Int {
        guard let limit = self[.limit] else { return Self.defaultLimit }
        guard let count = Int(limit), Self.limits.contains(count) else {
            throw .parameter(
                "limit", "“\(limit)” is not a number from \(Self.limits.lowerBound) to \(Self.limits.upperBound).")
        }
        return count
    }

    package func position() throws(QueryFailure) -> ExportCursor? {
        guard let after = self[.after], after != Self.now else { return nil }
        do throws(WaybillError) { return try ExportCursor(after) } catch {
            throw .parameter("after", "“\(after)” is no position of a page; “\(Self.now)” asks for the first.")
        }
    }

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

    package func names(about subject: FilterExpression.Subject) throws(QueryFailure) -> [String] {
        let useCase = self[.useCase].flatMap { Int($0) == nil ? $0 : nil }
        return (useCase.map { [$0] } ?? []) + (try written(about: subject)?.names ?? [])
    }

    package var hasNewestFirst: Bool {
        get throws(QueryFailure) {
            let orders = try written(about: .transactions)?.terms.filter { $0.key == .sort }.map(\.value) ?? []
            return orders.allSatisfy { $0 == TransactionFilter.Order.newest.rawValue }
        }
    }

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

extension ListRequest {
    /// Creates a request for the transactions that pass a filter, in its order. Times before 1970 count as 1970.
    ///
    /// The limit is within ``limits`` and defaults to ``defaultLimit``. The cursor is `next` of the page before.
    package init(matching filter: TransactionFilter, limit: Int? = nil, cursor: String? = nil) {
        var others: [FilterExpression] = []
        if filter.beginner != .known { others.append(FilterExpression(.beginner, filter.beginner.rawValue)) }
        if filter.order != .newest { others.append(FilterExpression(.sort, filter.order.rawValue)) }
        self.init(filter.conditions, others, limit, cursor)
        if filter.isFolded { self[.fold] = "true" }
    }

    package init(matching filter: ExchangeFilter, limit: Int? = nil, cursor: String? = nil) {
        self.init(filter.conditions, [], limit, cursor)
    }

    package init(matching filter: SourceFilter, limit: Int? = nil, cursor: String? = nil) {
        self.init([
            .app: filter.app, .text: filter.text, .sort: filter.order == .oldest ? nil : filter.order.rawValue,
            .limit: limit.map(String.init), .cursor: cursor,
        ])
    }

    package init(limit: Int?, cursor: String? = nil) { self.init([.limit: limit.map(String.init), .cursor: cursor]) }

    private init(_ conditions: [FilterCondition], _ others: [FilterExpression], _ limit: Int?, _ cursor: String?) {
        self.init(limit: limit, cursor: cursor)
        let terms = conditions.map(\.description) + others.map(\.description)
        if !terms.isEmpty { self[.filter] = terms.joined(separator: " ") }
    }
}
