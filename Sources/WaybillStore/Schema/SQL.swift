package import WaybillCore

package enum SQL {
    /// Converts to microseconds since 1970, by the latest earlier anchor or else the first; without anchors, from 1970.
    package static func wall(_ time: String, source: String) -> String {
        let anchors = "SELECT c.offset_us FROM clocks c WHERE c.source = \(source)"
        return
            "(\(time) + coalesce((\(anchors) AND c.at_us <= \(time) ORDER BY c.at_us DESC LIMIT 1), (\(anchors) ORDER BY c.at_us LIMIT 1), 0))"
    }

    /// NULL while the source runs, even if it has noted its end early.
    package static func endedBy(_ source: String) -> String { "iif(\(source).ended, \(source).ended_by, NULL)" }

    package static func lastActivity(guid: String) -> String {
        "(SELECT max(\(wall("a.last_at_us", source: "a.source"))) FROM parts a WHERE a.guid = \(guid))"
    }

    package static func outcome(_ part: String, now: String) -> String {
        """
        (CASE WHEN \(part).outcome = \(TransactionOutcome.open.rawValue) \
        AND \(lastActivity(guid: "\(part).guid")) + \(part).timeout_us < \(now) \
        THEN \(TransactionOutcome.timedOut.rawValue) ELSE \(part).outcome END)
        """
    }

    /// Whether an exchange failed, or got a status from 400 on; NULL, which is false, while neither is known.
    package static func hasFailed(_ exchange: String) -> String {
        "(\(exchange).state = \(ExchangeState.failed.rawValue) OR \(exchange).status >= 400)"
    }

    /// The sequences of all facts of the source `?1`.
    package static let sequences = """
        SELECT sequence FROM parts WHERE source = ?1 AND guid IS NOT NULL \
        UNION ALL SELECT closed FROM parts WHERE source = ?1 AND closed IS NOT NULL \
        UNION ALL SELECT sequence FROM events WHERE source = ?1 \
        UNION ALL SELECT sequence FROM exchanges WHERE source = ?1 AND method IS NOT NULL \
        UNION ALL SELECT closed FROM exchanges WHERE source = ?1 AND closed IS NOT NULL
        """

    /// The transactions with facts of the source `?1` whose sequences are from `?2` to `?3`.
    package static let changed = """
        SELECT p.guid FROM parts p WHERE p.source = ?1 AND p.sequence <= ?3 AND p.last >= ?2 AND p.guid IS NOT NULL \
        AND (p.sequence >= ?2 OR p.closed BETWEEN ?2 AND ?3 \
        OR EXISTS(SELECT 1 FROM events e WHERE e.source = ?1 AND e.part = p.sequence \
        AND e.after BETWEEN ?2 - p.sequence AND ?3 - p.sequence) \
        OR EXISTS(SELECT 1 FROM exchanges l WHERE l.source = ?1 AND l.part = p.sequence \
        AND (l.sequence BETWEEN ?2 AND ?3 OR l.closed BETWEEN ?2 AND ?3)))
        """

    package static let pendingCount = """
        SELECT ifnull(sum(recorded - (SELECT ifnull(sum(last - first + 1), 0) FROM ranges WHERE source = id AND lease IS NULL) \
        - (SELECT ifnull(sum(last - first + 1), 0) FROM dropped WHERE source = id)), 0) FROM sources \
        WHERE heard_us IS NULL AND recorded > delivered
        """

    package static func text(guid: String) -> String {
        let digits = "lower(hex(\(guid)))"
        let groups = [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)].map { "substr(\(digits), \($0), \($1))" }
        return "(\(groups.joined(separator: " || '-' || ")))"
    }

    /// The last 40 bits of the GUID in base 32, where four digits replace five hexadecimal ones.
    static func supportCode(guid: String) -> String {
        func bits(_ place: Int) -> String { "(instr('0123456789ABCDEF', substr(hex(\(guid)), \(place), 1)) - 1)" }
        func half(_ first: Int) -> String {
            let (a, b, c, d, e) = (bits(first), bits(first + 1), bits(first + 2), bits(first + 3), bits(first + 4))
            // SQLite's bit operators share one precedence.
            return [
                "(\(a) << 1) | (\(b) >> 3)", "((\(b) & 7) << 2) | (\(c) >> 2)", "((\(c) & 3) << 3) | (\(d) >> 1)",
                "((\(d) & 1) << 4) | \(e)",
            ]
            .map { "substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (\($0)) + 1, 1)" }.joined(separator: " || ")
        }
        return "(\(half(23)) || '-' || \(half(28)))"
    }

    package static func iso8601(_ microseconds: String) -> String {
        "(strftime('%Y-%m-%dT%H:%M:%S', \(microseconds) / 1000000, 'unixepoch') || printf('.%06dZ', \(microseconds) % 1000000))"
    }

    /// A pattern for `LIKE ... ESCAPE '\\'` that finds a text anywhere.
    package static func pattern(containing text: String) -> String { "%\(escaped(text))%" }

    /// A pattern for `LIKE ... ESCAPE '\\'` that matches exactly this text.
    package static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_")
    }

    /// NULL if the member is missing.
    package static func detail(_ column: String, _ member: String) -> String {
        "CASE WHEN json_valid(\(column)) THEN json_extract(\(column), '$.\(member)') END"
    }

    /// The name of the launch, or else of the version, or else of any app, or else the code. Default: of source `s`.
    ///
    /// - Parameter launch: The result of ``launch(version:source:)``.
    package static func name(
        useCase: String, event: String, app: String = "s.app", version: String = "s.app_version",
        launch: String = launchOfS, otherwise: String
    ) -> String {
        let named = "SELECT min(n.name) FROM names n WHERE n.use_case = \(useCase) AND n.event = \(event)"
        let places = [launch, version].map { "(\(named) AND n.app = \(app) AND n.app_version = \($0))" }
        return "coalesce(\(places.joined(separator: ", ")), (\(named)), \(otherwise))"
    }

    /// The value of `names.app_version` for a name of one launch, whose enum changed without a new version.
    static let launchOfS = "s.app_version || char(1) || hex(s.uuid)"

    package static let versionOfName = """
        iif(instr(app_version, char(1)), substr(app_version, 1, instr(app_version, char(1)) - 1), app_version)
        """

    package static func launch(version: String, source: GUID) -> String {
        "\(version)\u{1}\(source.description.uppercased().replacing("-", with: ""))"
    }
}
