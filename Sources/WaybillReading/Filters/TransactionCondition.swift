/// One condition on transactions, of those that a filter may have several of.
///
/// Its text is the term of a ``FilterExpression`` that means it; JSON has it as that.
public indirect enum TransactionCondition: Hashable, Sendable {
    /// Of this use case, by its code.
    case useCase(Int)
    /// Any source recorded an event that it calls so; one that has no name is `event 7`.
    case event(String)
    /// The outcome of a part, an event or an exchange has such an error: `401` is its code, `LoginError` is found in its domain or text in any case,
    /// `LoginError 401` is both, and `*` is any error.
    case error(String)
    /// It was begun with an attribute of this name, and of this value as it is shown; nil: of any.
    case attribute(String, value: String?)
    /// One of its exchanges has a status from the first to the last.
    case status(ClosedRange<Int>)
    /// One of its exchanges ended, or not, like this.
    case exchange(ExchangeRecord.State)
    /// What the source said that began it; in any case.
    case app(String), appVersion(String), device(String), osVersion(String)
    /// The same of the name of its operating system, `iOS`, or that with the beginning of its version, `iOS 18`.
    case os(String)
    /// From opening to closing it took more than so many microseconds; one without a closing did not.
    case tookMoreThan(Int)
    /// From opening to closing it took less than so many microseconds; one without a closing did not.
    case tookLessThan(Int)
    /// Found where ``TransactionFilter/text`` looks.
    case text(String)
    /// The condition does not hold.
    case not(TransactionCondition)
}

extension TransactionCondition: Codable, CustomStringConvertible {
    /// Reads a term of a ``FilterExpression`` that is a condition, e.g. `-event:paid`; a use case goes by its code.
    ///
    /// - Throws: ``FilterMistake`` for anything else.
    public init(_ text: String) throws(FilterMistake) {
        var filter = try FilterExpression(text).filter(names: nil, now: 0)
        if let code = filter.useCase { filter.conditions.append(.useCase(code)) }
        filter.useCase = nil
        guard let condition = filter.conditions.first, filter.conditions.count == 1 else {
            throw FilterMistake("“\(text)” is not one condition, as event:paid is.", at: 0, count: text.unicodeScalars.count)
        }
        filter.conditions = []
        guard filter == TransactionFilter() else {
            throw FilterMistake("“\(text)” is more than a condition.", at: 0, count: text.unicodeScalars.count)
        }
        self = condition
    }

    public var description: String { FilterExpression.Term(self).description }

    public init(from decoder: any Decoder) throws { self = try decoder.filterText(Self.init) }

    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
