import Foundation
import WaybillCore

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
