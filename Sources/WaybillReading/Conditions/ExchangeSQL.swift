import WaybillCore
import WaybillStore

/// A filter of exchanges as conditions on `network_logs l`, `sources s` and `parts p`; times apart, since they go by
/// each source's clock.
struct ExchangeSQL {
    private(set) var sql = "l.method IS NOT NULL"
    private var values: ConditionSQL

    var arguments: [any SQLValue] { values.arguments }
    /// What is looked for in bodies, by its number in the temporary table `mentions`.
    var words: [String] { values.words }

    /// What the conditions stand on.
    static let tables =
        "network_logs l JOIN sources s ON s.id = l.source LEFT JOIN parts p ON p.source = l.source AND p.sequence = l.part"

    /// - Parameters:
    ///   - isChosen: Whether only transactions of the temporary table `chosen` are meant.
    ///   - wall: Now, in microseconds since 1970: decides which transactions have timed out.
    init(_ filter: ExchangeFilter, isChosen: Bool, now wall: Int64) {
        values = ConditionSQL(about: .exchanges, now: wall)
        if isChosen { add("p.guid IN (SELECT guid FROM temp.chosen)") }
        if filter.useCase != nil || !filter.outcomes.isEmpty {
            add(transaction(filter.useCase, filter.outcomes, now: wall))
        }
        for condition in filter.terms { add(values.sql(of: condition)) }
    }

    /// A value that stands in the text of the statement.
    mutating func argument(_ value: any SQLValue) -> String { values.argument(value) }

    mutating func add(_ condition: String) { sql += " AND \(condition)" }

    /// Of its leading part, which another source may have recorded.
    private mutating func transaction(_ useCase: Int?, _ outcomes: Set<TransactionOutcome>, now wall: Int64) -> String {
        var conditions = ["t.guid = p.guid", "t.listed_us IS NOT NULL"]
        if let useCase { conditions.append("t.use_case = \(values.argument(useCase))") }
        if !outcomes.isEmpty {
            let outcome = SQL.outcome("t", now: values.argument(wall))
            conditions.append("\(outcome) IN (\(outcomes.map { "\($0.rawValue)" }.sorted().joined(separator: ", ")))")
        }
        // Else SQLite would look through all of the use case for each exchange.
        return "EXISTS(SELECT 1 FROM parts t INDEXED BY parts_by_guid WHERE \(conditions.joined(separator: " AND ")))"
    }
}
