package import WaybillCore

extension FilterExpression {
    /// The filter of network exchanges that is meant.
    ///
    /// - Parameters:
    ///   - names: What is called how in the store that is asked; nil: names are not looked up, and a use case counts where it is a code.
    ///   - now: Microseconds since 1970.
    /// - Throws: ``FilterMistake`` for the first term that cannot be meant.
    package func exchangeFilter(names: [RecordedName]?, now: Int) throws(FilterMistake) -> ExchangeFilter {
        var filter = ExchangeFilter()
        try add(to: &filter, names: names, now: now)
        return filter
    }

    /// Adds the conditions to those that a filter has.
    package func add(to filter: inout ExchangeFilter, names: [RecordedName]?, now: Int) throws(FilterMistake) {
        for reading in readings(names: names, now: now) { try reading.add(to: &filter) }
    }
}

extension TermReading {
    func add(to filter: inout ExchangeFilter) throws(FilterMistake) {
        switch term.key {
        case .useCase, .outcome, .event, .attribute: try addToTransactions(of: &filter)
        case .since:
            try checkRelation()
            filter.sinceMicroseconds = max(filter.sinceMicroseconds ?? .min, try time())
        case .until:
            try checkRelation()
            filter.untilMicroseconds = min(filter.untilMicroseconds ?? .max, try time())
        default:
            try checkRelation()
            let condition = try exchangeCondition()
            filter.conditions.append(term.isNegated ? .not(condition) : condition)
        }
    }

    /// What is said of transactions is read as it is where they are listed.
    private func addToTransactions(of filter: inout ExchangeFilter) throws(FilterMistake) {
        var transactions = TransactionFilter()
        transactions.outcomes = filter.outcomes
        try add(to: &transactions)
        filter.outcomes = transactions.outcomes
        if let useCase = transactions.useCase { filter.conditions.append(.useCase(useCase)) }
        filter.conditions += transactions.conditions.compactMap(ExchangeCondition.init(ofTransaction:))
    }

    private func exchangeCondition() throws(FilterMistake) -> ExchangeCondition {
        switch term.key {
        case .host: .host(value)
        case .path: .path(value)
        case .method: .method(try methods())
        case .status: .status(try statuses())
        case .state: .state(try states())
        case .error: .error(value)
        case .took: term.relation == .greater ? .tookMoreThan(try duration()) : .tookLessThan(try duration())
        case .size: term.relation == .greater ? .receivedMoreThan(try byteCount()) : .receivedLessThan(try byteCount())
        case .app: .app(value)
        case .version: .appVersion(value)
        case .device: .device(value)
        case .os: .os(value)
        case .osVersion: .osVersion(value)
        case .useCase, .outcome, .event, .attribute, .exchange, .since, .until, .sort, nil: .text(value)
        }
    }

    private func methods() throws(FilterMistake) -> Set<String> {
        let methods = Set(value.split(separator: ",").map(String.init))
        guard !methods.isEmpty else { throw mistake("“\(value)” is no method: give GET, or several with commas between.") }
        return methods
    }

    private func states() throws(FilterMistake) -> Set<ExchangeRecord.State> {
        var states: Set<ExchangeRecord.State> = []
        var offset = place.valueStart
        for word in value.split(separator: ",", omittingEmptySubsequences: false) {
            states.insert(try state(String(word), at: offset))
            offset += word.unicodeScalars.count + 1
        }
        return states
    }

    private func byteCount() throws(FilterMistake) -> Int {
        guard let count = SizeText.byteCount(value) else { throw mistake("“\(value)” is no size: give 500B, 100kB, 1.5MB or 2GB.") }
        return count
    }
}

extension ExchangeCondition {
    /// nil for what exchanges are not asked about their transactions.
    fileprivate init?(ofTransaction condition: TransactionCondition) {
        switch condition {
        case .useCase(let code): self = .useCase(code)
        case .event(let name): self = .event(name)
        case .attribute(let name, let value): self = .attribute(name, value: value)
        case .not(let condition):
            guard let condition = ExchangeCondition(ofTransaction: condition) else { return nil }
            self = .not(condition)
        default: return nil
        }
    }
}

extension FilterExpression.Term {
    /// The term that means a condition.
    package init(_ condition: ExchangeCondition) {
        switch condition {
        case .host(let host): self.init(.host, .equal, host)
        case .path(let path): self.init(.path, .equal, path)
        case .method(let methods): self.init(.method, .equal, methods.sorted().joined(separator: ","))
        case .status(let range): self.init(TransactionCondition.status(range))
        case .state(let states): self.init(.state, .equal, states.map(\.rawValue).sorted().joined(separator: ","))
        case .error(let error): self.init(TransactionCondition.error(error))
        case .tookMoreThan(let microseconds): self.init(TransactionCondition.tookMoreThan(microseconds))
        case .tookLessThan(let microseconds): self.init(TransactionCondition.tookLessThan(microseconds))
        case .receivedMoreThan(let count): self.init(.size, .greater, SizeText.text(count))
        case .receivedLessThan(let count): self.init(.size, .less, SizeText.text(count))
        case .app(let value): self.init(TransactionCondition.app(value))
        case .appVersion(let value): self.init(TransactionCondition.appVersion(value))
        case .device(let value): self.init(TransactionCondition.device(value))
        case .os(let value): self.init(TransactionCondition.os(value))
        case .osVersion(let value): self.init(TransactionCondition.osVersion(value))
        case .useCase(let code): self.init(TransactionCondition.useCase(code))
        case .event(let name): self.init(TransactionCondition.event(name))
        case .attribute(let name, let value): self.init(TransactionCondition.attribute(name, value: value))
        case .text(let text): self.init(TransactionCondition.text(text))
        case .not(let condition):
            self.init(condition)
            isNegated.toggle()
        }
    }
}

/// Sizes as they are written: `500B`, `100kB`, `1.5MB`; a thousand of one are one of the next.
package enum SizeText {
    private static let units: [(name: String, byteCount: Int)] = [("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)]

    /// nil for what is none, or below 0; the units in any case.
    package static func byteCount(_ text: String) -> Int? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let name = text.dropFirst(number.count).lowercased()
        guard let unit = units.first(where: { $0.name.lowercased() == name }) else { return nil }
        if let whole = Int(number) {
            let (count, isTooMuch) = whole.multipliedReportingOverflow(by: unit.byteCount)
            return isTooMuch ? nil : count
        }
        guard let value = Double(number) else { return nil }
        let product = (value * Double(unit.byteCount)).rounded()
        return product < 0x1p53 ? Int(product) : nil
    }

    /// In the largest unit of which it is a whole number.
    package static func text(_ byteCount: Int) -> String {
        let unit = units.last { byteCount != 0 && byteCount % $0.byteCount == 0 } ?? units[0]
        return "\(byteCount / unit.byteCount)\(unit.name)"
    }
}
