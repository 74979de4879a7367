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
