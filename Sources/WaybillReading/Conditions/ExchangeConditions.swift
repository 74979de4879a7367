import WaybillCore
import WaybillStore

/// A filter of exchanges as conditions on `network_logs l`, `sources s` and `parts p`; times apart, since they go by each source's clock.
struct ExchangeConditions {
    private(set) var sql = "l.method IS NOT NULL"
    private(set) var arguments: [any SQLValue] = []
    /// What is looked for in bodies, by its number in the temporary table `mentions`.
    private(set) var words: [String] = []

    /// What the conditions stand on.
    static let tables =
        "network_logs l JOIN sources s ON s.id = l.source LEFT JOIN parts p ON p.source = l.source AND p.sequence = l.part"

    /// - Parameters:
    ///   - isChosen: Whether only transactions of the temporary table `chosen` are meant.
    ///   - wall: Now, in microseconds since 1970: decides which transactions have timed out.
    init(_ filter: ExchangeFilter, isChosen: Bool, now wall: Int) {
        if isChosen { add("p.guid IN (SELECT guid FROM temp.chosen)") }
        if filter.useCase != nil || !filter.outcomes.isEmpty { add(transaction(filter.useCase, filter.outcomes, now: wall)) }
        if !filter.methods.isEmpty { add("l.method IN (\(filter.methods.sorted().map { argument($0) }.joined(separator: ", ")))") }
        if let statuses = filter.statuses { add("l.status BETWEEN \(argument(statuses.lowerBound)) AND \(argument(statuses.upperBound))") }
        if !filter.states.isEmpty { add(Self.condition(filter.states)) }
        if let text = filter.text, !text.isEmpty { add(mention(of: text)) }
        for condition in filter.conditions where condition.ofTransaction == nil { add(sql(of: condition)) }
    }

    /// A value that stands in the text of the statement.
    mutating func argument(_ value: any SQLValue) -> String {
        arguments.append(value)
        return "?\(arguments.count)"
    }

    mutating func add(_ condition: String) { sql += " AND \(condition)" }

    /// Of its leading part, which another source may have recorded.
    private mutating func transaction(_ useCase: Int?, _ outcomes: Set<TransactionOutcome>, now wall: Int) -> String {
        var conditions = ["t.guid = p.guid", "t.listed_us IS NOT NULL"]
        if let useCase { conditions.append("t.use_case = \(argument(useCase))") }
        if !outcomes.isEmpty {
            let outcome = """
                CASE WHEN t.outcome = \(TransactionOutcome.open.rawValue) AND \(SQL.lastActivity(guid: "t.guid")) + t.timeout_us < \(argument(wall)) \
                THEN \(TransactionOutcome.timedOut.rawValue) ELSE t.outcome END
                """
            conditions.append("\(outcome) IN (\(outcomes.map { "\($0.rawValue)" }.sorted().joined(separator: ", ")))")
        }
        // Else SQLite would look through all of the use case for each exchange.
        return "EXISTS(SELECT 1 FROM parts t INDEXED BY parts_by_guid WHERE \(conditions.joined(separator: " AND ")))"
    }

    /// In this state, of `network_logs l` and `sources s`.
    static func condition(_ state: ExchangeRecord.State) -> String {
        let isMocked = "(json_valid(l.closed_detail) AND json_extract(l.closed_detail, '$.mocked') IS 1)"
        return switch state {
        case .inProgress: "(l.closed IS NULL AND NOT s.ended)"
        case .interrupted: "(l.closed IS NULL AND s.ended)"
        case .completed: "(l.state = \(Fact.ExchangeState.completed.rawValue) AND \(isMocked) IS NOT 1)"
        case .mocked: "(l.state = \(Fact.ExchangeState.completed.rawValue) AND \(isMocked))"
        case .failed: "l.state = \(Fact.ExchangeState.failed.rawValue)"
        case .canceled: "l.state = \(Fact.ExchangeState.canceled.rawValue)"
        }
    }

    /// As people see it: scheme, host, port, path and query, as far as they are known.
    private static let url: String = {
        func detail(_ name: String) -> String { SQL.detail("l.opened_detail", name) }
        return "(ifnull(\(detail("scheme")) || '://', '') || ifnull(l.host, '') || ifnull(':' || \(detail("port")), '') || l.path"
            + " || ifnull('?' || \(detail("query")), ''))"
    }()

    /// In any case as far as ASCII goes, as in the list of transactions.
    mutating func mention(of text: String) -> String {
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
        if let code = SupportCode(text) { places.append(ListQuery.matches("p.guid", argument(code.lastBytes))) }
        return "(\(places.joined(separator: " OR ")))"
    }
}
