extension AnswerQuestion {
    /// The same question to DuckDB over the exported Parquet file; `nil` for lookups of single rows, which DuckDB is
    /// not made for.
    func duckDB(_ file: String) -> String? {
        let facts = "'\(file)'"
        switch self {
        case .summary: return Self.summary(facts)
        case .duration: return Self.duration(facts)
        case .funnel: return Self.funnel(facts)
        case .transitions: return Self.transitions(facts)
        case .legs: return Self.legs(facts)
        case .list, .find: return nil
        }
    }

    private static let outcomes = ["succeeded", "failed", "cancelled", "abandoned"]

    private static func summary(_ facts: String) -> String {
        """
        CREATE TEMP TABLE t AS SELECT o.use_case, o.installation, o.time_us // 86400000000 AS day, c.outcome, c.error_domain, c.error_code \
        FROM (FROM \(facts) WHERE kind = 'begun') o LEFT JOIN (FROM \(facts) WHERE kind = 'finished' AND NOT is_joined) c \
        ON c.source = o.source AND c.part = o.part;
        """
            + [0, 1].map { useCase in
                """
                SELECT \(useCase), count(*), count(DISTINCT installation), count(DISTINCT day), \
                count(*) FILTER (day = (SELECT min(day) FROM t WHERE use_case = \(useCase))), \
                \(outcomes.map { "count(*) FILTER (outcome = '\($0)')" }.joined(separator: ", ")), count(*) FILTER (outcome IS NULL) \
                FROM t WHERE use_case = \(useCase); \
                SELECT error_code, count(*) FROM t WHERE use_case = \(useCase) AND error_code IS NOT NULL GROUP BY error_domain, error_code \
                ORDER BY count(*) DESC, error_domain, error_code;
                """
            }.joined(separator: " ")
    }

    private static func duration(_ facts: String) -> String {
        """
        SELECT count(*), min(took), max(took), \([50, 75, 90, 95, 99].map { "quantile_disc(took, 0.\($0))" }.joined(separator: ", ")) FROM ( \
        SELECT min(at_us) FILTER (name = 'responseReceived') - min(at_us) FILTER (name = 'requestSent') AS took FROM \(facts) \
        WHERE kind = 'event' AND use_case = 0 AND name IN ('requestSent', 'responseReceived') GROUP BY source, part) WHERE took >= 0;
        """
    }

    private static func funnel(_ facts: String) -> String {
        let steps = ["initiated", "requestSent", "serverAccepted", "responseReceived"]
        let reached = (0...4).map { step in
            (0...step).map { $0 == 0 ? "t0 IS NOT NULL" : "t\($0) > t\($0 - 1)" }.joined(separator: " AND ")
        }
        return """
            CREATE TEMP TABLE f AS SELECT \
            \(steps.enumerated().map { "min(time_us) FILTER (name = '\($0.element)') AS t\($0.offset)" }.joined(separator: ", ")), \
            max(time_us) FILTER (kind = 'finished' AND NOT is_joined) AS t4 FROM \(facts) WHERE use_case = 0 GROUP BY transaction_id; \
            SELECT count(*) FILTER (\(reached[0])), 0, 0, \
            \((1...4).map { step in
                "count(*) FILTER (\(reached[step])), "
                    + [50, 99].map { "quantile_disc(t\(step) - t\(step - 1), 0.\($0)) FILTER (\(reached[step]))" }.joined(separator: ", ")
            }.joined(separator: ", ")) FROM f;
            """
    }

    private static func transitions(_ facts: String) -> String {
        """
        SELECT count(*), quantile_disc(took, 0.5), quantile_disc(took, 0.99) FROM ( \
        SELECT lag(name) OVER w AS before, name AS after, time_us - lag(time_us) OVER w AS took FROM \(facts) \
        WHERE kind = 'event' AND use_case = 0 WINDOW w AS (PARTITION BY transaction_id ORDER BY time_us, source, sequence)) \
        WHERE before IS NOT NULL GROUP BY before, after ORDER BY before, after;
        """
    }

    private static func legs(_ facts: String) -> String {
        func figures(_ leg: String, _ condition: String) -> String {
            let quantiles = [50, 99].map { "quantile_disc(\(leg), 0.\($0)) FILTER (\(condition))" }
                .joined(separator: ", ")
            return "count(*) FILTER (\(condition)), sum(\(leg)) FILTER (\(condition)), \(quantiles)"
        }
        return """
            CREATE TEMP TABLE l AS SELECT x.at_us - x.duration_us - (p.at_us - p.duration_us) AS before, q.duration_us AS server, \
            x.duration_us AS sending, p.at_us - x.at_us AS after FROM (FROM \(facts) WHERE kind = 'exchange_finished') x \
            JOIN (FROM \(facts) WHERE kind = 'finished' AND NOT is_joined AND use_case = 0) p ON p.source = x.source AND p.part = x.part \
            LEFT JOIN (FROM \(facts) WHERE kind = 'finished' AND is_joined) q ON q.transaction_id = x.transaction_id; \
            SELECT \(figures("before", "true")), \(figures("server", "server IS NOT NULL")), \(figures("sending", "server IS NULL")), \
            \(figures("after", "true")), count(server), sum(sending - server) FROM l;
            """
    }
}
