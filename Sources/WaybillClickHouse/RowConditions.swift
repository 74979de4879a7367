#if ClickHouse
import WaybillCore
import WaybillQueries

/// Conditions as SQL: on rows of `transactions`, or on each of their exchanges.
struct RowConditions: Sendable {
    /// The places of the names of events in filters.
    var events: [String: [EventMeaning]] = [:]
    /// The codes whose names have the texts in filters; the event is -1 for a use case.
    var mentions: [String: [(useCase: Int, event: Int)]] = [:]
    var now: Int64
    /// SQL for the descendants of the topmost ancestors in filters, and for these.
    var descendants: [FilterCondition.Relative: String] = [:]

    func sql(_ filter: TransactionFilter) -> String {
        let joined = filter.beginner.joined.map(String.init).joined(separator: ", ")
        let passes = "joined IN (\(joined)) AND \(sql(filter.conditions, about: .transactions))"
        guard filter.isFolded else { return passes }
        return "\(passes) AND (parent = tx OR parent GLOBAL NOT IN (\(Self.knownParents) AND \(passes)))"
    }

    func sql(_ conditions: [FilterCondition], about subject: FilterExpression.Subject) -> String {
        let together = subject == .transactions ? unsuccessful(conditions) : []
        return (["1"] + conditions.map { "(\(sql(of: $0, subject)))" } + together).joined(separator: " AND ")
    }

    /// SQL that follows from conditions on an event and an outcome, for an index.
    private func unsuccessful(_ conditions: [FilterCondition]) -> [String] {
        let outcomes = conditions.compactMap {
            if case .outcome(let outcomes) = $0 { Self.stored(outcomes) } else { nil }
        }
        guard let outcomes = outcomes.first, !outcomes.isEmpty, !outcomes.contains(.succeeded) else { return [] }
        return conditions.compactMap { condition in
            guard case .event(let name) = condition, let meanings = events[name], !meanings.isEmpty else { return nil }
            let both = Set(meanings.map(\.code)).flatMap { code in
                outcomes.map { Self.number(ofEvent: code, $0.rawValue) }
            }
            return "(\(both.map { "has(unsuccessful_events, \($0))" }.joined(separator: " OR ")))"
        }
    }

    /// In `unsuccessful_events`.
    static func number(ofEvent code: Int, _ outcome: Int) -> Int64 { Int64(code) &* 16 &+ Int64(outcome) }

    /// The outcomes in rows, where a transaction whose time is over is still open.
    private static func stored(_ outcomes: Set<TransactionOutcome>) -> Set<TransactionOutcome> {
        outcomes.contains(.timedOut) ? outcomes.union([.open]) : outcomes
    }

    static func outcome(now: Int64) -> String {
        let (open, timedOut) = (TransactionOutcome.open.rawValue, TransactionOutcome.timedOut.rawValue)
        return "toUInt8(if(outcome = \(open) AND last_us + timeout_us < \(now), \(timedOut), outcome))"
    }

    /// SQL for the share of transactions that a filter asks for; `nil` for all.
    static func sample(of filter: TransactionFilter) -> String? {
        let shares = filter.conditions.compactMap {
            if case .oneIn(let count) = $0 { sample(oneIn: count) } else { nil }
        }
        return shares.isEmpty ? nil : shares.joined(separator: " AND ")
    }

    private static func sample(oneIn count: Int) -> String {
        "substring(tx, 13, 4) < unhex('\(GUID.sampleBound(oneIn: count))')"
    }

    /// SQL for the index of an exchange's source, from 1.
    static let sourceOfExchange = "part_sources[each_parts + 1] + 1"

    private func sql(of condition: FilterCondition, _ subject: FilterExpression.Subject) -> String {
        let (isOfTransactions, literal) = (subject == .transactions, ClickHouseTables.literal as (String) -> String)
        let source = isOfTransactions ? "1" : Self.sourceOfExchange
        func isSame(_ column: String, _ value: String) -> String { "lower(\(column)) = lower(\(literal(value)))" }
        func ofExchange(_ condition: (String) -> String, _ column: String) -> String {
            isOfTransactions
                ? "arrayExists(x -> (\(condition("x"))), exchange_\(column))" : condition("each_\(column)")
        }
        func isIn(_ states: Set<ExchangeRecord.State>) -> String {
            let codes = states.map { Int($0.code) }.sorted()
            let isAny = codes.map { "has(exchange_states, \($0))" }.joined(separator: " OR ")
            return isOfTransactions ? isAny : "each_states IN (\(codes.map(String.init).joined(separator: ", ")))"
        }
        switch condition {
        case .useCase(let code): return "use_case = \(code)"
        case .outcome(let outcomes):
            func codes(_ outcomes: Set<TransactionOutcome>) -> String {
                outcomes.map { "\($0.rawValue)" }.sorted().joined(separator: ", ")
            }
            guard !outcomes.isEmpty else { return "1" }
            return "outcome IN (\(codes(Self.stored(outcomes)))) AND \(Self.outcome(now: now)) IN (\(codes(outcomes)))"
        case .sinceMicroseconds(let time): return "\(isOfTransactions ? "begun_us" : "each_opened_us") >= \(time)"
        case .untilMicroseconds(let time): return "\(isOfTransactions ? "begun_us" : "each_opened_us") < \(time)"
        case .event(let name):
            let meanings = events[name] ?? []
            return Self.hasEvent(meanings.map(\.sql).joined(separator: " OR "), of: Set(meanings.map(\.code)))
        case .error(let error):
            let owner = isOfTransactions ? nil : "each_numbers"
            return ErrorPattern(error).sql(ofExchange: owner)
        case .finishError(let error): return "error_identity = \(literal(error.identity.identityText))"
        case .app(let value): return isSame("apps[\(source)]", value)
        case .appVersion(let value): return isSame("app_versions[\(source)]", value)
        case .device(let value): return isSame("devices[\(source)]", value)
        case .osVersion(let value): return isSame("os_versions[\(source)]", value)
        case .os(let value):
            let system = "lower(concat(oses[\(source)], ' ', os_versions[\(source)], ' '))"
            let beginnings = [" ", "."].map { "position(\(system), lower(\(literal(value + $0)))) = 1" }
            return beginnings.joined(separator: " OR ")
        case .source(let id): return "sources[\(source)] = \(ClickHouseTables.literal(id))"
        case .installation(let id): return "installations[\(source)] = \(ClickHouseTables.literal(id))"
        case .ended(let value):
            let isSo =
                switch value {
                case "unknown": "ended_by[\(source)] = ''"
                case "signal": "ended_by[\(source)] LIKE 'SIG%'"
                default: "ended_by[\(source)] = \(literal(value))"
                }
            let isInterrupted =
                isOfTransactions
                ? "outcome = \(TransactionOutcome.interrupted.rawValue)"
                : "each_states = \(ExchangeRecord.State.interrupted.code)"
            return "\(isInterrupted) AND \(isSo)"
        case .sampled(.chosen): return "sample_ppm >= 0 AND NOT sample_kept"
        case .sampled(.unchosen): return "sample_ppm >= 0 AND sample_kept"
        case .sampled(.none): return "sample_ppm < 0"
        case .oneIn(let count): return Self.sample(oneIn: count)
        case .tookMoreThan(let duration): return "\(took(subject, "took_us")) > \(duration.microseconds)"
        case .tookLessThan(let duration): return "\(took(subject, "shortest_us")) < \(duration.microseconds)"
        case .attribute(let name, let value):
            let said = SaidAttributes.texts(of: name, matching: value).map { "has(said, \(literal($0)))" }
            return said.joined(separator: " OR ")
        case .status(let range):
            let isSo = ofExchange({ "\($0) BETWEEN \(range.lowerBound) AND \(range.upperBound)" }, "statuses")
            return isOfTransactions ? "\(Self.largestStatus) >= \(range.lowerBound) AND \(isSo)" : isSo
        case .exchange(let state): return isIn([state])
        case .state(let states): return states.isEmpty ? "1" : isIn(states)
        case .host(let host):
            return ofExchange(
                { "\(isSame($0, host)) OR endsWith(lower(\($0)), lower(\(literal("." + host))))" }, "hosts")
        case .path(let path):
            let whole = "/" + path.drop { $0 == "/" }
            let below = whole.hasSuffix("/") ? whole : "\(whole)/"
            return ofExchange(
                { "\($0) = \(literal(whole)) OR startsWith(\($0), \(literal(below)))" }, "paths")
        case .method(let methods):
            let all = methods.sorted().map { "lower(\(literal($0)))" }.joined(separator: ", ")
            return ofExchange({ "lower(\($0)) IN (\(all))" }, "methods")
        case .receivedMoreThan(let count): return ofExchange({ "\($0) > \(count)" }, "received")
        case .receivedLessThan(let count):
            return ofExchange({ "\($0) >= 0 AND \($0) < \(count)" }, "received")
        case .closeCode(let range):
            return ofExchange({ "\($0) BETWEEN \(range.lowerBound) AND \(range.upperBound)" }, "close_codes")
        case .not(let condition): return "NOT (\(sql(of: condition, subject)))"
        case .text(let text): return isOfTransactions ? mention(of: text) : mentionInExchange(of: text)
        case .parent(let relative):
            return Self.identified(relative, "parent") ?? Self.hasParent(self.relative(relative))
        case .root(let relative): return descendants[relative] ?? "0"
        case .child(let relative):
            return """
                tx GLOBAL IN (SELECT parent FROM transactions FINAL \
                WHERE gone = 0 AND tx GLOBAL IN (SELECT child FROM children) AND \(self.relative(relative)))
                """
        }
    }

    /// SQL for the largest status of the exchanges, which an index has.
    static let largestStatus = "arrayReduce('max', exchange_statuses)"

    // MARK: Families

    static let isKnownParent = "gone = 0 AND tx GLOBAL IN (SELECT parent FROM children)"
    private static let knownParents = "SELECT tx FROM transactions FINAL WHERE \(isKnownParent)"

    static func hasParent(_ condition: String) -> String { "parent GLOBAL IN (\(knownParents) AND (\(condition)))" }

    /// SQL for the transactions without a known parent that are asked for.
    func root(_ relative: FilterCondition.Relative) -> String {
        // An ID needs no known transaction.
        let above = Self.identified(relative, "parent").map { " OR \($0)" } ?? ""
        return "parent GLOBAL NOT IN (\(Self.knownParents)) AND (\(self.relative(relative))\(above))"
    }

    private func relative(_ relative: FilterCondition.Relative) -> String {
        switch relative {
        case .known: "1"
        case .transaction, .supportCode: Self.identified(relative, "tx") ?? "1"
        case .useCase(let code): "use_case = \(code)"
        case .outcome(let outcome): "\(Self.outcome(now: now)) = \(outcome.rawValue)"
        }
    }

    private static func identified(_ relative: FilterCondition.Relative, _ column: String) -> String? {
        switch relative {
        case .transaction(let id): "\(column) = \(ClickHouseTables.literal(id))"
        case .supportCode(let code): has(code, column)
        case .known, .useCase, .outcome: nil
        }
    }

    // MARK: Texts

    private func mentionInExchange(of text: String) -> String {
        let word = "lower(\(ClickHouseTables.literal(text)))"
        var places = ["position(each_texts, \(word)) > 0", "position(lower(UUIDNumToString(tx)), \(word)) > 0"]
        if let code = SupportCode(text) { places.append(Self.has(code, "tx")) }
        return places.joined(separator: " OR ")
    }

    static func pattern(_ text: String) -> String {
        "%\(text.map { "%_\\".contains($0) ? "\\\($0)" : "\($0)" }.joined())%"
    }

    private func mention(of text: String) -> String {
        let named = mentions[text] ?? []
        var places = ["texts LIKE lower(\(ClickHouseTables.literal(Self.pattern(text))))"]
        // The index of texts helps only if nothing else can have the word.
        if text.utf8.allSatisfy({ "0123456789abcdefABCDEF-".utf8.contains($0) }) {
            places.append("position(UUIDNumToString(tx), lower(\(ClickHouseTables.literal(text)))) > 0")
        }
        let useCases = named.filter { $0.event < 0 }.map { "\($0.useCase)" }
        if !useCases.isEmpty { places.append("use_case IN (\(useCases.joined(separator: ", ")))") }
        let events = named.filter { $0.event >= 0 }
        if !events.isEmpty {
            let isOne = Dictionary(grouping: events, by: \.useCase).sorted { $0.key < $1.key }.map { useCase, events in
                let codes = events.map { "\($0.event)" }.joined(separator: ", ")
                return "part_use_cases[p + 1] = \(useCase) AND has([\(codes)], c)"
            }
            places.append("(\(Self.hasEvent(isOne.joined(separator: " OR "), of: Set(events.map(\.event)))))")
        }
        if let code = SupportCode(text) { places.append(Self.has(code, "tx")) }
        return places.joined(separator: " OR ")
    }

    static func has(_ code: SupportCode, _ column: String) -> String {
        // The last five of sixteen bytes.
        let tail = GUID(high: 0, low: code.tail).description.filter { $0 != "-" }.suffix(10)
        return "substring(\(column), 12, 5) = unhex('\(tail)')"
    }

    private func took(_ subject: FilterExpression.Subject, _ ofTransaction: String) -> String {
        subject == .transactions
            ? "closed != 0 AND \(ofTransaction)"
            : "each_took_us != \(ClickHouseTables.missing) AND each_took_us"
    }

    /// - Parameter codes: All codes in the condition, for an index.
    private static func hasEvent(_ condition: String, of codes: Set<Int>) -> String {
        guard !codes.isEmpty else { return "0" }
        let hasCode = codes.sorted().map { "has(event_codes, \($0))" }.joined(separator: " OR ")
        // Servers of 2018 read no column that only a lambda names.
        let named = ["part_use_cases", "part_sources", "apps", "app_versions"].filter(condition.contains)
            .map { "notEmpty(\($0)) AND " }.joined()
        return "(\(hasCode)) AND \(named)arrayExists((c, p) -> (\(condition)), event_codes, event_parts)"
    }
}

extension EventMeaning {
    /// On the code `c` of an event, and the part `p` that it is of.
    fileprivate var sql: String {
        let useCases = useCases.sorted().map { "\($0)" }.joined(separator: ", ")
        var conditions = ["c = \(code)"]
        if !useCases.isEmpty {
            conditions.append("part_use_cases[p + 1] \(isOfOtherUseCases ? "NOT IN" : "IN") (\(useCases))")
        }
        if !places.isEmpty {
            let source = "part_sources[p + 1] + 1"
            let list = places.map { ClickHouseTables.literal("\($0.app)\n\($0.version)") }.joined(separator: ", ")
            let place = "concat(apps[\(source)], '\\n', app_versions[\(source)])"
            conditions.append("\(isEverywhereElse ? "NOT " : "")has([\(list)], \(place))")
        } else if !isEverywhereElse {
            conditions.append("0")
        }
        return "(\(conditions.joined(separator: " AND ")))"
    }
}

extension ErrorPattern {
    /// - Parameter owner: SQL for the index of an exchange, from 1; `nil` for any error of the transaction.
    fileprivate func sql(ofExchange owner: String?) -> String {
        var conditions = owner.map { ["e = \($0)"] } ?? []
        // For indexes.
        var known = owner.map { ["\($0) > 0"] } ?? []
        if let code {
            conditions.append("c = \(code)")
            known.append("has(error_codes, \(code))")
        }
        if let text {
            if owner == nil, let end = text.split(separator: " ").last {
                known.append("texts LIKE lower(\(ClickHouseTables.literal(RowConditions.pattern(String(end)))))")
            }
            let word = "lower(\(ClickHouseTables.literal(text)))"
            let places = ["d", "n", "t"].map { "position(lower(\($0)), \(word)) > 0" }
            conditions.append(
                "(\(places.joined(separator: " OR ")) OR n != '' AND endsWith(lower(concat(d, ' ', n)), \(word)))")
        }
        return """
            \(known.map { "\($0) AND " }.joined())arrayExists((e, c, d, n, t) -> \(conditions.isEmpty ? "1" : conditions.joined(separator: " AND ")), \
            error_exchanges, error_codes, error_domains, error_names, error_texts)
            """
    }
}

extension ExchangeRecord.State {
    var code: UInt8 {
        switch self {
        case .inProgress: 0
        case .completed: 1
        case .failed: 2
        case .cancelled: 3
        case .mocked: 4
        case .interrupted: 5
        }
    }

    init?(code: Int64) {
        guard let state = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = state
    }
}

/// The texts in the column `said`. Equal numbers have the same text.
enum SaidAttributes {
    static func texts(of said: [(name: String, value: AttributeValue)]) -> [String] {
        var texts: Set<String> = []
        for (name, value) in said {
            texts.insert(text(name))
            switch value {
            case .string(let text): texts.insert(self.text(name, "=", text))
            case .bool(let isTrue): texts.insert(text(name, "=", isTrue ? "true" : "false"))
            case .integer(let number): texts.insert(text(name, "#", "\(number)"))
            case .double(let number): texts.insert(text(name, "#", Self.number(number)))
            }
        }
        return texts.sorted()
    }

    static func texts(of name: String, matching value: String?) -> [String] {
        guard let value else { return [text(name)] }
        var texts = [text(name, "=", value)]
        if value.utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) }), let number = Double(value) {
            texts.append(text(name, "#", Int64(value).map { "\($0)" } ?? Self.number(number)))
        }
        return texts
    }

    private static func text(_ name: String, _ kind: String = "", _ value: String = "") -> String {
        "\(name.utf8.count):\(name)\(kind)\(value)"
    }

    private static func number(_ number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }
}
#endif
