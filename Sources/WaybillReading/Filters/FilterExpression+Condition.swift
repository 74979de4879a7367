extension FilterExpression.Term {
    /// The term that means a condition.
    package init(_ condition: TransactionCondition) {
        switch condition {
        case .useCase(let code): self.init(.useCase, .equal, "\(code)")
        case .event(let name): self.init(.event, .equal, name)
        case .error(let error): self.init(.error, .equal, error)
        case .attribute(let name, let value):
            let name = name.escaping(["=", "\\"])
            self.init(.attribute, .equal, value.map { "\(name)=\($0)" } ?? name)
        case .status(let range): self.init(.status, .equal, StatusRange.text(range))
        case .exchange(let state): self.init(.exchange, .equal, state.rawValue)
        case .app(let value): self.init(.app, .equal, value)
        case .appVersion(let value): self.init(.version, .equal, value)
        case .device(let value): self.init(.device, .equal, value)
        case .os(let value): self.init(.os, .equal, value)
        case .osVersion(let value): self.init(.osVersion, .equal, value)
        case .tookMoreThan(let microseconds): self.init(.took, .greater, DurationText.text(microseconds))
        case .tookLessThan(let microseconds): self.init(.took, .less, DurationText.text(microseconds))
        case .text(let text): self.init(nil, .equal, text)
        case .not(let condition):
            self.init(condition)
            isNegated.toggle()
        }
    }
}

extension TransactionCondition {
    /// The code in `event 7`.
    package static func code(ofUnnamed name: String) -> Int? { name.hasPrefix("event ") ? Int(name.dropFirst(6)) : nil }
}

/// Statuses as they are written: `404`, `4xx` or `400-499`.
package enum StatusRange {
    /// nil for anything else.
    package static func read(_ text: String) -> ClosedRange<Int>? {
        if text.count == 3, text.lowercased().hasSuffix("xx"), let hundred = text.first?.wholeNumberValue, hundred > 0 {
            return 100 * hundred...100 * hundred + 99
        }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(ends.count), let first = ends.first ?? nil, let last = ends.last ?? nil, last <= 999, first >= 0,
            first <= last
        else { return nil }
        return first...last
    }

    static func text(_ range: ClosedRange<Int>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
    }
}

/// Durations as they are written: `2s`, `1.5s`, `500ms`.
package enum DurationText {
    private static let units: [(name: String, microseconds: Int)] = [
        ("us", 1), ("ms", 1_000), ("s", 1_000_000), ("m", 60_000_000), ("h", 3_600_000_000),
    ]

    /// nil for what is none, below 0, or longer than can be stored.
    package static func microseconds(_ text: String) -> Int? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let unit = units.first(where: { $0.name == text.dropFirst(number.count) }) else { return nil }
        let product: Double
        if let whole = Int(number) {
            let (microseconds, isTooLong) = whole.multipliedReportingOverflow(by: unit.microseconds)
            return isTooLong ? nil : microseconds
        } else if let value = Double(number) {
            product = (value * Double(unit.microseconds)).rounded()
        } else {
            return nil
        }
        return product < 0x1p53 ? Int(product) : nil
    }

    /// In the longest unit of which it is a whole number.
    package static func text(_ microseconds: Int) -> String {
        let unit = units.last { microseconds != 0 && microseconds % $0.microseconds == 0 } ?? units[0]
        return "\(microseconds / unit.microseconds)\(unit.name)"
    }
}
