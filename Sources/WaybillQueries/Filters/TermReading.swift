import Foundation
package import WaybillCore

extension FilterExpression {
    /// The filter that is meant.
    ///
    /// - Parameters:
    ///   - names: What is called how in the store that is asked; nil: names are not looked up, and a use case counts
    ///     where it is a code.
    ///   - now: Microseconds since 1970.
    /// - Throws: ``FilterMistake`` for the first term that cannot be meant.
    package func filter<Filter: ListFilter>(names: [RecordedName]?, now: Int64) throws(FilterMistake) -> Filter {
        var filter = Filter()
        try add(to: &filter, names: names, now: now)
        return filter
    }

    /// Adds the conditions to those that a filter has.
    package func add(to filter: inout some ListFilter, names: [RecordedName]?, now: Int64) throws(FilterMistake) {
        for (index, term) in terms.enumerated() {
            try TermReading(term: term, place: place(of: index), names: names, now: now).add(to: &filter)
        }
    }

    /// The names that have to be looked up.
    package var names: [String] {
        let named: [Key] = [.useCase, .event, .parent, .root, .child]
        return terms.filter { $0.key.map(named.contains) ?? false }.map(\.value)
    }
}

/// Reads one term.
private struct TermReading {
    let term: FilterExpression.Term
    let place: FilterExpression.Place
    let names: [RecordedName]?
    let now: Int64

    private var value: String { term.value }

    private func mistake(_ message: String, suggestion: String? = nil) -> FilterMistake {
        FilterMistake(message, at: place.valueStart, count: value.unicodeScalars.count, suggestion: suggestion)
    }

    fileprivate func add(to filter: inout some ListFilter) throws(FilterMistake) {
        try checkRelation()
        switch term.key {
        case .useCase:
            guard let code = try useCase() else { return }
            // A second one is one more condition, which nothing passes unless it is the same.
            if !term.isNegated, filter.useCase == nil {
                filter.useCase = code
            } else {
                add(.useCase(code), to: &filter)
            }
        case .outcome: filter.outcomes = try outcomes(among: filter.outcomes)
        case .since: filter.sinceMicroseconds = max(filter.sinceMicroseconds ?? .min, try time())
        case .until: filter.untilMicroseconds = min(filter.untilMicroseconds ?? .max, try time())
        case .beginner: filter.admit(try beginner())
        case .sort: filter.sort(try order())
        case .event: add(.event(try event()), to: &filter)
        case .error: add(.error(value), to: &filter)
        case .attribute: add(attribute(), to: &filter)
        case .parent: if let relative = try relative() { add(.parent(relative), to: &filter) }
        case .root: if let relative = try relative() { add(.root(relative), to: &filter) }
        case .child: if let relative = try relative() { add(.child(relative), to: &filter) }
        case .app: add(.app(value), to: &filter)
        case .version: add(.appVersion(value), to: &filter)
        case .device: add(.device(value), to: &filter)
        case .os: add(.os(value), to: &filter)
        case .osVersion: add(.osVersion(value), to: &filter)
        case .ended: add(.ended(try end()), to: &filter)
        case .sampled: add(.sampled(try sampled()), to: &filter)
        case .oneIn: add(.oneIn(try sample()), to: &filter)
        case .took:
            add(term.relation == .greater ? .tookMoreThan(try duration()) : .tookLessThan(try duration()), to: &filter)
        case nil: add(.text(value), to: &filter)
        case .status: add(.status(try statuses()), to: &filter)
        case .exchange: add(.exchange(try state(value[...], at: place.valueStart)), to: &filter)
        case .state: add(.state(try words(state)), to: &filter)
        case .host: add(.host(value), to: &filter)
        case .path: add(.path(value), to: &filter)
        case .method: add(.method(try methods()), to: &filter)
        case .close: add(.closeCode(try closeCodes()), to: &filter)
        case .size:
            add(
                term.relation == .greater ? .receivedMoreThan(try byteCount()) : .receivedLessThan(try byteCount()),
                to: &filter)
        }
    }

    private func add(_ condition: FilterCondition, to filter: inout some ListFilter) {
        filter.conditions.append(term.isNegated ? .not(condition) : condition)
    }

    private func checkRelation() throws(FilterMistake) {
        guard let key = term.key else { return }
        let isMeasured = key == .took || key == .size
        if isMeasured, term.relation == .equal {
            let form = key == .took ? "took>2s or took<2s" : "size>100kB or size<100kB"
            throw FilterMistake("Say \(form).", at: place.start, count: place.count)
        }
        guard isMeasured || term.relation == .equal else {
            throw FilterMistake("Behind \(key.rawValue) stands “:”, and neither “>” nor “<”.", at: place.valueStart - 1)
        }
        guard term.isNegated, let hint = Self.insteadOfNegation[key] else { return }
        throw FilterMistake("A “-” does not go with \(key.rawValue)\(hint).", at: place.start, count: place.count)
    }
}

extension TermReading {
    /// What to say in place of a term that cannot be turned round.
    private static let insteadOfNegation: [FilterExpression.Key: String] = [
        .since: "; say until", .until: "; say since", .beginner: "; say beginner:known, unknown or any", .sort: "",
    ]

    private func useCase() throws(FilterMistake) -> Int? {
        if let code = Int(value) { return code }
        guard let names else { return nil }
        let useCases = names.filter { $0.event == nil }
        let codes = Set(useCases.filter { $0.name == value }.map(\.useCase)).sorted()
        guard codes.count != 1 else { return codes[0] }
        guard codes.isEmpty else {
            throw mistake("The use cases \(Self.list(codes)) are all called “\(value)”; give one of the codes.")
        }
        let known = useCases.map(\.name)
        throw mistake(
            "There is no use case “\(value)” here; \(hint(known, otherwise: "no names are known; give a code."))",
            suggestion: nearest(known))
    }

    /// nil where it is a name, and names are not looked up.
    private func relative() throws(FilterMistake) -> FilterCondition.Relative? {
        if value == "known" { return .known }
        if let id = GUID(value) { return .transaction(id) }
        if let outcome = TransactionOutcome(name: value[...]) { return .outcome(outcome) }
        let isNamed = names?.contains { $0.event == nil && $0.name == value } ?? false
        if !isNamed, value.contains("-"), let code = SupportCode(value) { return .supportCode(code) }
        return try useCase().map { .useCase($0) }
    }

    private func event() throws(FilterMistake) -> String {
        guard let names, FilterCondition.code(ofUnnamed: value) == nil else { return value }
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
        return "known are \(Self.list(known))."
    }

    /// So many are told in a sentence.
    private static let toldLimit = 12

    private static func list(_ values: [some CustomStringConvertible]) -> String {
        let more = values.count > toldLimit ? " and \(values.count - toldLimit) others" : ""
        return values.prefix(toldLimit).map(\.description).joined(separator: ", ") + more
    }

    /// The words of the value, which commas part.
    private func words<Word>(_ read: (Substring, Int) throws(FilterMistake) -> Word) throws(FilterMistake) -> Set<Word>
    {
        var words: Set<Word> = []
        var offset = place.valueStart
        for word in value.split(separator: ",", omittingEmptySubsequences: false) {
            words.insert(try read(word, offset))
            offset += word.unicodeScalars.count + 1
        }
        return words
    }

    /// - Parameter known: Those that are let through already; empty: all.
    private func outcomes(among known: Set<TransactionOutcome>) throws(FilterMistake) -> Set<TransactionOutcome> {
        var outcomes = try words(outcome)
        if term.isNegated { outcomes = Set(TransactionOutcome.allCases).subtracting(outcomes) }
        if !known.isEmpty { outcomes.formIntersection(known) }
        // An empty set would let everything through.
        guard !outcomes.isEmpty else {
            throw mistake(
                "With this no outcome is left. Put a comma between outcomes of which any will do: outcome:failed,canceled."
            )
        }
        return outcomes
    }

    private func outcome(_ word: Substring, at offset: Int) throws(FilterMistake) -> TransactionOutcome {
        if let outcome = TransactionOutcome(name: word) { return outcome }
        throw unknown(word, "no outcome", among: TransactionOutcome.allCases.map(\.name), at: offset)
    }

    private func unknown(_ word: Substring, _ what: String, among words: [String], at offset: Int) -> FilterMistake {
        let nearest = String(word).nearest(among: words)
        let hint = nearest.map { "did you mean “\($0)”?" } ?? "they are \(words.joined(separator: ", "))."
        return FilterMistake(
            "“\(word)” is \(what); \(hint)", at: offset, count: word.unicodeScalars.count, suggestion: nearest)
    }

    /// `variant=B`, in whose name `\=` and `\\` stand for themselves.
    private func attribute() -> FilterCondition {
        var name = String.UnicodeScalarView()
        var rest = value.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "=" { return .attribute(String(name), value: String(rest)) }
            name.append(scalar == "\\" && (rest.first == "=" || rest.first == "\\") ? rest.removeFirst() : scalar)
        }
        return .attribute(String(name), value: nil)
    }

    private func end() throws(FilterMistake) -> String {
        if let word = FilterCondition.ends.first(where: { $0.lowercased() == value.lowercased() }) { return word }
        guard let end = SourceEnd(name: value.uppercased()), case .signal(let name) = end else {
            throw unknown(
                value[...], "no end of a process", among: FilterCondition.ends + ["SIGSEGV"], at: place.valueStart)
        }
        return name
    }

    private func sampled() throws(FilterMistake) -> FilterCondition.Sampled {
        if let sampled = FilterCondition.Sampled(rawValue: value) { return sampled }
        throw unknown(
            value[...], "nothing that sampling says", among: FilterCondition.Sampled.allCases.map(\.rawValue),
            at: place.valueStart)
    }

    private func sample() throws(FilterMistake) -> Int {
        guard let count = Int(value), FilterCondition.sampleRange.contains(count) else {
            throw mistake("“\(value)” is no such number: oneIn:100 is one in a hundred, and a million is the most.")
        }
        return count
    }

    private func statuses() throws(FilterMistake) -> ClosedRange<Int> {
        guard let range = StatusRange.read(value) else {
            throw mistake("“\(value)” is no status: give 404, 4xx or 400-499.")
        }
        return range
    }

    private func closeCodes() throws(FilterMistake) -> ClosedRange<Int> {
        guard let range = StatusRange.read(value, limit: 65_535) else {
            throw mistake("“\(value)” is no close code of a WebSocket: give 1006 or 1002-1015.")
        }
        return range
    }

    private func state(_ word: Substring, at offset: Int) throws(FilterMistake) -> ExchangeRecord.State {
        if let state = ExchangeRecord.State(rawValue: String(word)) { return state }
        throw unknown(word, "no state of an exchange", among: ExchangeRecord.State.allCases.map(\.rawValue), at: offset)
    }

    private func methods() throws(FilterMistake) -> Set<String> {
        let methods = Set(value.split(separator: ",").map(String.init))
        guard !methods.isEmpty else {
            throw mistake("“\(value)” is no method: give GET, or several with commas between.")
        }
        guard methods.count <= FilterExpression.termLimit else {
            throw FilterExpression.tooMany("methods", at: place.valueStart, value.unicodeScalars.count)
        }
        return methods
    }

    private func byteCount() throws(FilterMistake) -> Int64 {
        guard let count = Measure.size.read(value) else {
            throw mistake("“\(value)” is no size: give 500B, 100kB, 1.5MB or 2GB.")
        }
        return count
    }

    private func duration() throws(FilterMistake) -> Duration {
        guard let microseconds = Measure.duration.read(value) else {
            throw mistake("“\(value)” is no duration: give 2s, 1.5s, 500ms, 80us, 3m or 1h.")
        }
        return .microseconds(microseconds)
    }

    private func time() throws(FilterMistake) -> Int64 {
        guard let time = TimeExpression.microseconds(value, now: now) else {
            throw mistake("“\(value)” is no time: give \(TimeExpression.forms).")
        }
        return time
    }

    private func beginner() throws(FilterMistake) -> TransactionFilter.Beginner {
        if let beginner = TransactionFilter.Beginner(rawValue: value) { return beginner }
        throw unknown(
            value[...], "nothing that a beginner can be", among: TransactionFilter.Beginner.allCases.map(\.rawValue),
            at: place.valueStart)
    }

    private func order() throws(FilterMistake) -> TransactionFilter.Order {
        guard let order = TransactionFilter.Order(rawValue: value) else {
            let words = TransactionFilter.Order.allCases.map(\.rawValue).joined(separator: ", ")
            throw mistake("“\(value)” is no order. They are: \(words).")
        }
        return order
    }
}

/// A time as people and programs write it: `24h` ago, `2026-03-01`, `2026-03-01T12:00:00Z`, or microseconds since 1970.
package enum TimeExpression {
    /// The forms that can be read, for messages and help texts.
    package static let forms = "24h, 30m or 7d ago, an ISO 8601 date or time, or microseconds since 1970"

    /// The end of the year 9999, in microseconds since 1970: the last that ISO 8601 writes with four digits.
    private static let latest: Int64 = 253_402_300_799_999_999

    /// Microseconds since 1970 that a filter can hold; nil for anything that is none of the forms. Nothing is recorded
    /// before 1684 or after 2255, so that a time beyond these finds what the nearest one finds.
    ///
    /// - Parameter now: microseconds since 1970, for the times that are so long ago.
    package static func microseconds(_ text: String, now: Int64) -> Int64? {
        if let age = length(text) { return now.subtracting(age) }
        return instant(text)?.bounded
    }

    /// Microseconds since 1970 of a date, a time, or microseconds, until the year 9999; nil for anything else.
    package static func instant(_ text: String) -> Int64? {
        let time = text.utf8.allSatisfy(\.isDigit) ? Int64(text) : isoTime(text)
        return time.flatMap { $0 <= latest ? $0 : nil }
    }

    /// A stretch of time, `48h..24h` or `2026-03-01..2026-03-02`, in microseconds since 1970; nil for anything else.
    ///
    /// - Parameter now: microseconds since 1970.
    package static func window(_ text: String, now: Int64) -> Range<Int64>? {
        let ends = text.components(separatedBy: "..").map { microseconds($0, now: now) }
        guard ends.count == 2, let since = ends[0], let until = ends[1], since <= until else { return nil }
        return since..<until
    }

    /// Microseconds of `30s`, `10m`, `24h`, `7d` or `2w`; nil for anything else.
    package static func length(_ text: String) -> Int64? {
        let units: [String: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[String($0)] }), let count = Int64(text.dropLast()), count >= 0 else {
            return nil
        }
        let (seconds, isTooLong) = count.multipliedReportingOverflow(by: unit)
        let (microseconds, isFarTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return isTooLong || isFarTooLong ? nil : microseconds
    }

    private static func isoTime(_ text: String) -> Int64? {
        let styles: [Date.ISO8601FormatStyle] = [
            .iso8601, Date.ISO8601FormatStyle(includingFractionalSeconds: true), .iso8601.year().month().day(),
        ]
        let date = styles.lazy.compactMap { try? $0.parse(text) }.first
        return date.flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1_000_000).rounded()) }
    }
}
