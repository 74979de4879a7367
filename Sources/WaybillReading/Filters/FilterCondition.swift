public import WaybillCore

/// One condition on transactions or on network exchanges, of those that a filter may have several of.
///
/// Its text is the term of a ``FilterExpression`` that means it, and says which go with what; JSON has it as that.
public indirect enum FilterCondition: Hashable, Sendable {
    /// Of this use case, by its code; an exchange outside any transaction is of none.
    case useCase(Int)
    /// Any source recorded an event in the transaction that it calls so; one that has no name is `event 7`.
    case event(String)
    /// It ended with such an error, or in a transaction an event or an exchange has it: `401` is its code, `LoginError`
    /// is found in its name, domain or text in any case, `LoginError 401` is both, and `*` is any error.
    case error(String)
    /// The transaction has, or had, an attribute of this name, and of this value as it is shown; nil: of any. Wherever it
    /// was said: when a part was opened or closed, since then, with an event, or of a source that took part.
    case attribute(String, value: String?)
    /// What the source said that began the transaction, or recorded the exchange; in any case.
    case app(String), appVersion(String), device(String), osVersion(String)
    /// The same of the name of its operating system, `iOS`, or that with the beginning of its version, `iOS 18`.
    case os(String)
    /// It was interrupted, and its process ended like this: `signal`, `SIGSEGV`, `exit`, `reboot`, `system`, or
    /// `unknown` where nobody can tell. Of an exchange: no end of it was recorded, and so on.
    case ended(String)
    /// Of the part that stands for the transaction, what sampling said at its beginning.
    case sampled(Sampled)
    /// It is among one in so many of all transactions, the same whenever that is asked, by their IDs. An answer counts
    /// each of them so many times, and says how far that may be from the truth. From 1 to 1,000,000.
    case oneIn(Int)
    /// From opening to closing it took more, or less, than this, in whole microseconds; what has no closing did
    /// neither.
    case tookMoreThan(Duration), tookLessThan(Duration)
    /// Found where the ``TransactionFilter/text`` of transactions looks, or the ``ExchangeFilter/text`` of exchanges.
    case text(String)
    /// The exchange, or one of the transaction, has a status from the first to the last.
    case status(ClosedRange<Int>)
    /// One of the transaction's exchanges ended, or not, like this.
    case exchange(ExchangeRecord.State)
    /// The exchange ended, or not, in any of these ways.
    case state(Set<ExchangeRecord.State>)
    /// The exchange went to this host or one below it, in any case: `example.com` lets `api.example.com` through.
    case host(String)
    /// The exchange is of this path or one below it: `/orders`, or `orders`, lets `/orders/17` through, and not
    /// `/orders-of-today`.
    case path(String)
    /// The exchange has any of these methods, in any case.
    case method(Set<String>)
    /// The response's body had more, or fewer, than so many bytes; one whose size is not known had neither.
    case receivedMoreThan(Int64), receivedLessThan(Int64)
    /// The exchange was a WebSocket, closed with a code from the first to the last (RFC 6455, section 7.4).
    case closeCode(ClosedRange<Int>)
    /// The transaction just above it, where that is known here, is such a one, or has that ID.
    case parent(Relative)
    /// The topmost of the transactions above it that are known here is such a one, or has that ID; where there is none
    /// above, itself is. Of one that is below itself there is none.
    case root(Relative)
    /// One of the transactions just below it is such a one, or has that ID.
    case child(Relative)
    /// The condition does not hold; of what is said about an exchange's transaction: it is in one, and there it does
    /// not.
    case not(FilterCondition)

    /// What sampling may say of a transaction.
    public enum Sampled: String, Hashable, Sendable, CaseIterable {
        /// It is one of those that are delivered however they end.
        case chosen
        /// It is not, and is delivered only because of how it ended.
        case unchosen
        /// Its use case had no rate: everything is delivered.
        case none
    }

    /// A transaction above or below another one.
    public enum Relative: Hashable, Sendable {
        /// Any that is known here.
        case known
        /// That one.
        case transaction(GUID)
        /// Any that people call by that code.
        case supportCode(SupportCode)
        /// Of this use case, by its code.
        case useCase(Int)
        /// With this outcome.
        case outcome(TransactionOutcome)
    }
}

extension FilterCondition {
    /// Whether it says something about a transaction, also of exchanges.
    package var isOfTransaction: Bool {
        switch self {
        case .useCase, .event, .attribute, .sampled, .oneIn, .parent, .root, .child: true
        case .not(let condition): condition.isOfTransaction
        case .error, .app, .appVersion, .device, .osVersion, .os, .ended, .tookMoreThan, .tookLessThan, .text, .status,
            .exchange, .state, .host,
            .path,
            .method, .receivedMoreThan, .receivedLessThan, .closeCode:
            false
        }
    }

    /// What ``oneIn(_:)`` may say.
    package static let sampleRange = 1...1_000_000

    /// The words of ``ended(_:)`` beside the names of signals.
    package static let ends = ["signal", "exit", "reboot", "system", "unknown"]

    /// The code in `event 7`.
    package static func code(ofUnnamed name: String) -> Int? { name.hasPrefix("event ") ? Int(name.dropFirst(6)) : nil }
}

extension FilterCondition: Encodable, CustomStringConvertible {
    /// Reads a term of a ``FilterExpression`` that is a condition, e.g. `-event:paid`; a use case goes by its code.
    ///
    /// - Parameters:
    ///   - text: One term, as people write it.
    ///   - subject: What it is about. Default: transactions.
    /// - Throws: ``FilterMistake`` for anything else.
    public init(_ text: String, about subject: FilterExpression.Subject = .transactions) throws(FilterMistake) {
        switch subject {
        case .transactions: self = try Self.only(in: text, as: "event:paid", of: TransactionFilter.self)
        case .exchanges: self = try Self.only(in: text, as: "host:example.com", of: ExchangeFilter.self)
        }
    }

    private static func only<Filter: ListFilter>(
        in text: String, as example: String, of type: Filter.Type
    ) throws(FilterMistake) -> FilterCondition {
        var filter: Filter = try FilterExpression(text, about: Filter.subject).filter(names: nil, now: 0)
        if let code = filter.useCase { filter.conditions.append(.useCase(code)) }
        filter.useCase = nil
        guard let condition = filter.conditions.first, filter.conditions.count == 1 else {
            throw FilterMistake(
                "“\(text)” is not one condition, as \(example) is.", at: 0, count: text.unicodeScalars.count)
        }
        filter.conditions = []
        guard filter == Filter() else {
            throw FilterMistake("“\(text)” is more than a condition.", at: 0, count: text.unicodeScalars.count)
        }
        return condition
    }

    public var description: String { FilterExpression.Term(self).description }

    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
