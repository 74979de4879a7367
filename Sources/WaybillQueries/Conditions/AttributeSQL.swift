import WaybillCore
import WaybillStore

/// Where attributes are found: what was said when a part was opened, with its events, when some were set, when it was
/// closed, and of its source.
package struct AttributeSQL {
    /// The name, and what stands for it where there is one, as expressions of a statement.
    private let name: String
    private let mark: String

    /// - Parameters:
    ///   - name: The name as an expression.
    ///   - mark: ``mark(of:)`` as an expression.
    init(name: String, mark: String) { (self.name, self.mark) = (name, mark) }

    /// For statements that take no arguments. Of a name that is longer than any can be nothing is found.
    package init(literally name: String) {
        let short = name.cut(to: Limits.nameLength) ?? name
        self.init(name: Self.literal(short), mark: Self.literal(Self.mark(of: short)))
    }

    /// A text without which no JSON has a member of that name: looking for it costs less than reading the JSON.
    static func mark(of name: String) -> String {
        var writer = JSONWriter()
        writer.string(name)
        return writer.text
    }

    private static func literal(_ text: String) -> String {
        "CAST(x'\(text.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())' AS TEXT)"
    }

    /// Whether a `DetailColumn` has a value of the name, of which a condition on `json_each j` holds.
    func isIn(_ detail: String, where condition: String? = nil) -> String {
        isIn(detail, at: "$.attributes", condition)
    }

    private func isIn(_ json: String, at path: String, _ condition: String?) -> String {
        """
        (instr(\(json), \(mark)) AND json_valid(\(json)) AND EXISTS(SELECT 1 FROM json_each(\(json), '\(path)') j \
        WHERE j.key = \(name)\(condition.map { " AND \($0)" } ?? "")))
        """
    }

    /// Whether anything of the transaction of part `p` says the name, at any time.
    func isAnywhere(where condition: String?) -> String {
        """
        EXISTS(SELECT 1 FROM parts q WHERE q.guid = p.guid AND (\(isIn("q.opened_detail", where: condition)) \
        OR \(isIn("q.closed_detail", where: condition)) \
        OR EXISTS(SELECT 1 FROM events e WHERE e.source = q.source AND e.part = q.sequence AND \(isIn("e.detail", where: condition))) \
        OR EXISTS(SELECT 1 FROM sources t WHERE t.id = q.source AND \(isIn("t.attributes", at: "$", condition)))))
        """
    }

    /// Whether a detail says what the value is, or that there is none any more.
    private func says(_ detail: String) -> String {
        """
        (\(isIn(detail)) OR (instr(\(detail), \(mark)) AND json_valid(\(detail)) \
        AND EXISTS(SELECT 1 FROM json_each(\(detail), '$.removed') r WHERE r.atom = \(name))))
        """
    }

    /// The `DetailColumn` that says last what the value in the transaction of the leading part `p` is; NULL: none does.
    ///
    /// The closing before events, the latest of these first, before the opening; what the part says before its source;
    /// the leading part before the others, in the order of their sources.
    package var latest: String {
        """
        coalesce(\(latest(in: "p")), (SELECT \(latest(in: "q")) FROM parts q JOIN sources t ON t.id = q.source \
        WHERE q.guid = p.guid AND (q.source, q.sequence) <> (p.source, p.sequence) AND \(latest(in: "q")) IS NOT NULL \
        ORDER BY t.uuid, q.sequence LIMIT 1))
        """
    }

    private func latest(in part: String) -> String {
        """
        coalesce(CASE WHEN \(says("\(part).closed_detail")) THEN \(part).closed_detail END, \
        (SELECT e.detail FROM events e WHERE e.source = \(part).source AND e.part = \(part).sequence AND \(says("e.detail")) \
        ORDER BY e.after DESC LIMIT 1), \
        CASE WHEN \(says("\(part).opened_detail")) THEN \(part).opened_detail END, \
        (SELECT '{"attributes":' || x.attributes || '}' FROM sources x WHERE x.id = \(part).source \
        AND \(isIn("x.attributes", at: "$", nil))))
        """
    }
}

/// A filter of exchanges.
extension ConditionSQL {
    /// The tables that conditions on exchanges look at.
    static let exchanges =
        "network_logs l JOIN sources s ON s.id = l.source LEFT JOIN parts p ON p.source = l.source AND p.sequence = l.part"

    /// All conditions of a filter except times, which depend on each source's clock.
    ///
    /// - Parameters:
    ///   - isChosen: Whether only transactions of the temporary table `chosen` are meant.
    ///   - wall: Now, in microseconds since 1970: decides which transactions have timed out.
    init(_ filter: ExchangeFilter, isChosen: Bool, now wall: Int64) {
        self.init(about: .exchanges, now: wall)
        sql = "l.method IS NOT NULL" + (isChosen ? " AND p.guid IN (SELECT guid FROM temp.chosen)" : "")
        // Conditions on both are found by an index; the other conditions on transactions chose these.
        for condition in filter.conditions where condition.isIndexed == condition.isOfTransaction { add(condition) }
    }

    mutating func add(_ condition: FilterCondition) { sql += " AND \(sql(of: condition))" }
}
