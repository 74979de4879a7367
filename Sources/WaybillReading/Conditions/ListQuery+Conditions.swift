import WaybillCore
import WaybillStore

/// Conditions on the leading part `p` of a transaction.
extension ListQuery {
    mutating func sql(of condition: TransactionCondition) -> String {
        switch condition {
        case .useCase(let code): "p.use_case = \(argument(code))"
        case .event(let name): event(name)
        case .error(let error): self.error(error)
        case .attribute(let name, let value): attribute(name, value)
        case .status(let range): exchange("l.status BETWEEN \(argument(range.lowerBound)) AND \(argument(range.upperBound))")
        case .exchange(let state): exchange(ExchangeConditions.condition(state))
        case .app(let value): source("s.app = \(argument(value)) COLLATE NOCASE")
        case .appVersion(let value): source("s.app_version = \(argument(value)) COLLATE NOCASE")
        case .device(let value): source("s.device = \(argument(value)) COLLATE NOCASE")
        case .osVersion(let value): source("s.os_version = \(argument(value)) COLLATE NOCASE")
        case .os(let value): os(value)
        case .tookMoreThan(let microseconds): "p.closed_at_us - p.at_us > \(argument(microseconds))"
        case .tookLessThan(let microseconds): "p.closed_at_us - p.at_us < \(argument(microseconds))"
        case .text(let text): mention(of: text)
        case .not(let condition): "NOT ifnull(\(sql(of: condition)), 0)"
        }
    }

    /// What any source of it calls so: the codes that have the name anywhere are few, so that names are looked up for those alone.
    private mutating func event(_ name: String) -> String {
        let text = argument(name)
        let code = TransactionCondition.code(ofUnnamed: name).map { " UNION ALL SELECT \(argument($0))" } ?? ""
        let named = SQL.name(
            useCase: "q.use_case", event: "e.code", app: "s.app", version: "s.app_version", otherwise: "'event ' || e.code")
        return """
            EXISTS(SELECT 1 FROM parts q CROSS JOIN sources s ON s.id = q.source \
            CROSS JOIN events e ON e.source = q.source AND e.part = q.sequence WHERE q.guid = p.guid \
            AND e.code IN (SELECT m.event FROM names m WHERE m.name = \(text) AND m.event >= 0\(code)) AND \(named) = \(text))
            """
    }

    private mutating func error(_ text: String) -> String {
        let error = ErrorPattern(text)
        let code = error.code.map { argument($0) }
        let pattern = error.text.map { argument(SQL.pattern(containing: $0)) }
        func matches(_ column: String, _ detail: String) -> String { ErrorPattern.sql(column, detail, code: code, pattern: pattern) }
        return """
            EXISTS(SELECT 1 FROM parts q WHERE q.guid = p.guid AND (\(matches("q.error_code", "q.closed_detail")) \
            OR EXISTS(SELECT 1 FROM events e WHERE e.source = q.source AND e.part = q.sequence AND e.detail IS NOT NULL \
            AND \(matches(SQL.detail("e.detail", "error_code"), "e.detail"))) \
            OR EXISTS(SELECT 1 FROM network_logs l WHERE l.source = q.source AND l.part = q.sequence \
            AND \(matches("l.error_code", "l.closed_detail")))))
            """
    }

    private mutating func attribute(_ name: String, _ value: String?) -> String {
        var conditions = ["j.key = \(argument(name))"]
        if let value {
            let text = argument(value)
            // A number is the same number however it is written; any other text cast to one would be 0.
            let isNumber = value.utf8.allSatisfy { "+-.0123456789eE".utf8.contains($0) } && Double(value) != nil
            let number = isNumber ? " OR (j.type IN ('integer', 'real') AND j.atom = CAST(\(text) AS NUMERIC))" : ""
            conditions.append("((j.type = 'text' AND j.atom = \(text)) OR (j.type IN ('true', 'false') AND j.type = \(text))\(number))")
        }
        return """
            (json_valid(p.opened_detail) AND EXISTS(SELECT 1 FROM json_each(p.opened_detail, '$.attributes') j \
            WHERE \(conditions.joined(separator: " AND "))))
            """
    }

    private func exchange(_ condition: String) -> String {
        """
        EXISTS(SELECT 1 FROM parts q CROSS JOIN sources s ON s.id = q.source \
        CROSS JOIN network_logs l ON l.source = q.source AND l.part = q.sequence \
        WHERE q.guid = p.guid AND l.method IS NOT NULL AND \(condition))
        """
    }

    private func source(_ condition: String) -> String { "p.source IN (SELECT s.id FROM sources s WHERE \(condition))" }

    private mutating func os(_ value: String) -> String {
        let system = "s.os || ' ' || s.os_version || ' '"
        let beginnings = [" %", ".%"].map { argument(SQL.escaped(value) + $0) }
        return source(beginnings.map { "\(system) LIKE \($0) ESCAPE '\\'" }.joined(separator: " OR "))
    }

    /// The text in the ID, the support code, a name, an attribute (its name, its value, or both as `sku=A1`), an error, or the host or path of an exchange.
    ///
    /// In any case as far as ASCII goes, which is SQLite's LIKE; other letters as they are.
    private mutating func mention(of text: String) -> String {
        let pattern = argument(SQL.pattern(containing: text))
        func like(_ expression: String) -> String { "\(expression) LIKE \(pattern) ESCAPE '\\'" }
        // As pages and commands print it: `wide=true`.
        let shown = "CASE j.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE ifnull(j.atom, '') END"
        func inDetail(_ column: String) -> String {
            """
            (json_valid(\(column)) AND EXISTS(SELECT 1 FROM json_tree(\(column)) j \
            WHERE \(like("j.atom")) OR (j.path = '$.attributes' AND \(like("j.key || '=' || \(shown)")))))
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
            OR EXISTS(SELECT 1 FROM network_logs l WHERE l.source = q.source AND l.part = q.sequence \
            AND (\(like("(ifnull(l.host, '') || ifnull(l.path, ''))")) OR \(inDetail("l.opened_detail")) OR \(inDetail("l.closed_detail"))))))
            """,
        ]
        if let code = SupportCode(text) { places.append(Self.matches("p.guid", argument(code.lastBytes))) }
        return "(\(places.joined(separator: " OR ")))"
    }

    /// Whether a GUID ends with these bytes.
    static func matches(_ guid: String, _ bytes: String) -> String { "substr(\(guid), 12) = \(bytes)" }
}

extension SupportCode {
    /// The last five bytes of the GUIDs that have this code.
    var lastBytes: ColumnValue { .blob((0..<5).map { UInt8(truncatingIfNeeded: tail >> (8 * (4 - $0))) }) }
}

/// What ``TransactionCondition/error(_:)`` asks for, taken apart.
struct ErrorPattern {
    /// nil: any.
    var code: Int?
    /// In domain or text; nil: any.
    var text: String?

    init(_ error: String) {
        guard error != "*" else { return }
        code = error.split(separator: " ").last.flatMap { Int($0) }
        let words = code == nil ? error : error.split(separator: " ").dropLast().joined(separator: " ")
        text = words.isEmpty ? nil : words
    }

    /// Whether a code, and the domain or the text in a `DetailColumn`, are those of the pattern, whose parts are arguments of the statement.
    static func sql(_ column: String, _ detail: String, code: String?, pattern: String?) -> String {
        var conditions = ["\(column) IS NOT NULL"]
        if let code { conditions.append("\(column) = \(code)") }
        if let pattern {
            let places = ["error_domain", "error_text"].map { "\(SQL.detail(detail, $0)) LIKE \(pattern) ESCAPE '\\'" }
            conditions.append("(\(places.joined(separator: " OR ")))")
        }
        return "(\(conditions.joined(separator: " AND ")))"
    }
}
