import WaybillCore

/// The statement that finds the transactions of a list, newest first.
///
/// One arm for each stored outcome, each in the order of an index; SQLite merges them, so that a page costs what it shows.
struct ListQuery {
    private(set) var sql = ""
    private(set) var arguments: [any SQLValue] = []

    init(_ filter: TransactionFilter, limit: Int, after cursor: ListCursor?, now wall: Int) {
        let arms = arms(of: "p.listed_us, p.source, p.sequence", filter, after: cursor, now: wall)
        sql = arms + " ORDER BY 1 DESC, 2 DESC, 3 DESC LIMIT \(argument(limit))"
    }

    /// All that pass, in no order.
    ///
    /// - Parameter columns: Of the leading part `p`.
    init(all columns: String, _ filter: TransactionFilter, now wall: Int) {
        sql = arms(of: columns, filter, after: nil, now: wall)
    }

    private mutating func arms(of columns: String, _ filter: TransactionFilter, after cursor: ListCursor?, now wall: Int) -> String {
        var conditions = ["p.listed_us IS NOT NULL"]
        if let useCase = filter.useCase { conditions.append("p.use_case = \(argument(useCase))") }
        if let since = filter.sinceMicroseconds { conditions.append("p.listed_us >= \(argument(since))") }
        if let until = filter.untilMicroseconds { conditions.append("p.listed_us < \(argument(until))") }
        if let cursor {
            let place = "\(argument(cursor.listed)), \(argument(cursor.source)), \(argument(cursor.sequence))"
            conditions.append("(p.listed_us, p.source, p.sequence) < (\(place))")
        }
        if let text = filter.text, !text.isEmpty { conditions.append(mention(of: text)) }
        // What is stored as open may have timed out since.
        let wanted = filter.outcomes.isEmpty ? Set(Outcome.allCases) : filter.outcomes
        let isTimedOut =
            wanted.contains(.open) == wanted.contains(.timedOut)
            ? "" : "(\(SQL.lastActivity(guid: "p.guid")) + p.timeout_us < \(argument(wall)))"
        let arms = Outcome.allCases.filter { $0 != .timedOut }.compactMap { stored -> String? in
            var arm = conditions + ["p.outcome = \(stored.rawValue)"]
            switch (stored == .open, wanted.contains(stored), wanted.contains(.timedOut)) {
            case (true, true, false): arm.append("NOT \(isTimedOut)")
            case (true, false, true): arm.append(isTimedOut)
            case (true, true, true), (false, true, _): break
            case (true, false, false), (false, false, _): return nil
            }
            return "SELECT \(columns) FROM parts p WHERE \(arm.joined(separator: " AND "))"
        }
        return arms.joined(separator: " UNION ALL ")
    }

    private mutating func argument(_ value: any SQLValue) -> String {
        arguments.append(value)
        return "?\(arguments.count)"
    }

    /// The text in the ID, the support code, a name, an attribute, an error, or the host or path of an exchange.
    ///
    /// In any case as far as ASCII goes, which is SQLite's LIKE; other letters as they are.
    private mutating func mention(of text: String) -> String {
        let pattern = argument(SQL.pattern(containing: text))
        func like(_ expression: String) -> String { "\(expression) LIKE \(pattern) ESCAPE '\\'" }
        func inDetail(_ column: String) -> String {
            """
            (json_valid(\(column)) AND EXISTS(SELECT 1 FROM json_tree(\(column)) j \
            WHERE \(like("j.atom")) OR (j.path = '$.attributes' AND \(like("j.key")))))
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
        if let code = SupportCode(text) { places.append(Self.matches("p.guid", argument(code.lastDigits))) }
        return "(\(places.joined(separator: " OR ")))"
    }

    /// Whether a GUID ends with these digits, in upper case.
    static func matches(_ guid: String, _ digits: String) -> String { "substr(hex(\(guid)), 23) = \(digits)" }
}

extension SupportCode {
    /// The last ten hexadecimal digits of the GUIDs that have this code.
    var lastDigits: String {
        let digits = String(tail, radix: 16, uppercase: true)
        return String(repeating: "0", count: 10 - digits.count) + digits
    }
}
