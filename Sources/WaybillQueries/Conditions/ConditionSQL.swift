import WaybillCore
import WaybillStore

/// Conditions as SQL: on the leading part `p`, or on `exchanges l`, its source `s` and its part `p`.
struct ConditionSQL {
    let subject: FilterExpression.Subject
    private let now: Int64
    var sql = ""
    private(set) var arguments: [any SQLValue] = []
    /// The texts to find in bodies, by their number in the temporary table `mentions`.
    private(set) var words: [String] = []

    init(about subject: FilterExpression.Subject, now: Int64) { (self.subject, self.now) = (subject, now) }

    mutating func argument(_ value: any SQLValue) -> String {
        arguments.append(value)
        return "?\(arguments.count)"
    }

    mutating func sql(of condition: FilterCondition) -> String {
        switch condition {
        case .useCase(let code): ofTransaction("\(leading).use_case = \(argument(code))")
        case .outcome(let outcomes): ofTransaction(outcomes.isEmpty ? "1" : outcome(outcomes))
        case .sinceMicroseconds(let time): "\(begun) >= \(argument(time))"
        case .untilMicroseconds(let time): "\(begun) < \(argument(time))"
        case .event(let name): event(name)
        case .error(let error): self.error(error)
        case .finishError(let error): finishError(error)
        case .attribute(let name, let value): attribute(name, value)
        case .app(let value): ofSource("s.app = \(argument(value)) COLLATE NOCASE")
        case .appVersion(let value): ofSource("s.app_version = \(argument(value)) COLLATE NOCASE")
        case .device(let value): ofSource("s.device = \(argument(value)) COLLATE NOCASE")
        case .osVersion(let value): ofSource("s.os_version = \(argument(value)) COLLATE NOCASE")
        case .source(let id): ofSource("s.uuid = \(argument(id))")
        case .installation(let id): ofSource("s.installation = \(argument(id))")
        case .os(let value): os(value)
        case .ended(let value): ended(value)
        case .sampled(.chosen): "(p.sample_ppm IS NOT NULL AND NOT ifnull(p.sample_kept, 0))"
        case .sampled(.unchosen): "(p.sample_ppm IS NOT NULL AND ifnull(p.sample_kept, 0))"
        case .sampled(.none): "p.sample_ppm IS NULL"
        case .oneIn(let count): "substr(p.guid, 13) < x'\(GUID.sampleBound(oneIn: count))'"
        case .tookMoreThan(let duration): "\(row).closed_at_us - \(row).at_us > \(argument(duration.microseconds))"
        case .tookLessThan(let duration): "\(row).closed_at_us - \(row).at_us < \(argument(duration.microseconds))"
        case .text(let text): subject == .transactions ? mentionInTransaction(of: text) : mentionInExchange(of: text)
        case .status(let range):
            ofExchange("l.status BETWEEN \(argument(range.lowerBound)) AND \(argument(range.upperBound))")
        case .exchange(let state): ofExchange(Self.condition(state))
        case .state(let states):
            ofExchange(
                states.isEmpty
                    ? "1"
                    : "(\(states.sorted { $0.rawValue < $1.rawValue }.map(Self.condition).joined(separator: " OR ")))")
        case .host(let host):
            ofExchange(
                "(l.host = \(argument(host)) COLLATE NOCASE OR l.host LIKE \(argument("%." + SQL.escaped(host))) ESCAPE '\\')"
            )
        case .path(let path): ofExchange(self.path(path))
        case .method(let methods):
            ofExchange("l.method COLLATE NOCASE IN (\(methods.sorted().map { argument($0) }.joined(separator: ", ")))")
        case .receivedMoreThan(let count): ofExchange("l.received_bytes > \(argument(count))")
        case .receivedLessThan(let count): ofExchange("l.received_bytes < \(argument(count))")
        case .closeCode(let range):
            ofExchange(
                "(json_valid(l.closed_detail) AND json_extract(l.closed_detail, '$.websocket.close_code') "
                    + "BETWEEN \(argument(range.lowerBound)) AND \(argument(range.upperBound)))")
        case .parent(let relative): parent(relative)
        case .root(let relative): root(relative)
        case .child(let relative):
            "EXISTS(SELECT 1 FROM parts r WHERE r.parent = p.guid AND r.listed_us IS NOT NULL AND \(self.relative(relative)))"
        case .not(let condition): "NOT ifnull(\(sql(of: condition)), 0)"
        }
    }

    // MARK: What both subjects have

    private var row: String { subject == .transactions ? "p" : "l" }

    private var begun: String { subject == .transactions ? "p.listed_us" : SQL.wall("l.at_us", source: "l.source") }

    private var leading: String { subject == .transactions ? "p" : "t" }

    private func ofTransaction(_ condition: String) -> String {
        guard subject == .exchanges else { return condition }
        // Without the index, SQLite would scan all parts of the use case for each exchange.
        return """
            EXISTS(SELECT 1 FROM parts t INDEXED BY parts_by_guid \
            WHERE t.guid = p.guid AND t.listed_us IS NOT NULL AND \(condition))
            """
    }

    private mutating func outcome(_ outcomes: Set<TransactionOutcome>) -> String {
        let codes = outcomes.map { "\($0.rawValue)" }.sorted().joined(separator: ", ")
        return "\(SQL.outcome(leading, now: argument(now))) IN (\(codes))"
    }

    private func ofSource(_ condition: String) -> String {
        subject == .transactions ? "p.source IN (SELECT s.id FROM sources s WHERE \(condition))" : condition
    }

    private func ofExchange(_ condition: String) -> String {
        guard subject == .transactions else { return condition }
        return """
            EXISTS(SELECT 1 FROM parts q CROSS JOIN sources s ON s.id = q.source \
            CROSS JOIN exchanges l ON l.source = q.source AND l.part = q.sequence \
            WHERE q.guid = p.guid AND l.method IS NOT NULL AND \(condition))
            """
    }

    private mutating func os(_ value: String) -> String {
        let beginnings = [" %", ".%"].map { argument(SQL.escaped(value) + $0) }
        let conditions = beginnings.map { "s.os || ' ' || s.os_version || ' ' LIKE \($0) ESCAPE '\\'" }
        return ofSource("(\(conditions.joined(separator: " OR ")))")
    }

    private mutating func ended(_ value: String) -> String {
        let isSo =
            switch value {
            case "unknown": "s.ended_by IS NULL"
            case "signal": "s.ended_by GLOB 'SIG*'"
            default: "s.ended_by = \(argument(value))"
            }
        let isOpen =
            subject == .transactions
            ? "p.outcome = \(TransactionOutcome.interrupted.rawValue)" : "l.method IS NOT NULL AND l.closed IS NULL"
        return "(\(isOpen) AND \(ofSource("s.ended AND \(isSo)")))"
    }

    private mutating func error(_ text: String) -> String {
        let error = ErrorPattern(text)
        let code = error.code.map { argument($0) }
        let words = error.text.map {
            (within: argument(SQL.pattern(containing: $0)), atEnd: argument("%" + SQL.escaped($0)))
        }
        func matches(_ column: String, _ detail: String) -> String {
            ErrorPattern.sql(column, detail, code: code, words: words)
        }
        let ofExchange = matches("l.error_code", "l.closed_detail")
        guard subject == .transactions else { return ofExchange }
        return """
            EXISTS(SELECT 1 FROM parts q WHERE q.guid = p.guid AND (\(matches("q.error_code", "q.closed_detail")) \
            OR EXISTS(SELECT 1 FROM events e WHERE e.source = q.source AND e.part = q.sequence AND e.detail IS NOT NULL \
            AND \(matches(SQL.detail("e.detail", "error_code"), "e.detail"))) \
            OR EXISTS(SELECT 1 FROM exchanges l WHERE l.source = q.source AND l.part = q.sequence AND \(ofExchange))))
            """
    }

    private mutating func finishError(_ error: RecordedError) -> String {
        let detail = "\(leading).closed_detail"
        func member(_ path: String) -> String { SQL.detail(detail, path) }
        let own = isSame(error.chain[0], code: "\(leading).error_code") { member("error_\($0)") }
        let last = "error_underlying[#-1]"
        let cause =
            error.underlying.last.map { isSame($0, code: member("\(last).code")) { member("\(last).\($0)") } }
            ?? "\(member(last)) IS NULL"
        return ofTransaction("(\(leading).error_code IS NOT NULL AND \(own) AND \(cause))")
    }

    private mutating func isSame(
        _ error: RecordedError.Underlying, code: String, _ member: (String) -> String
    ) -> String {
        let which =
            error.name.map { "\(member("name")) = \(argument($0))" }
            ?? "\(member("name")) IS NULL AND \(code) = \(argument(error.code))"
        return "ifnull(\(member("domain")), '') = \(argument(error.domain)) AND \(which)"
    }

    // MARK: Transactions

    /// Compares names per source, but only for the few codes that have the name in any source.
    private mutating func event(_ name: String) -> String {
        let text = argument(name)
        let code = FilterCondition.code(ofUnnamed: name).map { " UNION ALL SELECT \(argument($0))" } ?? ""
        let named = SQL.name(useCase: "q.use_case", event: "e.code", otherwise: "'event ' || e.code")
        return """
            EXISTS(SELECT 1 FROM parts q CROSS JOIN sources s ON s.id = q.source \
            CROSS JOIN events e ON e.source = q.source AND e.part = q.sequence WHERE q.guid = p.guid AND e.code >= 0 \
            AND e.code IN (SELECT m.event FROM names m WHERE m.name = \(text) AND m.event >= 0\(code)) AND \(named) = \(text))
            """
    }

    private mutating func attribute(_ name: String, _ value: String?) -> String {
        let attribute = AttributeSQL(name: argument(name), mark: argument(AttributeSQL.mark(of: name)))
        return attribute.isAnywhere(where: value.map { isEqual(to: $0) })
    }

    private mutating func isEqual(to value: String) -> String {
        let text = argument(value)
        // Numbers compare by value, however they are written. Other text would be cast to 0.
        let isNumber = value.utf8.allSatisfy { "+-.0123456789eE".utf8.contains($0) } && Double(value) != nil
        let number = isNumber ? " OR (j.type IN ('integer', 'real') AND j.atom = CAST(\(text) AS NUMERIC))" : ""
        return "((j.type = 'text' AND j.atom = \(text)) OR (j.type IN ('true', 'false') AND j.type = \(text))\(number))"
    }

    /// Ignores case in ASCII only, as SQLite's LIKE does.
    private mutating func mentionInTransaction(of text: String) -> String {
        let pattern = argument(SQL.pattern(containing: text))
        func like(_ expression: String) -> String { "\(expression) LIKE \(pattern) ESCAPE '\\'" }
        let shown = "CASE j.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE ifnull(j.atom, '') END"
        func inDetail(_ column: String) -> String {
            """
            (json_valid(\(column)) AND EXISTS(SELECT 1 FROM json_tree(\(column)) j \
            WHERE (\(like("j.atom")) AND j.path NOT LIKE '$.websocket.messages%') OR (j.path = '$.attributes' AND \(like("j.key || '=' || \(shown)")))))
            """
        }
        func inName(_ useCase: String, _ event: String) -> String {
            "EXISTS(SELECT 1 FROM names n WHERE n.use_case = \(useCase) AND n.event = \(event) AND \(like("n.name")))"
        }
        var places = [
            like(SQL.text(guid: "p.guid")),
            inName("p.use_case", "-1"),
            """
            EXISTS(SELECT 1 FROM parts q WHERE q.guid = p.guid AND (\(inDetail("q.opened_detail")) OR \(inDetail("q.closed_detail")) \
            OR EXISTS(SELECT 1 FROM events e WHERE e.source = q.source AND e.part = q.sequence \
            AND (\(inName("q.use_case", "e.code")) OR \(inDetail("e.detail")))) \
            OR EXISTS(SELECT 1 FROM exchanges l WHERE l.source = q.source AND l.part = q.sequence \
            AND (\(like("(ifnull(l.host, '') || ifnull(l.path, ''))")) OR \(inDetail("l.opened_detail")) OR \(inDetail("l.closed_detail"))))))
            """,
        ]
        if let code = SupportCode(text) { places.append(SupportCode.matches("p.guid", argument(code.lastBytes))) }
        return "(\(places.joined(separator: " OR ")))"
    }

    /// A condition on the parent's ID needs no stored parent.
    private mutating func parent(_ relative: FilterCondition.Relative) -> String {
        if let condition = identified(relative, "p.parent") { return condition }
        return
            "EXISTS(SELECT 1 FROM parts r WHERE r.guid = p.parent AND r.listed_us IS NOT NULL AND \(self.relative(relative)))"
    }

    private mutating func root(_ relative: FilterCondition.Relative) -> String {
        let above = identified(relative, "r.parent").map { " OR ifnull(\($0), 0)" } ?? ""
        return """
            EXISTS(WITH RECURSIVE up(guid, parent, steps) AS (SELECT p.guid, p.parent, 0 UNION ALL \
            SELECT r.guid, r.parent, u.steps + 1 FROM up u CROSS JOIN parts r ON r.guid = u.parent AND r.listed_us IS NOT NULL \
            WHERE u.steps < \(ParentWalk.limit)) \
            SELECT 1 FROM up u CROSS JOIN parts r ON r.guid = u.guid AND r.listed_us IS NOT NULL \
            WHERE NOT EXISTS(SELECT 1 FROM parts x WHERE x.guid = u.parent AND x.listed_us IS NOT NULL) \
            AND (\(self.relative(relative))\(above)))
            """
    }

    private mutating func relative(_ relative: FilterCondition.Relative) -> String {
        switch relative {
        case .known: "1"
        case .transaction, .supportCode: identified(relative, "r.guid") ?? "1"
        case .useCase(let code): "r.use_case = \(argument(code))"
        case .outcome(let outcome): "\(SQL.outcome("r", now: argument(now))) = \(outcome.rawValue)"
        }
    }

    private mutating func identified(_ relative: FilterCondition.Relative, _ guid: String) -> String? {
        switch relative {
        case .transaction(let id): "\(guid) = \(argument(id))"
        case .supportCode(let code): SupportCode.matches(guid, argument(code.lastBytes))
        case .known, .useCase, .outcome: nil
        }
    }

    // MARK: Exchanges

    private mutating func path(_ path: String) -> String {
        let whole = "/" + path.drop { $0 == "/" }
        let below = SQL.escaped(whole.hasSuffix("/") ? whole : "\(whole)/") + "%"
        // LIKE ignores case, but paths are case-sensitive.
        return """
            (l.path = \(argument(whole)) OR (l.path LIKE \(argument(below)) ESCAPE '\\' \
            AND substr(l.path, 1, \(argument(whole.unicodeScalars.count))) = \(argument(whole))))
            """
    }

    private static func condition(_ state: ExchangeRecord.State) -> String {
        let isMocked = "(json_valid(l.closed_detail) AND json_extract(l.closed_detail, '$.mocked') IS 1)"
        return switch state {
        case .inProgress: "(l.closed IS NULL AND NOT s.ended)"
        case .interrupted: "(l.closed IS NULL AND s.ended)"
        case .completed: "(l.state = \(ExchangeState.completed.rawValue) AND \(isMocked) IS NOT 1)"
        case .mocked: "(l.state = \(ExchangeState.completed.rawValue) AND \(isMocked))"
        case .failed: "l.state = \(ExchangeState.failed.rawValue)"
        case .cancelled: "l.state = \(ExchangeState.cancelled.rawValue)"
        }
    }

    static let url: String = {
        func detail(_ name: String) -> String { SQL.detail("l.opened_detail", name) }
        return
            "(ifnull(\(detail("scheme")) || '://', '') || ifnull(l.host, '') || ifnull(':' || \(detail("port")), '') || l.path"
            + " || ifnull('?' || \(detail("query")), ''))"
    }()

    private mutating func mentionInExchange(of text: String) -> String {
        let like = "LIKE \(argument(SQL.pattern(containing: text))) ESCAPE '\\'"
        func inDetail(_ column: String) -> String {
            "(json_valid(\(column)) AND EXISTS(SELECT 1 FROM json_tree(\(column)) j WHERE j.type = 'text' AND j.atom \(like)))"
        }
        var places = [
            "(l.method || ' ' || \(Self.url)) \(like)", "\(SQL.text(guid: "p.guid")) \(like)",
            inDetail("l.opened_detail"), inDetail("l.closed_detail"),
        ]
        places.append(BodySearch.condition(word: words.count))
        words.append(text)
        if let code = SupportCode(text) { places.append(SupportCode.matches("p.guid", argument(code.lastBytes))) }
        return "(\(places.joined(separator: " OR ")))"
    }
}

extension SupportCode {
    var lastBytes: ColumnValue { .blob((0..<5).map { UInt8(truncatingIfNeeded: tail >> (8 * (4 - $0))) }) }

    static func matches(_ guid: String, _ bytes: String) -> String { "substr(\(guid), 12) = \(bytes)" }
}

package struct ErrorPattern {
    package var code: Int?
    package var text: String?

    package init(_ error: String) {
        guard error != "*" else { return }
        code = error.split(separator: " ").last.flatMap { Int($0) }
        let words = code == nil ? error : error.split(separator: " ").dropLast().joined(separator: " ")
        text = words.isEmpty ? nil : words
    }

    static func sql(
        _ column: String, _ detail: String, code: String?, words: (within: String, atEnd: String)?
    ) -> String {
        guard code != nil || words != nil else { return "(\(column) IS NOT NULL)" }
        func matches(_ number: String, _ member: (String) -> String, _ others: [String]) -> String {
            var conditions: [String] = []
            if let code { conditions.append("\(number) = \(code)") }
            if let words {
                let (domain, name) = (member("domain"), member("name"))
                let places =
                    ([domain, name] + others).map { "\($0) LIKE \(words.within) ESCAPE '\\'" }
                    + ["ifnull(\(domain), '') || ' ' || \(name) LIKE \(words.atEnd) ESCAPE '\\'"]
                conditions.append("(\(places.joined(separator: " OR ")))")
            }
            return conditions.joined(separator: " AND ")
        }
        let own = matches(column, { SQL.detail(detail, "error_\($0)") }, [SQL.detail(detail, "error_text")])
        let behind = matches(
            "json_extract(u.value, '$.code')", { "json_extract(u.value, '$.\($0)')" }, [])
        return """
            (\(column) IS NOT NULL AND ((\(own)) OR (instr(\(detail), '"error_underlying"') AND json_valid(\(detail)) \
            AND EXISTS(SELECT 1 FROM json_each(\(detail), '$.error_underlying') u WHERE u.type = 'object' AND \(behind)))))
            """
    }
}
