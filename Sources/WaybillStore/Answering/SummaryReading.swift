import WaybillCore

/// Answers a ``SummaryQuery``: SQLite counts, since nothing here needs an order.
struct SummaryReading {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func answer(_ query: SummaryQuery, now wall: Int) throws(WaybillError) -> SummaryAnswer {
        var summaries: [Int: UseCaseSummary] = [:]
        var rates: [Int: [Int: UseCaseSummary.Rate]] = [:]
        var errors: [Int: [RecordedError: Int]] = [:]
        let step = max(1, query.stepMicroseconds)
        let list = ListQuery(all: Self.columns, query.filter, now: wall)
        let counts = """
            SELECT use_case, outcome, listed_us / \(step) - (listed_us % \(step) < 0), is_timed_out, error_code, \
            CASE WHEN error_code IS NULL THEN NULL ELSE json_extract(closed_detail, '$.error_domain') END, count(*) \
            FROM (\(list.sql.replacing("{now}", with: String(wall)))) GROUP BY 1, 2, 3, 4, 5, 6
            """
        try connection.statement(counts).forEachRow(arguments: list.arguments) { row in
            let (useCase, count) = (row.int(0), row.int(6))
            let outcome = row.bool(3) ? Outcome.timedOut : Outcome(rawValue: row.int(1)) ?? .open
            var summary =
                summaries[useCase]
                ?? UseCaseSummary(useCase: useCase, name: "", runs: 0, outcomes: [:], errors: [], installations: 0, rates: [])
            summary.runs += count
            summary.outcomes[outcome, default: 0] += count
            summaries[useCase] = summary
            let start = row.int(2)
            var rate =
                rates[useCase]?[start] ?? UseCaseSummary.Rate(startMicroseconds: start * step, runs: 0, failed: 0, abandoned: 0)
            rate.runs += count
            if outcome == .failed { rate.failed += count }
            if outcome == .abandoned { rate.abandoned += count }
            rates[useCase, default: [:]][start] = rate
            if let code = row.optionalInt(4) {
                errors[useCase, default: [:]][RecordedError(domain: row.text(5), code: code), default: 0] += count
            }
        }
        let installations = try installations(query.filter, now: wall)
        let names = NameTable(connection)
        var answer: [UseCaseSummary] = []
        for (useCase, found) in summaries {
            var summary = found
            summary.name = try names.useCase(useCase)
            summary.installations = installations[useCase] ?? 0
            summary.rates = (rates[useCase] ?? [:]).values.sorted { $0.startMicroseconds < $1.startMicroseconds }
            summary.errors = (errors[useCase] ?? [:]).map { .init(domain: $0.key.domain, code: $0.key.code, count: $0.value) }
                .sorted { (-$0.count, $0.domain, $0.code) < (-$1.count, $1.domain, $1.code) }
            answer.append(summary)
        }
        return SummaryAnswer(useCases: answer.sorted { (-$0.runs, $0.useCase) < (-$1.runs, $1.useCase) })
    }

    private static let columns = """
        p.use_case, p.outcome, p.listed_us, p.error_code, p.closed_detail, p.source, \
        CASE p.outcome WHEN 0 THEN \(SQL.lastActivity(guid: "p.guid")) + p.timeout_us < {now} ELSE 0 END AS is_timed_out
        """

    private func installations(_ filter: TransactionFilter, now wall: Int) throws(WaybillError) -> [Int: Int] {
        let list = ListQuery(all: "p.use_case, p.source", filter, now: wall)
        var counts: [Int: Int] = [:]
        let sql = """
            SELECT use_case, count(DISTINCT s.installation) FROM (SELECT DISTINCT use_case, source FROM (\(list.sql))) l \
            JOIN sources s ON s.id = l.source GROUP BY 1
            """
        try connection.statement(sql).forEachRow(arguments: list.arguments) { row in counts[row.int(0)] = row.int(1) }
        return counts
    }
}
