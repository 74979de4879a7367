package import WaybillCore

/// The rows of `names`: what a version of an app calls a code, and what one launch alone calls it.
///
/// A name belongs to all launches of a version, so that a store has it once. If a launch calls a code differently, its
/// enum changed and its version did not, as it is while an app is developed, and on servers without a version. Then the
/// name belongs to that launch alone: history keeps its names.
package struct NameRows {
    package let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    /// Where a source finds its names, as values of `names.app_version`.
    private struct Place {
        var app: String
        var version: String
        /// Of its launch alone, which win.
        var launch: String
        /// Names of codes that had another one in the same batch: two enums have one code. They are reported as conflicts,
        /// and shown nowhere else.
        var clashes: String { launch + "\u{1}" }
    }

    private struct Code: Hashable {
        var useCase: Int
        var event: Int
    }

    private func place(of source: Int64) throws(WaybillError) -> Place? {
        try connection.statement("SELECT app, app_version, uuid FROM sources WHERE id = ?").first(source) { row in
            Place(app: row.text(0), version: row.text(1), launch: SQL.launch(version: row.text(1), source: row.guid(2)))
        }
    }

    /// Adds names, as the app of that source calls the codes.
    ///
    /// - Parameter room: How many new ones are taken.
    /// - Returns: How many were new and taken, and how many were new and had no room.
    @discardableResult
    package func add(_ names: [RecordedName], of source: Int64, room: Int = .max) throws(WaybillError) -> (
        added: Int, refused: Int
    ) {
        guard !names.isEmpty, let place = try place(of: source) else { return (0, 0) }
        var said: [Code: String] = [:]
        var (added, refused) = (0, 0)
        for name in names {
            let code = Code(useCase: name.useCase, event: name.event ?? -1)
            var version = place.version
            if let first = said[code] {
                guard first != name.name else { continue }
                version = place.clashes
            } else {
                said[code] = name.name
                let known = try self.name(of: code, place.app, place.version)
                let own = try self.name(of: code, place.app, place.launch)
                if known != nil, known != name.name { version = place.launch }
                // Of two that the launch said one after the other, the later one.
                if let own, version != place.launch || own != name.name {
                    try remove(code, place.app, place.launch)
                }
                if known == name.name { continue }
            }
            if try has(name, code, place.app, version) { continue }
            guard added < room else {
                refused += 1
                continue
            }
            try connection.statement(
                "INSERT INTO names(use_case, event, app, app_version, name) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
            ).run(code.useCase, code.event, place.app, version, name.name)
            added += connection.changeCount
        }
        return (added, refused)
    }

    private func name(of code: Code, _ app: String, _ version: String) throws(WaybillError) -> String? {
        try connection.statement(
            "SELECT min(name) FROM names WHERE use_case = ? AND event = ? AND app = ? AND app_version = ?"
        ).first(code.useCase, code.event, app, version) { row in row.optionalText(0) } ?? nil
    }

    private func has(_ name: RecordedName, _ code: Code, _ app: String, _ version: String) throws(WaybillError) -> Bool
    {
        try connection.statement(
            "SELECT 1 FROM names WHERE use_case = ? AND event = ? AND app = ? AND app_version = ? AND name = ?"
        ).first(code.useCase, code.event, app, version, name.name) { _ in true } ?? false
    }

    private func remove(_ code: Code, _ app: String, _ version: String) throws(WaybillError) {
        try connection.statement(
            "DELETE FROM names WHERE use_case = ? AND event = ? AND app = ? AND app_version = ?"
        ).run(code.useCase, code.event, app, version)
    }

    /// Returns what a source calls its codes, for a set: of two names that clash, first the one that counts.
    package func names(of source: Int64, limit: Int) throws(WaybillError) -> [RecordedName] {
        guard let place = try place(of: source) else { return [] }
        return try connection.statement(
            """
            SELECT use_case, event, name FROM names n WHERE app = ?1 AND (app_version IN (?3, ?4) OR app_version = ?2 \
            AND NOT EXISTS(SELECT 1 FROM names o WHERE o.use_case = n.use_case AND o.event = n.event AND o.app = ?1 \
            AND o.app_version = ?3)) ORDER BY app_version = ?4, use_case, event LIMIT ?5
            """
        ).rows(place.app, place.version, place.launch, place.clashes, limit, transform: Self.name)
    }

    /// Returns what a source calls some codes.
    package func names(of source: Int64, for codes: some Sequence<RecordedName>) throws(WaybillError) -> [RecordedName]
    {
        guard let place = try place(of: source) else { return [] }
        var names: [RecordedName] = []
        for name in codes {
            let code = Code(useCase: name.useCase, event: name.event ?? -1)
            var found = try self.name(of: code, place.app, place.launch)
            if found == nil { found = try self.name(of: code, place.app, place.version) }
            if let found { names.append(RecordedName(useCase: name.useCase, event: name.event, name: found)) }
        }
        return names
    }

    package static func name(_ row: Row) -> RecordedName {
        RecordedName(useCase: row.int(0), event: row.int(1) < 0 ? nil : row.int(1), name: row.text(2))
    }

    /// Removes the names of versions of which nothing is left: none of their sources has any part here, records into
    /// this store, or was heard of lately. The names of a launch go with it.
    ///
    /// - Parameter wall: Since when a source may yet send what its names are of, in microseconds since 1970.
    package func removeUnused(heardBefore wall: Int64) throws(WaybillError) {
        try connection.statement(
            """
            WITH used AS (SELECT s.app, s.app_version, \(SQL.launchOfS) AS launch FROM sources s \
            WHERE s.heard_us IS NULL OR s.heard_us >= ? \
            OR EXISTS(SELECT 1 FROM parts p WHERE p.source = s.id AND p.sequence > 0)) \
            DELETE FROM names WHERE (app, app_version) NOT IN (SELECT app, app_version FROM used \
            UNION ALL SELECT app, launch FROM used UNION ALL SELECT app, launch || char(1) FROM used)
            """
        ).run(wall)
    }
}
