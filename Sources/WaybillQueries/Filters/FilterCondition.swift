public import Foundation
public import WaybillCore

/// A condition of a ``TransactionFilter`` or an ``ExchangeFilter``.
///
/// Its description is the term of a ``FilterExpression`` that means the same. ``FilterExpression`` lists which terms
/// apply to transactions and which to exchanges.
public indirect enum FilterCondition: Hashable, Sendable {
    /// The use case, by its code. An exchange has the use case of its transaction.
    case useCase(Int)
    /// One of these outcomes; an empty set means any. An exchange has the outcome of its transaction.
    case outcome(Set<TransactionOutcome>)
    /// Begun or opened at or after this time, in microseconds since 1970; see ``since(_:)``.
    case sinceMicroseconds(Int64)
    /// Begun or opened before this time, in microseconds since 1970; see ``until(_:)``.
    case untilMicroseconds(Int64)
    /// A source recorded an event of this name in the transaction. An event without a name is called `event 7`.
    case event(String)
    /// It ended with such an error, or an event or an exchange of the transaction did. `401` matches the code,
    /// `LoginError` is found in the name, domain or text in any case, `LoginError 401` means both, and `*` any error.
    case error(String)
    /// The transaction has, or had, an attribute of this name and value; `nil` matches any value. The attributes of
    /// parts, events and sources all count.
    case attribute(String, value: String?)
    /// The source that began the transaction or recorded the exchange, ignoring case.
    case app(String), appVersion(String), device(String), osVersion(String)
    /// The operating system of that source, `iOS`, optionally with the beginning of its version, `iOS 18`.
    case os(String)
    /// It was interrupted because its process ended like this: `signal`, `SIGSEGV`, `exit`, `reboot`, `system` or
    /// `unknown`.
    case ended(String)
    /// The sampling decision for the leading part of the transaction.
    case sampled(Sampled)
    /// One in this many transactions, always the same, by their IDs; from 1 to 1,000,000. An answer counts each of them
    /// this many times, and gives the margin of error.
    case oneIn(Int)
    /// The time from opening to closing, in whole microseconds. An open transaction or exchange passes neither.
    case tookMoreThan(Duration), tookLessThan(Duration)
    /// Found in any case: of a transaction in the ID, support code, names, attributes or errors, or in the host or path
    /// of an exchange; of an exchange in the method, host, path, query, header fields, error or kept bodies, or in the
    /// ID or support code of its transaction.
    case text(String)
    /// The exchange, or one of the transaction's, has a status in this range.
    case status(ClosedRange<Int>)
    /// One of the transaction's exchanges is in this state.
    case exchange(ExchangeRecord.State)
    /// The exchange is in one of these states; an empty set means any.
    case state(Set<ExchangeRecord.State>)
    /// The exchange went to this host or one below it, ignoring case: `example.com` includes `api.example.com`.
    case host(String)
    /// The exchange has this path or one below it: `/orders`, or `orders`, includes `/orders/17`, but not
    /// `/orders-of-today`.
    case path(String)
    /// The exchange has one of these methods, ignoring case.
    case method(Set<String>)
    /// The size of the response's body, in bytes. A body of unknown size passes neither.
    case receivedMoreThan(Int64), receivedLessThan(Int64)
    /// The exchange is a WebSocket that was closed with a code in this range (RFC 6455, section 7.4).
    case closeCode(ClosedRange<Int>)
    /// The parent of the transaction.
    case parent(Relative)
    /// The topmost known ancestor of the transaction, or the transaction itself if it has no known parent. A
    /// transaction in a circle of parents has no root.
    case root(Relative)
    /// One of the children of the transaction.
    case child(Relative)
    /// The condition does not hold. An exchange outside any transaction fails every condition on transactions, even a
    /// negated one.
    case not(FilterCondition)

    /// A sampling decision.
    public enum Sampled: String, Hashable, Sendable, CaseIterable {
        /// The transaction is delivered, however it ends.
        case chosen
        /// The transaction is delivered only because of how it ended.
        case unchosen
        /// The use case has no sampling rate, so every transaction is delivered.
        case none
    }

    /// A transaction above or below another one.
    public enum Relative: Hashable, Sendable {
        /// Any that the store knows.
        case known
        /// The transaction with this ID, known or not.
        case transaction(GUID)
        /// Any transaction with this support code.
        case supportCode(SupportCode)
        /// Of this use case, by its code.
        case useCase(Int)
        /// With this outcome.
        case outcome(TransactionOutcome)
    }
}

extension FilterCondition {
    /// Begun or opened at or after this time.
    public static func since(_ time: Date) -> FilterCondition { .sinceMicroseconds(time.microseconds) }

    /// Begun or opened before this time.
    public static func until(_ time: Date) -> FilterCondition { .untilMicroseconds(time.microseconds) }

    /// Whether it is a condition on a transaction, even in a filter of exchanges.
    package var isOfTransaction: Bool {
        [.useCase, .outcome, .event, .attribute, .sampled, .oneIn, .parent, .root, .child].contains(term.key)
    }

    /// Whether it depends on parents or children.
    var looksAtFamilies: Bool { [.parent, .root, .child].contains(term.key) }

    /// The valid values of ``oneIn(_:)``.
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
    ///   - text: One term.
    ///   - subject: The subject of the filter. Default: transactions.
    /// - Throws: ``FilterMistake`` for anything else, such as an order, or a time like `24h` that depends on now.
    public init(_ text: String, about subject: FilterExpression.Subject = .transactions) throws(FilterMistake) {
        let terms = try FilterExpression(text, about: subject).terms
        guard let term = terms.first, terms.count == 1, let condition = try term.condition(names: nil, now: 0) else {
            let example =
                switch subject {
                case .transactions: "event:paid"
                case .exchanges: "host:example.com"
                }
            throw FilterMistake(
                "“\(text)” is not one condition, as \(example) is.", at: 0, count: text.unicodeScalars.count)
        }
        guard !condition.isIndexed || TimeExpression.length(term.value) == nil else {
            throw FilterMistake(
                "“\(text)” depends on the time of day. Give a date.", at: 0, count: text.unicodeScalars.count)
        }
        self = condition
    }

    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }

    public var description: String { term.description }
}

extension FilterCondition {
    /// The equivalent term.
    var term: FilterExpression.Term {
        switch self {
        case .useCase(let code): .init(.useCase, "\(code)")
        case .outcome(let outcomes):
            .init(
                .outcome, TransactionOutcome.allCases.filter { outcomes.isEmpty || outcomes.contains($0) }.map(\.name))
        // Texts have no times before 1970.
        case .sinceMicroseconds(let time): .init(.since, "\(max(0, time))")
        case .untilMicroseconds(let time): .init(.until, "\(max(0, time))")
        case .event(let name): .init(.event, name)
        case .error(let error): .init(.error, error)
        case .attribute(let name, let value):
            .init(.attribute, name.escaping(["=", "\\"]) + (value.map { "=\($0)" } ?? ""))
        case .app(let value): .init(.app, value)
        case .appVersion(let value): .init(.version, value)
        case .device(let value): .init(.device, value)
        case .os(let value): .init(.os, value)
        case .osVersion(let value): .init(.osVersion, value)
        case .ended(let value): .init(.ended, value)
        case .sampled(let sampled): .init(.sampled, sampled.rawValue)
        case .oneIn(let count): .init(.oneIn, "\(count)")
        case .tookMoreThan(let duration): .init(.took, Measure.duration.text(duration.microseconds), .greater)
        case .tookLessThan(let duration): .init(.took, Measure.duration.text(duration.microseconds), .less)
        case .text(let text): .init(nil, text)
        case .status(let range): .init(.status, StatusRange.text(range))
        case .exchange(let state): .init(.exchange, state.rawValue)
        case .state(let states):
            .init(
                .state,
                ExchangeRecord.State.allCases.filter { states.isEmpty || states.contains($0) }.map(\.rawValue).sorted())
        case .host(let host): .init(.host, host)
        case .path(let path): .init(.path, path)
        case .method(let methods): .init(.method, methods.sorted())
        case .receivedMoreThan(let count): .init(.size, Measure.size.text(count), .greater)
        case .receivedLessThan(let count): .init(.size, Measure.size.text(count), .less)
        case .closeCode(let range): .init(.close, StatusRange.text(range, limit: 65_535))
        case .parent(let relative): .init(.parent, relative.text)
        case .root(let relative): .init(.root, relative.text)
        case .child(let relative): .init(.child, relative.text)
        case .not(.sinceMicroseconds(let time)): Self.untilMicroseconds(time).term
        case .not(.untilMicroseconds(let time)): Self.sinceMicroseconds(time).term
        case .not(let condition): condition.term.negated
        }
    }
}

extension FilterCondition.Relative {
    /// The value of a term.
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

/// The text of status codes, `404`, `4xx` or `400-499`, and of the close codes of WebSockets, without the second form.
package enum StatusRange {
    /// Returns `nil` for anything else.
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

/// The text of numbers with a unit.
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

    /// Returns `nil` if the text is malformed, negative, or too large to be stored.
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

    /// Returns a whole number with the largest possible unit.
    package func text(_ number: Int64) -> String {
        let unit = units.last { number != 0 && number % $0.count == 0 } ?? units[0]
        return "\(number / unit.count)\(unit.name)"
    }
}
