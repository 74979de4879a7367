/// One condition on network exchanges, of those that a filter may have several of.
///
/// Its text is the term of a ``FilterExpression`` that means it; JSON has it as that.
public indirect enum ExchangeCondition: Hashable, Sendable {
    /// To this host or one below it, in any case: `example.com` lets `api.example.com` through.
    case host(String)
    /// Of this path or one below it: `/orders`, or `orders`, lets `/orders/17` through, and not `/orders-of-today`.
    case path(String)
    /// Any of these methods, in any case.
    case method(Set<String>)
    /// Its status is one from the first to the last.
    case status(ClosedRange<Int>)
    /// It ended, or not, in any of these ways.
    case state(Set<ExchangeRecord.State>)
    /// It ended with such an error, written as that of a ``TransactionCondition/error(_:)``.
    case error(String)
    /// From opening to closing it took more, or less, than so many microseconds; one without a closing did neither.
    case tookMoreThan(Int), tookLessThan(Int)
    /// The response's body had more, or fewer, than so many bytes; one whose size is not known had neither.
    case receivedMoreThan(Int), receivedLessThan(Int)
    /// What the source said that recorded it; in any case.
    case app(String), appVersion(String), device(String), osVersion(String)
    /// The same of the name of its operating system, `iOS`, or that with the beginning of its version, `iOS 18`.
    case os(String)
    /// Its transaction is of this use case, by its code; an exchange outside any transaction is of none.
    case useCase(Int)
    /// In its transaction any source recorded an event that it calls so.
    case event(String)
    /// Its transaction was begun with an attribute of this name, and of this value as it is shown; nil: of any.
    case attribute(String, value: String?)
    /// Found where ``ExchangeFilter/text`` looks.
    case text(String)
    /// The condition does not hold; of what is said about its transaction: it is in one, and there it does not.
    case not(ExchangeCondition)
}

extension ExchangeCondition {
    /// What it says about the transaction; nil where it is about the exchange itself.
    package var ofTransaction: TransactionCondition? {
        switch self {
        case .useCase(let code): .useCase(code)
        case .event(let name): .event(name)
        case .attribute(let name, let value): .attribute(name, value: value)
        case .not(let condition): condition.ofTransaction.map { .not($0) }
        case .host, .path, .method, .status, .state, .error, .tookMoreThan, .tookLessThan, .receivedMoreThan, .receivedLessThan, .app,
            .appVersion, .device, .osVersion, .os, .text:
            nil
        }
    }
}

extension ExchangeCondition: Codable, CustomStringConvertible {
    /// Reads a term of a ``FilterExpression`` about exchanges that is a condition, e.g. `-host:example.com`; a use case goes by its code.
    ///
    /// - Throws: ``FilterMistake`` for anything else.
    public init(_ text: String) throws(FilterMistake) {
        var filter = try FilterExpression(text, about: .exchanges).exchangeFilter(names: nil, now: 0)
        guard let condition = filter.conditions.first, filter.conditions.count == 1 else {
            throw FilterMistake("“\(text)” is not one condition, as host:example.com is.", at: 0, count: text.unicodeScalars.count)
        }
        filter.conditions = []
        guard filter == ExchangeFilter() else {
            throw FilterMistake("“\(text)” is more than a condition.", at: 0, count: text.unicodeScalars.count)
        }
        self = condition
    }

    public var description: String { FilterExpression.Term(self).description }

    public init(from decoder: any Decoder) throws { self = try decoder.filterText(Self.init) }

    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
