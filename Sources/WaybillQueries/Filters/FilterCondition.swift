public import Foundation
public import WaybillCore

/// A condition of a ``TransactionFilter`` or an ``ExchangeFilter``, equivalent to a term of a ``FilterExpression``.
public indirect enum FilterCondition: Hashable, Sendable {
    /// The use case, by its code. An exchange has the use case of its transaction.
    case useCase(Int)
    /// One of these outcomes; an empty set matches any. An exchange has the outcome of its transaction.
    case outcome(Set<TransactionOutcome>)
    /// A begin or opening at or after this time, in microseconds since 1970; see ``since(_:)``.
    case sinceMicroseconds(Int64)
    /// A begin or opening before this time, in microseconds since 1970; see ``until(_:)``.
    case untilMicroseconds(Int64)
    /// A source recorded an event of this name in the transaction. The name of an unnamed event is `event 7`.
    case event(String)
    /// The transaction, or one of its events or exchanges, has such an error. `401` matches the code, `LoginError` the
    /// name, domain or text in any case, `LoginError 401` both, and `*` any error.
    case error(String)
    /// The transaction closed with this error: the same domain, name and innermost cause; without a name, the same code.
    /// Text and other underlying errors are ignored.
    case finishError(RecordedError)
    /// An attribute of any part, event or source of the transaction. A `nil` value matches any value.
    case attribute(String, value: String?)
    /// A property of the source that began the transaction or recorded the exchange, ignoring case.
    case app(String), appVersion(String), device(String), osVersion(String)
    /// The operating system of that source, optionally with the beginning of its version: `iOS`, `iOS 18`.
    case os(String)
    /// The source that began the transaction or recorded the exchange, or the installation of that source.
    case source(GUID), installation(GUID)
    /// The end of the process that interrupted it: `signal`, `SIGSEGV`, `exit`, `reboot`, `system` or `unknown`.
    case ended(String)
    /// The sampling decision for the leading part of the transaction.
    case sampled(Sampled)
    /// One in this many transactions (1 to 1,000,000), always the same ones. Answers count each this many times.
    case oneIn(Int)
    /// The time from opening to closing, in whole microseconds. Open transactions and exchanges match neither.
    case tookMoreThan(Duration), tookLessThan(Duration)
    /// Text, found in any case. In a transaction: ID, support code, names, attributes, errors, hosts and paths. In an
    /// exchange: method, URL, header fields, error, kept bodies, and its transaction's ID or support code.
    case text(String)
    /// The exchange, or an exchange of the transaction, has a status in this range.
    case status(ClosedRange<Int>)
    /// An exchange of the transaction is in this state.
    case exchange(ExchangeRecord.State)
    /// The exchange is in one of these states; an empty set matches any.
    case state(Set<ExchangeRecord.State>)
    /// The exchange went to this host or a subdomain, ignoring case: `example.com` includes `api.example.com`.
    case host(String)
    /// The exchange has this path or one below it: `/orders` includes `/orders/17`, but not `/orders-of-today`.
    case path(String)
    /// The exchange has one of these methods, ignoring case.
    case method(Set<String>)
    /// The size of the response body in bytes. A body of unknown size matches neither.
    case receivedMoreThan(Int64), receivedLessThan(Int64)
    /// The exchange is a WebSocket that was closed with a code in this range (RFC 6455, section 7.4).
    case closeCode(ClosedRange<Int>)
    /// The parent of the transaction.
    case parent(Relative)
    /// The topmost known ancestor of the transaction, or itself without a known parent. A cycle of parents has no root.
    case root(Relative)
    /// One of the children of the transaction.
    case child(Relative)
    /// The condition does not hold. Exchanges outside transactions fail even negated conditions on transactions.
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
        /// Any transaction that the store knows.
        case known
        /// The transaction with this ID, even if the store does not know it.
        case transaction(GUID)
        /// Any transaction with this support code.
        case supportCode(SupportCode)
        /// Any transaction of the use case with this code.
        case useCase(Int)
        /// Any transaction with this outcome.
        case outcome(TransactionOutcome)
    }
}

extension FilterCondition {
    /// Matches transactions that begin, and exchanges that open, at or after this time.
    public static func since(_ time: Date) -> FilterCondition { .sinceMicroseconds(time.microseconds) }

    /// Matches transactions that begin, and exchanges that open, before this time.
    public static func until(_ time: Date) -> FilterCondition { .untilMicroseconds(time.microseconds) }

    package var isOfTransaction: Bool {
        [.useCase, .outcome, .event, .attribute, .sampled, .oneIn, .parent, .root, .child].contains(term.key)
    }

    var looksAtFamilies: Bool { [.parent, .root, .child].contains(term.key) }

    package static let sampleRange = 1...1_000_000

    package static let ends = ["signal", "exit", "reboot", "system", "unknown"]

    package static func code(ofUnnamed name: String) -> Int? { name.hasPrefix("event ") ? Int(name.dropFirst(6)) : nil }
}

extension FilterCondition: Encodable, CustomStringConvertible {
    /// Reads one term of a ``FilterExpression`` as a condition, such as `-event:paid`. Use cases need their code.
    ///
    /// - Throws: ``FilterMistake`` for anything else, such as an order, or a time relative to now like `24h`.
    public init(_ text: String, about subject: FilterExpression.Subject = .transactions) throws(FilterMistake) {
        let expression = try FilterExpression(text, about: subject)
        let filter: TransactionFilter = try expression.filter(names: nil, now: 0)
        guard let term = expression.terms.first, expression.terms.count == 1, let condition = filter.conditions.first
        else {
            let example =
                switch subject {
                case .transactions: "event:paid"
                case .exchanges: "host:example.com"
                }
            throw FilterMistake(
                "“\(text)” is not one condition, as \(example) is.", at: 0, count: text.unicodeScalars.count)
        }
        guard !condition.isIndexed || !TimeExpression.isRelative(term.value) else {
            throw FilterMistake(
                "“\(text)” depends on the time of day. Give a date.", at: 0, count: text.unicodeScalars.count)
        }
        self = condition
    }

    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }

    public var description: String { term.description }
}

extension FilterCondition {
    package var term: FilterExpression.Term {
        switch self {
        case .useCase(let code): .init(.useCase, "\(code)")
        case .outcome(let outcomes):
            .init(
                .outcome, TransactionOutcome.allCases.filter { outcomes.isEmpty || outcomes.contains($0) }.map(\.name))
        // Texts can't express times before 1970.
        case .sinceMicroseconds(let time): .init(.since, "\(max(0, time))")
        case .untilMicroseconds(let time): .init(.until, "\(max(0, time))")
        case .event(let name): .init(.event, name)
        case .error(let error): .init(.error, error)
        case .finishError(let error): .init(.finishError, error.identityText)
        case .attribute(let name, let value):
            .init(.attribute, name.escaping(["=", "\\"]) + (value.map { "=\($0)" } ?? ""))
        case .app(let value): .init(.app, value)
        case .appVersion(let value): .init(.version, value)
        case .device(let value): .init(.device, value)
        case .os(let value): .init(.os, value)
        case .osVersion(let value): .init(.osVersion, value)
        case .source(let id): .init(.source, id.description)
        case .installation(let id): .init(.installation, id.description)
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

/// The text of status codes, `404`, `4xx` or `400-499`, and of WebSocket close codes, `1006` or `1002-1015`.
package enum StatusRange {
    package static func read(_ text: String, limit: Int = 999) -> ClosedRange<Int>? {
        if limit == 999, text.count == 3, text.lowercased().hasSuffix("xx"), let hundred = text.first?.wholeNumberValue,
            (1...5).contains(hundred)
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

package struct Measure: Sendable {
    package static let duration = Measure(units: [
        ("us", 1), ("ms", 1_000), ("s", 1_000_000), ("m", 60_000_000), ("h", 3_600_000_000),
    ])
    static let size = Measure(
        units: [("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)], options: .caseInsensitive)

    private let units: [(name: String, count: Int64)]
    private var options: String.CompareOptions = []

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

    package func text(_ number: Int64) -> String {
        let unit = units.last { number != 0 && number % $0.count == 0 } ?? units[0]
        return "\(number / unit.count)\(unit.name)"
    }
}
