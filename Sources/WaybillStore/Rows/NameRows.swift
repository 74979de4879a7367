package import WaybillCore

private struct NamePlace {
    var app: String
    var version: String
    /// Names of one launch, which take precedence.
    var launch: String
    /// Further names of a code in one batch: two enums share the code. Only conflict reports show them.
    var clashes: String { launch + "\u{1}" }
}

private struct NamedCode: Hashable {
    var useCase: Int
    var event: Int
}

/// The rows of `names`: the names that an app's version gives to codes.
///
/// If a launch differs, as during development or without a version, its name belongs to that launch alone. So history
/// keeps its names.
extension Connection {
    private func namePlace(of source: Int64) throws(WaybillError) -> NamePlace? {
        try statement("SELECT app, app_version, uuid FROM sources WHERE id = ?").first(source) { row in
            NamePlace(
                app: row.text(0), version: row.text(1), launch: SQL.launch(version: row.text(1), source: row.guid(2)))
        }
    }

    /// Adds at most `room` new names of a source's app.
    @discardableResult
    package func add(_ names: [RecordedName], of source: Int64, room: Int = .max) throws(WaybillError) -> (
        added: Int, refused: Int
    ) {
        guard !names.isEmpty, let place = try namePlace(of: source) else { return (0, 0) }
        var said: [NamedCode: String] = [:]
        var (added, refused) = (0, 0)
        for name in names {
            let code = NamedCode(useCase: name.useCase, event: name.event ?? -1)
            var version = place.version
            if let first = said[code] {
                guard first != name.name else { continue }
                version = place.clashes
            } else {
                said[code] = name.name
                let known = try self.name(of: code, place.app, place.version)
                let own = try self.name(of: code, place.app, place.launch)
                if known != nil, known != name.name { version = place.launch }
                if let own, version != place.launch || own != name.name {
                    try removeName(code, place.app, place.launch)
                }
                if known == name.name { continue }
            }
            if try hasName(name, code, place.app, version) { continue }
            guard added < room else {
                refused += 1
                continue
            }
            try statement(
                "INSERT INTO names(use_case, event, app, app_version, name) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
            ).run(code.useCase, code.event, place.app, version, name.name)
            added += changeCount
        }
        return (added, refused)
    }

    private func name(of code: NamedCode, _ app: String, _ version: String) throws(WaybillError) -> String? {
        try statement(
            "SELECT min(name) FROM names WHERE use_case = ? AND event = ? AND app = ? AND app_version = ?"
        ).first(code.useCase, code.event, app, version) { row in row.optionalText(0) } ?? nil
    }

    private func hasName(_ name: RecordedName, _ code: NamedCode, _ app: String, _ version: String) throws(WaybillError)
        -> Bool
    {
        try statement(
            "SELECT 1 FROM names WHERE use_case = ? AND event = ? AND app = ? AND app_version = ? AND name = ?"
        ).first(code.useCase, code.event, app, version, name.name) { _ in true } ?? false
    }

    private func removeName(_ code: NamedCode, _ app: String, _ version: String) throws(WaybillError) {
        try statement(
            "DELETE FROM names WHERE use_case = ? AND event = ? AND app = ? AND app_version = ?"
        ).run(code.useCase, code.event, app, version)
    }

    /// If two names clash, the valid one comes first.
    package func names(of source: Int64, limit: Int) throws(WaybillError) -> [RecordedName] {
        guard let place = try namePlace(of: source) else { return [] }
        return try statement(
            """
            SELECT use_case, event, name FROM names n WHERE app = ?1 AND (app_version IN (?3, ?4) OR app_version = ?2 \
            AND NOT EXISTS(SELECT 1 FROM names o WHERE o.use_case = n.use_case AND o.event = n.event AND o.app = ?1 \
            AND o.app_version = ?3)) ORDER BY app_version = ?4, use_case, event LIMIT ?5
            """
        ).rows(place.app, place.version, place.launch, place.clashes, limit, transform: RecordedName.init)
    }

    package func names(of source: Int64, for codes: some Sequence<RecordedName>) throws(WaybillError) -> [RecordedName]
    {
        guard let place = try namePlace(of: source) else { return [] }
        var names: [RecordedName] = []
        for name in codes {
            let code = NamedCode(useCase: name.useCase, event: name.event ?? -1)
            var found = try self.name(of: code, place.app, place.launch)
            if found == nil { found = try self.name(of: code, place.app, place.version) }
            if let found { names.append(RecordedName(useCase: name.useCase, event: name.event, name: found)) }
        }
        return names
    }

    /// Keeps the names of versions with parts, own sources, or a set since `wall`, and those of versions other than
    /// `version`, if there is one.
    package func removeUnusedNames(heardBefore wall: Int64, of version: AppVersion? = nil) throws(WaybillError) {
        try statement(
            """
            WITH used AS (SELECT s.app, s.app_version, \(SQL.launchOfS) AS launch FROM sources s \
            WHERE s.heard_us IS NULL OR s.heard_us >= ?1 \
            OR EXISTS(SELECT 1 FROM parts p WHERE p.source = s.id AND p.sequence > 0)) \
            DELETE FROM names WHERE (app, app_version) NOT IN (SELECT app, app_version FROM used \
            UNION ALL SELECT app, launch FROM used UNION ALL SELECT app, launch || char(1) FROM used) \
            AND (?2 IS NULL OR app = ?2 AND substr(app_version || char(1), 1, length(?3) + 1) = ?3 || char(1))
            """
        ).run(wall, version?.app, version?.version)
    }
}

extension RecordedName {
    package init(_ row: Row) {
        self.init(useCase: row.int(0), event: row.int(1) < 0 ? nil : row.int(1), name: row.text(2))
    }
}
