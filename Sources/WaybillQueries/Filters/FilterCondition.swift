import Foundation
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

extension FilterExpression.Term {
    /// The term that means a condition.
    package init(_ condition: FilterCondition) {
        switch condition {
        case .useCase(let code): self.init(.useCase, .equal, "\(code)")
        case .event(let name): self.init(.event, .equal, name)
        case .error(let error): self.init(.error, .equal, error)
        case .attribute(let name, let value):
            let name = name.escaping(["=", "\\"])
            self.init(.attribute, .equal, value.map { "\(name)=\($0)" } ?? name)
        case .app(let value): self.init(.app, .equal, value)
        case .appVersion(let value): self.init(.version, .equal, value)
        case .device(let value): self.init(.device, .equal, value)
        case .os(let value): self.init(.os, .equal, value)
        case .osVersion(let value): self.init(.osVersion, .equal, value)
        case .ended(let value): self.init(.ended, .equal, value)
        case .sampled(let sampled): self.init(.sampled, .equal, sampled.rawValue)
        case .oneIn(let count): self.init(.oneIn, .equal, "\(count)")
        case .tookMoreThan(let duration): self.init(.took, .greater, Measure.duration.text(duration.microseconds))
        case .tookLessThan(let duration): self.init(.took, .less, Measure.duration.text(duration.microseconds))
        case .text(let text): self.init(nil, .equal, text)
        case .status(let range): self.init(.status, .equal, StatusRange.text(range))
        case .exchange(let state): self.init(.exchange, .equal, state.rawValue)
        case .state(let states): self.init(.state, .equal, states.map(\.rawValue).sorted().joined(separator: ","))
        case .host(let host): self.init(.host, .equal, host)
        case .path(let path): self.init(.path, .equal, path)
        case .method(let methods): self.init(.method, .equal, methods.sorted().joined(separator: ","))
        case .receivedMoreThan(let count): self.init(.size, .greater, Measure.size.text(count))
        case .receivedLessThan(let count): self.init(.size, .less, Measure.size.text(count))
        case .closeCode(let range): self.init(.close, .equal, StatusRange.text(range, limit: 65_535))
        case .parent(let relative): self.init(.parent, .equal, relative.text)
        case .root(let relative): self.init(.root, .equal, relative.text)
        case .child(let relative): self.init(.child, .equal, relative.text)
        case .not(let condition):
            self.init(condition)
            isNegated.toggle()
        }
    }
}

extension FilterCondition.Relative {
    /// As it is written.
    fileprivate var text: String {
        switch self {
        case .known: "known"
        case .transaction(let id): id.description
        case .supportCode(let code): code.description
        case .useCase(let code): "\(code)"
        case .outcome(let outcome): outcome.name
        }
    }
}

/// Statuses as they are written: `404`, `4xx` or `400-499`; and the close codes of WebSockets, without the second form.
package enum StatusRange {
    /// nil for anything else.
    package static func read(_ text: String, limit: Int = 999) -> ClosedRange<Int>? {
        if limit == 999, text.count == 3, text.lowercased().hasSuffix("xx"), let hundred = text.first?.wholeNumberValue,
            hundred > 0
        {
            return 100 * hundred...100 * hundred + 99
        }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(ends.count), let first = ends.first ?? nil, let last = ends.last ?? nil, last <= limit,
            first >= 0,
            first <= last
        else { return nil }
        return first...last
    }

    static func text(_ range: ClosedRange<Int>, limit: Int = 999) -> String {
        let range = range.clamped(to: 0...limit)
        return range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
    }
}

/// Numbers with a unit, as they are written.
package struct Measure: Sendable {
    /// `2s`, `1.5s`, `500ms`, in microseconds.
    package static let duration = Measure(units: [
        ("us", 1), ("ms", 1_000), ("s", 1_000_000), ("m", 60_000_000), ("h", 3_600_000_000),
    ])
    /// `500B`, `100kB`, `1.5MB`, in bytes; the units in any case.
    static let size = Measure(
        units: [("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)], options: .caseInsensitive)

    private let units: [(name: String, count: Int64)]
    private var options: String.CompareOptions = []

    /// nil for what is none, below 0, or more than can be stored.
    package func read(_ text: String) -> Int64? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let name = text.dropFirst(number.count)
        guard let unit = units.first(where: { $0.name.compare(name, options: options) == .orderedSame }) else {
            return nil
        }
        if let whole = Int64(number) {
            let (count, isTooMuch) = whole.multipliedReportingOverflow(by: unit.count)
            return isTooMuch ? nil : count
        }
        guard let value = Double(number) else { return nil }
        let product = (value * Double(unit.count)).rounded()
        return product < 0x1p53 ? Int64(product) : nil
    }

    /// In the largest unit of which it is a whole number.
    package func text(_ number: Int64) -> String {
        let unit = units.last { number != 0 && number % $0.count == 0 } ?? units[0]
        return "\(number / unit.count)\(unit.name)"
    }
}
