import WaybillCore
import WaybillStore

package struct AttributeSQL {
    private let name: String
    private let mark: String

    init(name: String, mark: String) { (self.name, self.mark) = (name, mark) }

    package init(literally name: String) {
        let short = name.cut(to: Limits.nameLength)
        self.init(name: Self.literal(short), mark: Self.literal(Self.mark(of: short)))
    }

    /// The JSON string of a name. Searching for it is cheaper than parsing the JSON.
    static func mark(of name: String) -> String {
        var writer = JSONWriter()
        writer.string(name)
        return writer.text
    }

    private static func literal(_ text: String) -> String {
        "CAST(x'\(text.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())' AS TEXT)"
    }

    func isIn(_ detail: String, where condition: String? = nil) -> String {
        isIn(detail, at: "$.attributes", condition)
    }

    private func isIn(_ json: String, at path: String, _ condition: String?) -> String {
        """
        (instr(\(json), \(mark)) AND json_valid(\(json)) AND EXISTS(SELECT 1 FROM json_each(\(json), '\(path)') j \
        WHERE j.key = \(name)\(condition.map { " AND \($0)" } ?? "")))
        """
    }

    func isAnywhere(where condition: String?) -> String {
        """
        EXISTS(SELECT 1 FROM parts q WHERE q.guid = p.guid AND (\(isIn("q.opened_detail", where: condition)) \
        OR \(isIn("q.closed_detail", where: condition)) \
        OR EXISTS(SELECT 1 FROM events e WHERE e.source = q.source AND e.part = q.sequence AND \(isIn("e.detail", where: condition))) \
        OR EXISTS(SELECT 1 FROM sources t WHERE t.id = q.source AND \(isIn("t.attributes", at: "$", condition)))))
        """
    }

    private func says(_ detail: String) -> String {
        """
        (\(isIn(detail)) OR (instr(\(detail), \(mark)) AND json_valid(\(detail)) \
        AND EXISTS(SELECT 1 FROM json_each(\(detail), '$.removed') r WHERE r.atom = \(name))))
        """
    }

    /// The closing wins over events, a part over its source, and the leading part over the others.
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

extension ConditionSQL {
    static let exchanges =
        "exchanges l JOIN sources s ON s.id = l.source LEFT JOIN parts p ON p.source = l.source AND p.sequence = l.part"

    /// Combines all conditions except times, which depend on each source's clock.
    init(_ filter: ExchangeFilter, isChosen: Bool, now wall: Int64) {
        self.init(about: .exchanges, now: wall)
        sql = "l.method IS NOT NULL" + (isChosen ? " AND p.guid IN (SELECT guid FROM temp.chosen)" : "")
        // An index serves conditions on both subjects. The other transaction conditions filled `chosen`.
        for condition in filter.conditions where condition.isIndexed == condition.isOfTransaction { add(condition) }
    }

    mutating func add(_ condition: FilterCondition) { sql += " AND \(sql(of: condition))" }
}
