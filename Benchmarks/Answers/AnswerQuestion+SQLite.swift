extension AnswerQuestion {
    /// The best known statements for the same question on the same file. Statements that return rows return the numbers
    /// of the answer.
    ///
    /// They use knowledge about this store that the library cannot have: that versions of the app number their events
    /// alike, that no transaction is open, that clocks were set once, which transactions have only one source, and that
    /// a transaction has at most one exchange, which at most one part was joined by.
    var sqlite: [String] {
        switch self {
        case .summary: Self.summaryStatements
        case .duration: Self.durationStatements
        case .funnel: Self.funnelStatements
        case .transitions: Self.transitionsStatements
        case .legs: Self.legsStatements
        case .list: [Self.page("")]
        case .find: [Self.page("AND p.use_case = 0 AND p.outcome = 2 AND p.listed_us < \(Self.until)")]
        }
    }

    private static let summaryStatements =
        [
            """
            CREATE TEMP TABLE counts AS SELECT use_case, outcome, listed_us / 86400000000 AS day, count(*) AS runs \
            FROM parts WHERE listed_us IS NOT NULL GROUP BY 1, 2, 3
            """,
            """
            CREATE TEMP TABLE errors AS SELECT use_case, json_extract(closed_detail, '$.error_domain') AS domain, error_code, count(*) AS runs \
            FROM parts WHERE listed_us IS NOT NULL AND error_code IS NOT NULL GROUP BY 1, 2, 3
            """,
            """
            CREATE TEMP TABLE installations AS SELECT use_case, count(DISTINCT s.installation) AS installations \
            FROM (SELECT DISTINCT use_case, source FROM parts WHERE listed_us IS NOT NULL) l JOIN sources s ON s.id = l.source GROUP BY 1
            """,
        ]
        + [0, 1].flatMap { useCase in
            [
                """
                SELECT \(useCase), sum(runs), (SELECT installations FROM installations WHERE use_case = \(useCase)), count(DISTINCT day), \
                sum(CASE WHEN day = (SELECT min(day) FROM counts WHERE use_case = \(useCase)) THEN runs END), \
                \((1...5).map { "sum(CASE WHEN outcome = \($0) THEN runs ELSE 0 END)" }.joined(separator: ", ")) \
                FROM counts WHERE use_case = \(useCase)
                """,
                "SELECT error_code, runs FROM errors WHERE use_case = \(useCase) ORDER BY runs DESC, domain, error_code",
            ]
        }

    private static let durationStatements =
        [
            """
            CREATE TEMP TABLE d AS SELECT took FROM ( \
            SELECT min(CASE WHEN e.code = 4 THEN e.at_us END) - min(CASE WHEN e.code = 3 THEN e.at_us END) AS took \
            FROM parts p JOIN events e ON e.source = p.source AND e.part = p.sequence \
            WHERE p.use_case = 0 AND p.joined = 0 AND e.code IN (3, 4) GROUP BY p.source, p.sequence) WHERE took >= 0 ORDER BY took
            """,
            "SELECT count(*), min(took), max(took) FROM d",
        ] + [50, 75, 90, 95, 99].map { quantile($0, of: "took", in: "d") }

    /// Returns a statement for a quantile of a table that is sorted by the column.
    private static func quantile(_ percent: Int, of column: String, in table: String) -> String {
        "SELECT \(column) FROM \(table) WHERE rowid = (SELECT (\(percent) * count(*) + 99) / 100 FROM \(table))"
    }

    /// Each transaction's first times, in the order of the index that finds its parts.
    private static let funnelStatements =
        [
            """
            CREATE TEMP TABLE f AS SELECT \
            min(CASE WHEN e.code = 0 THEN e.at_us + c.offset_us END) AS t0, min(CASE WHEN e.code = 3 THEN e.at_us + c.offset_us END) AS t1, \
            min(CASE WHEN e.code = 11 THEN e.at_us + c.offset_us END) AS t2, min(CASE WHEN e.code = 4 THEN e.at_us + c.offset_us END) AS t3, \
            max(CASE WHEN p.joined = 0 THEN p.closed_at_us + c.offset_us END) AS t4 \
            FROM parts p JOIN clocks c ON c.source = p.source LEFT JOIN events e ON e.source = p.source AND e.part = p.sequence \
            AND e.code IN (0, 3, 4, 11) WHERE p.use_case = 0 AND p.guid IS NOT NULL GROUP BY p.guid
            """
        ]
        + (0...4).flatMap { step -> [String] in
            let reached = (0...step).map { $0 == 0 ? "t0 IS NOT NULL" : "t\($0) > t\($0 - 1)" }.joined(
                separator: " AND ")
            guard step > 0 else { return ["SELECT count(*), 0, 0 FROM f WHERE \(reached)"] }
            return [
                "CREATE TEMP TABLE s\(step) AS SELECT t\(step) - t\(step - 1) AS took FROM f WHERE \(reached) ORDER BY 1",
                "SELECT count(*) FROM s\(step)",
                quantile(50, of: "took", in: "s\(step)"), quantile(99, of: "took", in: "s\(step)"),
            ]
        }

    private static let names =
        "CASE code "
        + AnswerStore.loginNames.enumerated().map { "WHEN \($0.offset) THEN '\($0.element)'" }.joined(separator: " ")
        + AnswerStore.serverNames.map { " WHEN \($0.key) THEN '\($0.value)'" }.joined() + " END"

    private static let transitionsStatements = [
        """
        WITH e AS (SELECT p.guid, p.source, e.sequence, e.code, e.at_us + c.offset_us AS wall FROM parts p JOIN clocks c ON c.source = p.source \
        JOIN events e ON e.source = p.source AND e.part = p.sequence WHERE p.use_case = 0), \
        steps AS (SELECT lag(code) OVER w AS before, code AS after, wall - lag(wall) OVER w AS took FROM e \
        WINDOW w AS (PARTITION BY guid ORDER BY wall, source, sequence)), \
        ranked AS (SELECT before, after, took, row_number() OVER (PARTITION BY before, after ORDER BY took) AS rank, \
        count(*) OVER (PARTITION BY before, after) AS runs FROM steps WHERE before IS NOT NULL) \
        SELECT max(runs), max(CASE WHEN rank = (50 * runs + 99) / 100 THEN took END), \
        max(CASE WHEN rank = (99 * runs + 99) / 100 THEN took END) FROM ranked GROUP BY before, after \
        ORDER BY \(names.replacing("code", with: "before")), \(names.replacing("code", with: "after"))
        """
    ]

    private static let legsStatements =
        [
            """
            CREATE TEMP TABLE l AS SELECT l.at_us - p.at_us AS before, q.closed_at_us - q.at_us AS server, l.closed_at_us - l.at_us AS sending, \
            p.closed_at_us - l.closed_at_us AS after \
            FROM exchanges l JOIN parts p ON p.source = l.source AND p.sequence = l.part \
            LEFT JOIN parts q ON q.guid = p.guid AND q.joined = 1 WHERE p.use_case = 0 AND p.closed IS NOT NULL
            """
        ]
        + [
            ("before", ""), ("server", "WHERE server IS NOT NULL"), ("sending", "WHERE server IS NULL"),
            ("after", ""),
        ].flatMap { leg, condition in
            [
                "CREATE TEMP TABLE l_\(leg) AS SELECT \(leg) AS took FROM l \(condition) ORDER BY 1",
                "SELECT count(*), sum(took) FROM l_\(leg)",
                quantile(50, of: "took", in: "l_\(leg)"), quantile(99, of: "took", in: "l_\(leg)"),
            ]
        } + ["SELECT count(server), sum(sending - server) FROM l"]

    /// Returns a statement for a page, including the details that a list shows for each transaction.
    private static func page(_ conditions: String) -> String {
        """
        SELECT p.listed_us, (SELECT count(*) FROM parts q JOIN events e ON e.source = q.source AND e.part = q.sequence WHERE q.guid = p.guid) \
        FROM parts p WHERE p.listed_us IS NOT NULL \(conditions) ORDER BY p.listed_us DESC, p.source DESC, p.sequence DESC LIMIT \(pageLength)
        """
    }
}
