import Foundation
package import WaybillCore

extension FilterExpression {
    /// Without `names`, names are skipped, and use cases are read only by code.
    package func filter<Filter: ListFilter>(names: [RecordedName]?, now: Int64) throws(FilterMistake) -> Filter {
        var filter = Filter([])
        try add(to: &filter, names: names, now: now)
        return filter
    }

    package func add(to filter: inout some ListFilter, names: [RecordedName]?, now: Int64) throws(FilterMistake) {
        for term in terms {
            guard term.value.unicodeScalars.count <= Limits.fieldLength else {
                throw FilterMistake(
                    "A value in a filter has at most \(Limits.fieldLength) characters. Shorten it.", at: term.valueStart
                )
            }
            let reading = TermReading(term: term, names: names, now: now)
            if let condition = try reading.condition() { filter.conditions.append(condition) }
            if term.key == .sort { filter.set(\.order, try reading.order()) }
            if term.key == .beginner { filter.set(\.beginner, try reading.beginner()) }
            if filter.outcomes?.isEmpty == true { throw reading.noOutcomeIsLeft }
        }
    }

    package var names: [String] {
        let named: [Key] = [.useCase, .event, .parent, .root, .child]
        return terms.filter { $0.key.map(named.contains) ?? false }.map(\.value)
    }
}

private struct TermReading {
    let term: FilterExpression.Term
    let names: [RecordedName]?
    let now: Int64

    private var value: String { term.value }

    private func mistake(_ message: String, suggestion: String? = nil) -> FilterMistake {
        FilterMistake(message, at: term.valueStart, count: value.unicodeScalars.count, suggestion: suggestion)
    }

    func condition() throws(FilterMistake) -> FilterCondition? {
        try checkRelation()
        guard let condition = try positive() else { return nil }
        guard term.isNegated else { return condition }
        // An index finds the other outcomes.
        guard case .outcome(let outcomes) = condition else { return .not(condition) }
        let others = Set(TransactionOutcome.allCases).subtracting(outcomes)
        guard !others.isEmpty else { throw noOutcomeIsLeft }
        return .outcome(others)
    }

    private func positive() throws(FilterMistake) -> FilterCondition? {
        switch term.key {
        case .beginner, .sort: nil
        case .useCase: try useCase().map { .useCase($0) }
        case .outcome:
            .outcome(try words("no outcome", TransactionOutcome.allCases.map(\.name)) { TransactionOutcome(name: $0) })
        case .since: .sinceMicroseconds(try time())
        case .until: .untilMicroseconds(try time())
        case .event: .event(try event())
        case .has: .event(try feedback())
        case .error: .error(value)
        case .finishError:
            .finishError(
                try known(
                    RecordedError(identityText: value),
                    "no error: give its domain and its name or code, as LoginError=rejected or NSURLErrorDomain=-1001"))
        case .attribute: attribute()
        case .parent: try relative().map { .parent($0) }
        case .root: try relative().map { .root($0) }
        case .child: try relative().map { .child($0) }
        case .app: .app(value)
        case .version: .appVersion(value)
        case .device: .device(value)
        case .os: .os(value)
        case .osVersion: .osVersion(value)
        case .source: .source(try id())
        case .installation: .installation(try id())
        case .ended: .ended(try end())
        case .sampled: .sampled(try word("nothing that sampling says"))
        case .oneIn:
            .oneIn(
                try known(
                    Int(value).flatMap { FilterCondition.sampleRange.contains($0) ? $0 : nil },
                    "no such number: oneIn:100 is one in a hundred, and a million is the most"))
        case .took: term.relation == .greater ? .tookMoreThan(try duration()) : .tookLessThan(try duration())
        case nil: .text(value)
        case .status: .status(try known(StatusRange.read(value), "no status: give 404, 1xx to 5xx, or 400-499"))
        case .exchange: .exchange(try word("no state of an exchange"))
        case .state:
            .state(
                try words("no state of an exchange", ExchangeRecord.State.allCases.map(\.rawValue)) {
                    ExchangeRecord.State(rawValue: String($0))
                })
        case .host: .host(value)
        case .path: .path(value)
        case .method: .method(try methods())
        case .close:
            .closeCode(
                try known(
                    StatusRange.read(value, limit: 65_535), "no close code of a WebSocket: give 1006 or 1002-1015"))
        case .size: term.relation == .greater ? .receivedMoreThan(try byteCount()) : .receivedLessThan(try byteCount())
        }
    }

    private func checkRelation() throws(FilterMistake) {
        guard let key = term.key else { return }
        let isMeasured = key == .took || key == .size
        if isMeasured, term.relation == .equal {
            let form = key == .took ? "took>2s or took<2s" : "size>100kB or size<100kB"
            throw FilterMistake("Say \(form).", at: term.start, count: term.count)
        }
        guard isMeasured || term.relation == .equal else {
            throw FilterMistake("Behind \(key.rawValue) stands “:”, and neither “>” nor “<”.", at: term.valueStart - 1)
        }
        guard term.isNegated, let hint = Self.insteadOfNegation[key] else { return }
        throw FilterMistake("A “-” does not go with \(key.rawValue)\(hint).", at: term.start, count: term.count)
    }
}

extension TermReading {
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

    private func relative() throws(FilterMistake) -> FilterCondition.Relative? {
        if value == "known" { return .known }
        if let id = GUID(value) { return .transaction(id) }
        if let outcome = TransactionOutcome(name: value[...]) { return .outcome(outcome) }
        let isNamed = names?.contains { $0.event == nil && $0.name == value } ?? false
        if !isNamed, value.contains("-"), let code = SupportCode(value) { return .supportCode(code) }
        return try useCase().map { .useCase($0) }
    }

    private func event() throws(FilterMistake) -> String {
        guard let names, value != RecordedName.feedback, FilterCondition.code(ofUnnamed: value) == nil else {
            return value
        }
        let events = names.filter { $0.event != nil }.map(\.name)
        guard !events.contains(value) else { return value }
        throw mistake(
            "No event here is called “\(value)”; "
                + hint(events, otherwise: "no event has a name; “event 7” stands for the one with the code 7."),
            suggestion: nearest(events))
    }

    private func feedback() throws(FilterMistake) -> String {
        guard value == RecordedName.feedback else {
            throw unknown(
                value[...], "nothing that a transaction can have", among: [RecordedName.feedback], at: term.valueStart)
        }
        return value
    }

    private func nearest(_ known: [String]) -> String? { value.nearest(among: Set(known).sorted()) }

    private func hint(_ known: [String], otherwise: String) -> String {
        if let nearest = nearest(known) { return "did you mean “\(nearest)”?" }
        let known = Set(known).sorted()
        guard !known.isEmpty else { return otherwise }
        return "known are \(Self.list(known))."
    }

    private static let toldLimit = 12

    private static func list(_ values: [some CustomStringConvertible]) -> String {
        let more = values.count > toldLimit ? " and \(values.count - toldLimit) others" : ""
        return values.prefix(toldLimit).map(\.description).joined(separator: ", ") + more
    }

    private func known<Meaning>(_ meaning: Meaning?, _ what: String) throws(FilterMistake) -> Meaning {
        guard let meaning else { throw mistake("“\(value)” is \(what).") }
        return meaning
    }

    private func word<Word: RawRepresentable<String> & CaseIterable>(_ what: String) throws(FilterMistake) -> Word {
        guard let word = Word(rawValue: value) else {
            throw unknown(value[...], what, among: Word.allCases.map(\.rawValue), at: term.valueStart)
        }
        return word
    }

    private func words<Word>(
        _ what: String, _ all: [String], _ read: (Substring) -> Word?
    ) throws(FilterMistake) -> Set<Word> {
        var words: Set<Word> = []
        var offset = term.valueStart
        for text in value.split(separator: ",", omittingEmptySubsequences: false) {
            guard let word = read(text) else { throw unknown(text, what, among: all, at: offset) }
            words.insert(word)
            offset += text.unicodeScalars.count + 1
        }
        return words
    }

    /// An empty set of outcomes would match everything.
    var noOutcomeIsLeft: FilterMistake {
        mistake(
            "With this no outcome is left. Put a comma between outcomes of which any will do: outcome:failed,cancelled."
        )
    }

    private func unknown(_ word: Substring, _ what: String, among words: [String], at offset: Int) -> FilterMistake {
        let nearest = String(word).nearest(among: words)
        let hint = nearest.map { "did you mean “\($0)”?" } ?? "they are \(words.joined(separator: ", "))."
        return FilterMistake(
            "“\(word)” is \(what); \(hint)", at: offset, count: word.unicodeScalars.count, suggestion: nearest)
    }

    /// Reads `variant=B`; the name can contain `\=` and `\\`.
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
                value[...], "no end of a process", among: FilterCondition.ends + ["SIGSEGV"], at: term.valueStart)
        }
        return name
    }

    private func methods() throws(FilterMistake) -> Set<String> {
        let methods = Set(value.split(separator: ",").map(String.init))
        guard !methods.isEmpty else {
            throw mistake("“\(value)” is no method: give GET, or several with commas between.")
        }
        guard methods.count <= FilterExpression.termLimit else {
            throw FilterExpression.tooMany("methods", at: term.valueStart, value.unicodeScalars.count)
        }
        return methods
    }

    private func id() throws(FilterMistake) -> GUID { try known(GUID(value), "not an ID, which has 36 characters") }

    private func byteCount() throws(FilterMistake) -> Int64 {
        try known(Measure.size.read(value), "no size: give 500B, 100kB, 1.5MB or 2GB")
    }

    private func duration() throws(FilterMistake) -> Duration {
        .microseconds(
            try known(Measure.duration.read(value), "no duration: give 2s, 1.5s, 500ms, 80us, 3m or 1h"))
    }

    private func time() throws(FilterMistake) -> Int64 {
        try known(TimeExpression.microseconds(value, now: now), "no time: give \(TimeExpression.forms)")
    }

    func beginner() throws(FilterMistake) -> TransactionFilter.Beginner { try word("nothing that a beginner can be") }

    func order() throws(FilterMistake) -> TransactionFilter.Order {
        let words = TransactionFilter.Order.allCases.map(\.rawValue).joined(separator: ", ")
        return try known(TransactionFilter.Order(rawValue: value), "no order. They are: \(words)")
    }
}

/// A time as text: `24h` ago, `yesterday`, `2026-03-01`, `2026-03-01T12:00:00Z`, or microseconds since 1970.
package enum TimeExpression {
    package static let forms =
        "24h, 30m or 7d ago, today, yesterday or “last week” (from its first midnight in UTC), an ISO 8601 date or time, or microseconds since 1970"

    /// The end of the year 9999, the last that ISO 8601 writes with four digits.
    private static let latest: Int64 = 253_402_300_799_999_999

    /// Clamps to 1684 to 2255, the range of recorded times.
    package static func microseconds(_ text: String, now: Int64) -> Int64? {
        if let age = length(text) { return now.subtracting(age) }
        return beginning(text, now: now) ?? instant(text)?.bounded
    }

    /// Whether the text means another time on another day.
    static func isRelative(_ text: String) -> Bool { length(text) != nil || beginning(text, now: 0) != nil }

    /// Returns the first midnight of a day or a week in UTC, which commands and collectors use for all times.
    private static func beginning(_ text: String, now: Int64) -> Int64? {
        let day: Int64 = 86_400_000_000
        let today = now.subtracting((now % day + day) % day)
        return switch text.lowercased() {
        case "today": today
        case "yesterday": today.subtracting(day)
        // 1970-01-01 was a Thursday, three days after a Monday (ISO 8601).
        case "last week": today.subtracting(((today / day + 3) % 7 + 7) % 7 * day).subtracting(7 * day)
        default: nil
        }
    }

    package static func instant(_ text: String) -> Int64? {
        let time = text.utf8.allSatisfy(\.isDigit) ? Int64(text) : isoTime(text)
        return time.flatMap { $0 <= latest ? $0 : nil }
    }

    /// Reads `48h..24h` or `2026-03-01..2026-03-02`.
    package static func window(_ text: String, now: Int64) -> Range<Int64>? {
        let ends = text.components(separatedBy: "..").map { microseconds($0, now: now) }
        guard ends.count == 2, let since = ends[0], let until = ends[1], since <= until else { return nil }
        return since..<until
    }

    /// Reads `30s`, `10m`, `24h`, `7d` or `2w`.
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
