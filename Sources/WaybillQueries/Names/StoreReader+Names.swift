import Foundation
package import WaybillCore
package import WaybillStore

extension StoreReader {
    /// More names are no choice for people, and clients may send any number.
    package static let nameLimit = 10_000

    /// Above ``nameLimit``, returns only names of use cases with transactions.
    package func names() throws(WaybillError) -> [RecordedName] {
        let names = try connection.statement(
            "SELECT DISTINCT use_case, event, name FROM names ORDER BY use_case, event, name LIMIT ?"
        ).rows(Self.nameLimit + 1, transform: Self.name)
        guard names.count > Self.nameLimit else { return names }
        let useCases = try connection.statement(Self.used("= -1")).rows(Self.nameLimit, transform: Self.name)
        let events = try connection.statement(Self.used(">= 0")).rows(
            Self.nameLimit - useCases.count, transform: Self.name)
        return useCases + events
    }

    package func names(including called: [String]) throws(WaybillError) -> [RecordedName] {
        var all = Set(try names())
        for name in called {
            all.formUnion(
                try connection.statement("SELECT DISTINCT use_case, event, name FROM names WHERE name = ? LIMIT ?")
                    .rows(
                        name, Self.nameLimit, transform: Self.name))
        }
        return all.sorted { ($0.useCase, $0.event ?? -1, $0.name) < ($1.useCase, $1.event ?? -1, $1.name) }
    }

    private static func used(_ events: String) -> String {
        """
        WITH RECURSIVE used(code) AS (SELECT min(use_case) FROM parts WHERE listed_us IS NOT NULL UNION ALL \
        SELECT (SELECT min(use_case) FROM parts WHERE use_case > code AND listed_us IS NOT NULL) FROM used \
        WHERE code IS NOT NULL) \
        SELECT DISTINCT n.use_case, n.event, n.name FROM used CROSS JOIN names n ON n.use_case = code \
        WHERE n.event \(events) LIMIT ?
        """
    }

    private static func name(_ row: Row) -> RecordedName {
        RecordedName(useCase: row.int(0), event: row.int(1) < 0 ? nil : row.int(1), name: row.text(2))
    }

    // MARK: Codes with several names

    private static let (conflictLimit, useLimit, versionLimit) = (100, 10, 20)

    private static let conflicts = """
        SELECT use_case, event FROM names WHERE (use_case, event) > (?1, ?2) GROUP BY 1, 2 HAVING count(DISTINCT name) > 1
        """

    package func nameConflictCount() throws(WaybillError) -> Int {
        try connection.integer("SELECT count(*) FROM (\(Self.conflicts))", -1, -1)
    }

    package func nameConflicts() throws(WaybillError) -> [NameConflict] {
        try nameConflicts(limit: Self.conflictLimit, after: nil).rows
    }

    /// The cursor is `7` after the use case with that code, and `7.2` after its event 2.
    package func nameConflicts(limit: Int, after cursor: String?) throws(WaybillError) -> RecordPage<NameConflict> {
        // Codes start at 0, and the use case itself precedes its events as -1.
        let place = (cursor ?? "-1").split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard let useCase = place[0], place.count < 3, let event = place.count == 2 ? place[1] : -1 else {
            throw WaybillError(
                .format, "The cursor is not one that a list of names gave. Leave it out to start at the beginning.")
        }
        let codes = try connection.statement("\(Self.conflicts) ORDER BY 1, 2 LIMIT ?3").rows(
            useCase, event, limit + 1
        ) { row in
            (useCase: row.int(0) as Int, event: row.int(1) as Int)
        }
        let rows = try codes.prefix(limit).map { (code) throws(WaybillError) in
            try conflict(code.useCase, code.event)
        }
        let next = rows.last.map { row in row.event.map { "\(row.useCase).\($0)" } ?? "\(row.useCase)" }
        return RecordPage(rows: rows, next: codes.count > limit ? next : nil)
    }

    private func conflict(_ useCase: Int, _ event: Int) throws(WaybillError) -> NameConflict {
        var uses = try connection.statement(
            """
            SELECT app, name, count(DISTINCT \(SQL.versionOfName)) FROM names WHERE use_case = ? AND event = ? \
            GROUP BY 1, 2 ORDER BY 1, 2 LIMIT ?
            """
        ).rows(useCase, event, Self.useLimit) { row in
            (use: NameConflict.Use(name: row.text(1), app: row.text(0), versions: []), count: row.int(2) as Int)
        }
        let versions = try connection.statement(
            """
            SELECT DISTINCT \(SQL.versionOfName) FROM names WHERE use_case = ? AND event = ? AND app = ? AND name = ? \
            LIMIT ?
            """)
        for index in uses.indices {
            let (use, count) = uses[index]
            // SQLite can't compare digits as numbers, so a few more rows are read than returned.
            let read = try versions.rows(useCase, event, use.app, use.name, 5 * Self.versionLimit) { $0.text(0) }
            let told = read.sorted(by: precedes).prefix(Self.versionLimit)
            uses[index].use.versions = Array(told)
            if count > told.count { uses[index].use.furtherVersions = count - told.count }
        }
        var conflict = NameConflict(useCase: useCase, event: event < 0 ? nil : event, names: uses.map(\.use))
        if uses.count == Self.useLimit {
            let all: Int = try connection.integer(
                "SELECT count(*) FROM (SELECT 1 FROM names WHERE use_case = ? AND event = ? GROUP BY app, name)",
                useCase, event)
            if all > uses.count { conflict.furtherNames = all - uses.count }
        }
        // The oldest name is first, as in a history.
        conflict.names.sort { left, right in
            left.app == right.app
                ? precedes(left.versions.first ?? "", right.versions.first ?? "") : left.app < right.app
        }
        return conflict
    }

    package func firstStarts() throws(WaybillError) -> [AppVersion: Int64] {
        let rows = try connection.statement(
            """
            SELECT app, app_version, min((SELECT at_us + offset_us FROM clocks WHERE source = id ORDER BY at_us LIMIT 1)) \
            FROM sources GROUP BY app, app_version
            """
        ).rows { row in (version: AppVersion(app: row.text(0), version: row.text(1)), start: row.optionalInt(2)) }
        return rows.reduce(into: [:]) { starts, row in starts[row.version] = row.start }
    }

    private func precedes(_ left: String, _ right: String) -> Bool {
        left.compare(right, options: .numeric) == .orderedAscending
    }
}

package final class NameTable {
    private let connection: Connection
    private var known: [Key: String] = [:]
    private var launches: Set<String>?

    package init(_ connection: Connection) { self.connection = connection }

    /// Prefers the name from the launch, then from the version of the app, then from any, and falls back to `event 7`.
    package func event(_ code: Int, of useCase: Int, source: GUID, app: String, version: String) throws(WaybillError)
        -> String
    {
        let launch = SQL.launch(version: version, source: source)
        let isOwn = try launchesWithNames().contains(launch)
        let key = Key(useCase: useCase, event: code, app: app, version: isOwn ? launch : version)
        if let name = known[key] { return name }
        let name =
            try connection.statement(Self.query).first(useCase, code, app, version, launch) { row in row.text(0) }
            ?? "event \(code)"
        known[key] = name
        return name
    }

    /// Prefers names as ``event(_:of:source:app:version:)`` does.
    package func useCase(_ code: Int, source: GUID, app: String, version: String) throws(WaybillError) -> String {
        try event(-1, of: code, source: source, app: app, version: version)
    }

    package func knownUseCase(_ code: Int) throws(WaybillError) -> String? {
        try connection.statement(
            "SELECT min(name) FROM names WHERE use_case = ?1 AND event = -1 AND substr(app_version, -1) <> char(1)"
        ).first(code) { row in row.optionalText(0) } ?? nil
    }

    private func launchesWithNames() throws(WaybillError) -> Set<String> {
        if let launches { return launches }
        let launches = try connection.launchesWithNames()
        self.launches = launches
        return launches
    }

    private static let query =
        "SELECT \(SQL.name(useCase: "?1", event: "?2", app: "?3", version: "?4", launch: "?5", otherwise: "iif(?2 < 0, 'use case ' || ?1, 'event ' || ?2)"))"

    private struct Key: Hashable {
        var useCase: Int
        var event: Int
        var app: String
        var version: String
    }
}

extension Connection {
    package func launchesWithNames() throws(WaybillError) -> Set<String> {
        Set(
            try statement("SELECT DISTINCT app_version FROM names WHERE instr(app_version, char(1))").rows { row in
                row.text(0)
            })
    }
}

/// Where an event with a code has a name.
package struct EventMeaning: Sendable {
    package var code: Int
    package var useCases: Set<Int>
    package var isOfOtherUseCases = false
    /// The versions that give it the name, or, with ``isEverywhereElse``, another one.
    package var places: [AppVersion]
    package var isEverywhereElse: Bool
}

extension StoreReader {
    /// Returns `nil` if there are too many, or launches of the same version have different names.
    package func meanings(ofEvent name: String) throws(WaybillError) -> [EventMeaning]? {
        var meanings: [EventMeaning] = []
        let named = try connection.statement("SELECT DISTINCT use_case, event FROM names WHERE name = ? AND event >= 0")
            .rows(name) { row in (useCase: row.int(0) as Int, code: row.int(1) as Int) }
        guard named.count <= Self.meaningLimit else { return nil }
        for (useCase, code) in named {
            let places = try connection.statement(
                "SELECT app, app_version, min(name) FROM names WHERE use_case = ? AND event = ? GROUP BY 1, 2"
            ).rows(useCase, code) { row in
                (place: AppVersion(app: row.text(0), version: row.text(1)), name: row.text(2))
            }
            let isUsual = places.map(\.name).min() == name
            let exceptions = places.filter { ($0.name == name) != isUsual }.map(\.place)
            guard exceptions.count <= Self.meaningLimit, !places.contains(where: { $0.place.version.contains("\u{1}") })
            else { return nil }
            meanings.append(
                EventMeaning(code: code, useCases: [useCase], places: exceptions, isEverywhereElse: isUsual))
        }
        if let code = FilterCondition.code(ofUnnamed: name) {
            let others = try connection.statement("SELECT DISTINCT use_case FROM names WHERE event = ?").rows(code) {
                row in row.int(0) as Int
            }
            meanings.append(
                EventMeaning(
                    code: code, useCases: Set(others), isOfOtherUseCases: true, places: [], isEverywhereElse: true))
        }
        return meanings
    }

    /// Returns the codes with a name that contains a text; the event is -1 for a use case. `nil` if there are too many.
    package func codes(mentioning text: String) throws(WaybillError) -> [(useCase: Int, event: Int)]? {
        let found = try connection.statement(
            "SELECT DISTINCT use_case, event FROM names WHERE name LIKE ? ESCAPE '\\' LIMIT ?"
        ).rows(SQL.pattern(containing: text), Self.mentionLimit + 1) { row in
            (useCase: row.int(0) as Int, event: row.int(1) as Int)
        }
        return found.count > Self.mentionLimit ? nil : found
    }

    private static let (meaningLimit, mentionLimit) = (100, 1_000)
}
