import WaybillCore

/// The views for the `sqlite3` shell, with names for codes and dates for times.
enum Views {
    static let script = transactions + timeline + network + ledgers

    private static let transactions = """
        CREATE VIEW transactions AS -- one row each; try: SELECT * FROM transactions ORDER BY begun_us DESC LIMIT 20;
        SELECT id, support_code, use_case, use_case_name,
          \(words("CASE WHEN outcome = 0 AND last_us + timeout_us < now_us THEN \(TransactionOutcome.timedOut.rawValue) ELSE outcome END", TransactionOutcome.allCases.map { ($0.rawValue, $0.name) })) AS outcome,
          \(SQL.iso8601("begun_us")) AS begun, begun_us, duration_us,
          \(SQL.iso8601("last_us")) AS last_activity, last_us,
          error_domain, error_code, error_name, attributes, waiting_for_beginner, parent, source, app, app_version,
          ended_by, sample_ppm, sample_kept, sources, events, exchanges
        FROM (
          SELECT \(SQL.text(guid: "p.guid")) AS id, \(SQL.supportCode(guid: "p.guid")) AS support_code, p.use_case,
            \(SQL.name(useCase: "p.use_case", event: "-1", otherwise: "'use case ' || p.use_case")) AS use_case_name,
            p.outcome, p.listed_us AS begun_us, p.duration_us, p.timeout_us,
            \(SQL.lastActivity(guid: "p.guid")) AS last_us,
            CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) AS now_us,
            json_extract(p.closed_detail, '$.error_domain') AS error_domain, p.error_code,
            json_extract(p.closed_detail, '$.error_name') AS error_name,
            \(latestAttributes) AS attributes, p.joined AS waiting_for_beginner,
            CASE WHEN p.parent IS NOT NULL THEN \(SQL.text(guid: "p.parent")) END AS parent,
            \(SQL.text(guid: "s.uuid")) AS source, s.app, s.app_version,
            CASE p.outcome WHEN \(TransactionOutcome.interrupted.rawValue) THEN s.ended_by END AS ended_by,
            p.sample_ppm, p.sample_kept,
            (SELECT count(DISTINCT q.source) FROM parts q WHERE q.guid = p.guid) AS sources,
            (SELECT count(*) FROM parts q JOIN events e ON e.source = q.source AND e.part = q.sequence WHERE q.guid = p.guid AND e.code >= 0) AS events,
            (SELECT count(*) FROM parts q JOIN exchanges l ON l.source = q.source AND l.part = q.sequence WHERE q.guid = p.guid AND l.method IS NOT NULL) AS exchanges
          FROM parts p JOIN sources s ON s.id = p.source
          WHERE p.listed_us IS NOT NULL
        );

        """

    /// The current attributes of the leading part `p`: the latest value of each name that was not removed since.
    private static let latestAttributes = """
        CASE WHEN EXISTS(SELECT 1 FROM events e WHERE e.source = p.source AND e.part = p.sequence AND e.code = \(Tables.codeOfAttributesSet))
              THEN (SELECT json_group_object(name, json(value)) FROM (
                SELECT name, value, max(after) FROM (
                  SELECT j.key AS name, CASE WHEN j.type IN ('true', 'false') THEN j.type ELSE json_quote(j.value) END AS value, 0 AS after
                  FROM json_each(p.opened_detail, '$.attributes') j
                  UNION ALL
                  SELECT j.key, CASE WHEN j.type IN ('true', 'false') THEN j.type ELSE json_quote(j.value) END, e.after
                  FROM events e, json_each(e.detail, '$.attributes') j
                  WHERE e.source = p.source AND e.part = p.sequence AND e.code = \(Tables.codeOfAttributesSet)
                  UNION ALL
                  SELECT j.value, NULL, e.after FROM events e, json_each(e.detail, '$.removed') j
                  WHERE e.source = p.source AND e.part = p.sequence AND e.code = \(Tables.codeOfAttributesSet)
                ) GROUP BY name) WHERE value IS NOT NULL)
              ELSE json_extract(p.opened_detail, '$.attributes') END
        """

    private static let timeline = """
        CREATE VIEW timeline AS -- one row a fact; try: SELECT * FROM timeline WHERE transaction_id = '...' ORDER BY time_us, source, sequence;
        SELECT \(SQL.text(guid: "f.guid")) AS transaction_id, \(SQL.iso8601("f.time_us")) AS time, f.time_us,
          s.app, \(SQL.text(guid: "s.uuid")) AS source, f.part, f.sequence, f.kind,
          CASE WHEN f.kind = 'event' THEN \(SQL.name(useCase: "f.use_case", event: "f.code", otherwise: "'event ' || f.code")) ELSE f.label END AS label,
          CASE WHEN f.kind = 'event' THEN f.code END AS code,
          json_extract(f.detail, '$.error_domain') AS error_domain, f.error_code,
          json_extract(f.detail, '$.error_name') AS error_name,
          json_extract(f.detail, '$.attributes') AS attributes, ifnull(f.sequence > f.closed, 0) AS late
        FROM (
          SELECT p.guid, p.use_case, p.closed, p.source, p.sequence AS part, p.sequence, CASE p.joined WHEN 0 THEN 'begun' ELSE 'joined' END AS kind,
            CASE p.joined WHEN 0 THEN 'begun' ELSE 'joined' END AS label, NULL AS code, NULL AS error_code, p.opened_detail AS detail,
            \(SQL.wall("p.at_us", source: "p.source")) AS time_us
          FROM parts p WHERE p.guid IS NOT NULL
          UNION ALL
          SELECT p.guid, p.use_case, p.closed, p.source, p.sequence, p.closed, 'finished',
            \(words("p.outcome", TransactionOutcome.allCases.filter(\.isRecorded).map { ($0.rawValue, $0.name) })), NULL, p.error_code, p.closed_detail,
            \(SQL.wall("p.closed_at_us", source: "p.source"))
          FROM parts p WHERE p.guid IS NOT NULL AND p.closed IS NOT NULL
          UNION ALL
          SELECT p.guid, p.use_case, p.closed, p.source, p.sequence, e.sequence, CASE e.code WHEN \(Tables.codeOfAttributesSet) THEN 'attributes_set' WHEN \(Tables.codeOfUnknown) THEN 'unknown' ELSE 'event' END,
            CASE e.code WHEN \(Tables.codeOfAttributesSet) THEN 'attributes set' WHEN \(Tables.codeOfUnknown) THEN json_extract(e.detail, '$.kind') END, e.code, json_extract(e.detail, '$.error_code'), e.detail, \(SQL.wall("e.at_us", source: "e.source"))
          FROM parts p JOIN events e ON e.source = p.source AND e.part = p.sequence WHERE p.guid IS NOT NULL
          UNION ALL
          SELECT p.guid, p.use_case, p.closed, p.source, p.sequence, l.sequence, 'exchange_begun',
            l.method || ' ' || l.path, NULL, NULL, NULL, \(SQL.wall("l.at_us", source: "l.source"))
          FROM parts p JOIN exchanges l ON l.source = p.source AND l.part = p.sequence WHERE p.guid IS NOT NULL AND l.method IS NOT NULL
          UNION ALL
          SELECT p.guid, p.use_case, p.closed, p.source, p.sequence, l.closed, 'exchange_finished',
            ifnull(l.status, \(states("l.state"))), NULL, l.error_code, l.closed_detail, \(SQL.wall("l.closed_at_us", source: "l.source"))
          FROM parts p JOIN exchanges l ON l.source = p.source AND l.part = p.sequence WHERE p.guid IS NOT NULL AND l.closed IS NOT NULL
        ) f JOIN sources s ON s.id = f.source;

        """

    private static let network = """
        CREATE VIEW network AS -- HTTP exchanges; transaction_id is NULL outside any transaction
        SELECT CASE WHEN p.guid IS NOT NULL THEN \(SQL.text(guid: "p.guid")) END AS transaction_id, \(SQL.iso8601("l.time_us")) AS time, l.time_us,
          s.app, \(SQL.text(guid: "s.uuid")) AS source, l.sequence,
          CASE l.role WHEN 0 THEN 'client' WHEN 1 THEN 'server' END AS role, l.method,
          ifnull(json_extract(l.opened_detail, '$.scheme') || '://', '') || ifnull(l.host, '') || ifnull(':' || json_extract(l.opened_detail, '$.port'), '')
            || l.path || ifnull('?' || json_extract(l.opened_detail, '$.query'), '') AS url,
          CASE WHEN l.state = 1 AND json_extract(l.closed_detail, '$.mocked') THEN 'mocked'
            ELSE ifnull(\(states("l.state")), CASE s.ended WHEN 0 THEN 'in_progress' ELSE 'interrupted' END) END AS state, l.status,
          l.closed_at_us - l.at_us AS duration_us, l.first_byte_us - l.at_us AS first_byte_after_us, l.sent_bytes, l.received_bytes,
          json_extract(l.closed_detail, '$.error_domain') AS error_domain, l.error_code,
          json_extract(l.closed_detail, '$.error_name') AS error_name,
          json_extract(l.closed_detail, '$.http_version') AS http_version,
          json_extract(l.closed_detail, '$.sent_at_us') - l.at_us AS sent_after_us,
          json_extract(l.closed_detail, '$.received_wire_bytes') AS received_wire_bytes,
          json_array_length(l.closed_detail, '$.redirects') AS redirects, json_extract(l.closed_detail, '$.rule') AS rule,
          (SELECT sum(b.kept_bytes) FROM bodies b WHERE b.source = l.source AND b.exchange = l.sequence AND b.direction = 0) AS kept_of_request,
          (SELECT sum(b.kept_bytes) FROM bodies b WHERE b.source = l.source AND b.exchange = l.sequence AND b.direction = 1) AS kept_of_response
        FROM (SELECT *, \(SQL.wall("n.at_us", source: "n.source")) AS time_us FROM exchanges n WHERE n.method IS NOT NULL) l
          JOIN sources s ON s.id = l.source
          LEFT JOIN parts p ON p.source = l.source AND p.sequence = l.part;

        """

    private static let ledgers = """
        CREATE VIEW ledgers AS -- recorded = delivered + quarantined + dropped + pending
        SELECT \(SQL.text(guid: "s.uuid")) AS source, s.app, s.app_version, s.device, s.os, s.os_version,
          CASE WHEN s.heard_us IS NULL THEN 'recorded here' ELSE 'received' END AS origin, s.ended,
          \(SQL.iso8601(SQL.wall("0", source: "s.id"))) AS started,
          \(SQL.iso8601("s.heard_us")) AS heard, s.recorded, s.delivered,
          (SELECT count(*) FROM quarantine q WHERE q.source = s.id) AS quarantined,
          (SELECT ifnull(sum(d.last - d.first + 1), 0) FROM dropped d WHERE d.source = s.id) AS dropped,
          s.recorded - (SELECT ifnull(sum(r.last - r.first + 1), 0) FROM ranges r WHERE r.source = s.id AND r.lease IS NULL)
            - (SELECT ifnull(sum(d.last - d.first + 1), 0) FROM dropped d WHERE d.source = s.id) AS pending,
          s.refused
        FROM sources s;

        """

    private static func states(_ expression: String) -> String {
        words(expression, [(1, "completed"), (2, "failed"), (3, "cancelled")])
    }

    private static func words(_ expression: String, _ names: [(Int, String)]) -> String {
        "CASE \(expression) " + names.map { "WHEN \($0) THEN '\($1)' " }.joined() + "END"
    }
}
