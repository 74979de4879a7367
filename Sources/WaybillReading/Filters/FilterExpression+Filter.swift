package import WaybillCore

extension FilterExpression {
    /// The filter that is meant.
    ///
    /// - Parameters:
    ///   - names: What is called how in the store that is asked; nil: names are not looked up, and a use case counts where it is a code.
    ///   - now: Microseconds since 1970.
    /// - Throws: ``FilterMistake`` for the first term that cannot be meant.
    package func filter(names: [RecordedName]?, now: Int) throws(FilterMistake) -> TransactionFilter {
        var filter = TransactionFilter()
        try add(to: &filter, names: names, now: now)
        return filter
    }

    /// Adds the conditions to those that a filter has.
    package func add(to filter: inout TransactionFilter, names: [RecordedName]?, now: Int) throws(FilterMistake) {
        for reading in readings(names: names, now: now) { try reading.add(to: &filter) }
    }

    func readings(names: [RecordedName]?, now: Int) -> [TermReading] {
        terms.enumerated().map { index, term in TermReading(term: term, place: place(of: index), names: names, now: now) }
    }

    /// Whether a name has to be looked up.
    package var hasNames: Bool { terms.contains { $0.key == .useCase || $0.key == .event } }
}

/// Reads one term.
struct TermReading {
    let term: FilterExpression.Term
    let place: FilterExpression.Place
    let names: [RecordedName]?
    let now: Int

    var value: String { term.value }

    func mistake(_ message: String, suggestion: String? = nil) -> FilterMistake {
        FilterMistake(message, at: place.valueStart, count: value.unicodeScalars.count, suggestion: suggestion)
    }

    func add(to filter: inout TransactionFilter) throws(FilterMistake) {
        try checkRelation()
        switch term.key {
        case .useCase: try addUseCase(to: &filter)
        case .outcome: try addOutcomes(to: &filter)
        case .since: filter.sinceMicroseconds = max(filter.sinceMicroseconds ?? .min, try time())
        case .until: filter.untilMicroseconds = min(filter.untilMicroseconds ?? .max, try time())
        case .sort: filter.order = try order()
        default:
            let condition = try condition()
            filter.conditions.append(term.isNegated ? .not(condition) : condition)
        }
    }

    func checkRelation() throws(FilterMistake) {
        guard let key = term.key else { return }
        switch (key, term.relation) {
        case (.took, .equal): throw FilterMistake("Say took>2s or took<2s.", at: place.start, count: place.count)
        case (.size, .equal): throw FilterMistake("Say size>100kB or size<100kB.", at: place.start, count: place.count)
        case (.took, _), (.size, _), (_, .equal): break
        default:
            throw FilterMistake("Behind \(key.rawValue) stands “:”, and neither “>” nor “<”.", at: place.valueStart - 1)
        }
        guard term.isNegated, [.since, .until, .sort].contains(key) else { return }
        let hint = key == .sort ? "" : "; say \(key == .since ? "until" : "since")"
        throw FilterMistake("A “-” does not go with \(key.rawValue)\(hint).", at: place.start, count: place.count)
    }

    private func condition() throws(FilterMistake) -> TransactionCondition {
        switch term.key {
        case .event: .event(try event())
        case .error: .error(value)
        case .attribute: attribute()
        case .status: .status(try statuses())
        case .exchange: .exchange(try state())
        case .app: .app(value)
        case .version: .appVersion(value)
        case .device: .device(value)
        case .os: .os(value)
        case .osVersion: .osVersion(value)
        case .took: term.relation == .greater ? .tookMoreThan(try duration()) : .tookLessThan(try duration())
        case .useCase, .outcome, .since, .until, .sort, .host, .path, .method, .state, .size, nil: .text(value)
        }
    }
}

extension TermReading {
    /// A second one is one more condition, which nothing passes unless it is the same.
    private func addUseCase(to filter: inout TransactionFilter) throws(FilterMistake) {
        guard let code = try useCase() else { return }
        if term.isNegated {
            filter.conditions.append(.not(.useCase(code)))
        } else if filter.useCase == nil {
            filter.useCase = code
        } else {
            filter.conditions.append(.useCase(code))
        }
    }

    private func useCase() throws(FilterMistake) -> Int? {
        if let code = Int(value) { return code }
        guard let names else { return nil }
        let useCases = names.filter { $0.event == nil }
        let codes = Set(useCases.filter { $0.name == value }.map(\.useCase)).sorted()
        guard codes.count != 1 else { return codes[0] }
        guard codes.isEmpty else {
            let list = codes.map(String.init).joined(separator: ", ")
            throw mistake("The use cases \(list) are all called “\(value)”; give one of the codes.")
        }
        let known = useCases.map(\.name)
        throw mistake(
            "There is no use case “\(value)” here; \(hint(known, otherwise: "no names are known; give a code."))",
            suggestion: nearest(known))
    }

    private func event() throws(FilterMistake) -> String {
        guard let names, TransactionCondition.code(ofUnnamed: value) == nil else { return value }
        let events = names.filter { $0.event != nil }.map(\.name)
        guard !events.contains(value) else { return value }
        throw mistake(
            "No event here is called “\(value)”; "
                + hint(events, otherwise: "no event has a name; “event 7” stands for the one with the code 7."),
            suggestion: nearest(events))
    }

    private func nearest(_ known: [String]) -> String? { value.nearest(among: Set(known).sorted()) }

    private func hint(_ known: [String], otherwise: String) -> String {
        if let nearest = nearest(known) { return "did you mean “\(nearest)”?" }
        let known = Set(known).sorted()
        guard !known.isEmpty else { return otherwise }
        return "known are \(known.prefix(12).joined(separator: ", "))\(known.count > 12 ? " and others" : "")."
    }

    private func addOutcomes(to filter: inout TransactionFilter) throws(FilterMistake) {
        var outcomes: Set<TransactionOutcome> = []
        var offset = place.valueStart
        for word in value.split(separator: ",", omittingEmptySubsequences: false) {
            guard let outcome = TransactionOutcome(name: word) else {
                let words = TransactionOutcome.allCases.map(\.name)
                let nearest = String(word).nearest(among: words)
                let hint = nearest.map { "did you mean “\($0)”?" } ?? "they are \(words.joined(separator: ", "))."
                throw FilterMistake("“\(word)” is no outcome; \(hint)", at: offset, count: word.count, suggestion: nearest)
            }
            outcomes.insert(outcome)
            offset += word.count + 1
        }
        if term.isNegated { outcomes = Set(TransactionOutcome.allCases).subtracting(outcomes) }
        if !filter.outcomes.isEmpty { outcomes.formIntersection(filter.outcomes) }
        // An empty set would let everything through.
        guard !outcomes.isEmpty else {
            throw mistake("With this no outcome is left. Put a comma between outcomes of which any will do: outcome:failed,canceled.")
        }
        filter.outcomes = outcomes
    }

    /// `variant=B`, in whose name `\=` and `\\` stand for themselves.
    private func attribute() -> TransactionCondition {
        var name = String.UnicodeScalarView()
        var rest = value.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "=" { return .attribute(String(name), value: String(rest)) }
            name.append(scalar == "\\" && (rest.first == "=" || rest.first == "\\") ? rest.removeFirst() : scalar)
        }
        return .attribute(String(name), value: nil)
    }

    func statuses() throws(FilterMistake) -> ClosedRange<Int> {
        guard let range = StatusRange.read(value) else { throw mistake("“\(value)” is no status: give 404, 4xx or 400-499.") }
        return range
    }

    private func state() throws(FilterMistake) -> ExchangeRecord.State { try state(value, at: place.valueStart) }

    func state(_ word: String, at offset: Int) throws(FilterMistake) -> ExchangeRecord.State {
        if let state = ExchangeRecord.State(rawValue: word) { return state }
        let words = ExchangeRecord.State.allCases.map(\.rawValue)
        let nearest = word.nearest(among: words)
        let hint = nearest.map { "did you mean “\($0)”?" } ?? "they are \(words.joined(separator: ", "))."
        throw FilterMistake(
            "“\(word)” is no state of an exchange; \(hint)", at: offset, count: word.unicodeScalars.count, suggestion: nearest)
    }

    func duration() throws(FilterMistake) -> Int {
        guard let microseconds = DurationText.microseconds(value) else {
            throw mistake("“\(value)” is no duration: give 2s, 1.5s, 500ms, 80us, 3m or 1h.")
        }
        return microseconds
    }

    func time() throws(FilterMistake) -> Int {
        guard let time = TimeExpression.microseconds(value, now: now) else {
            throw mistake("“\(value)” is no time: give \(TimeExpression.forms).")
        }
        return time
    }

    private func order() throws(FilterMistake) -> TransactionFilter.Order {
        guard let order = TransactionFilter.Order(rawValue: value) else {
            let words = TransactionFilter.Order.allCases.map(\.rawValue).joined(separator: ", ")
            throw mistake("“\(value)” is no order. They are: \(words).")
        }
        return order
    }
}
