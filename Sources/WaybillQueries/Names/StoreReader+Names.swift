import Foundation
package import WaybillCore
package import WaybillStore

/// What codes are called.
extension StoreReader {
    /// Names that are read at once: more are no choice for people, and clients may send any number.
    package static let nameLimit = 10_000

    /// The names of use cases and of events; each once, even where several apps call it so.
    ///
    /// Where there are more than ``nameLimit``, those of use cases that have transactions, and of their events as far as
    /// there is room.
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

    /// The same with all that are called like this, for a filter that tells a name.
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

    /// Names of the use cases that have transactions, found from one to the next by their index; of their own (-1) or
    /// of their events.
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

    /// Codes that are told, names of each, and versions of each name.
    private static let (conflictLimit, useLimit, versionLimit) = (100, 10, 20)

    /// Codes that have several names, behind a use case and an event.
    private static let conflicts = """
        SELECT use_case, event FROM names WHERE (use_case, event) > (?1, ?2) GROUP BY 1, 2 HAVING count(DISTINCT name) > 1
        """

    /// How many codes have several names.
    package func nameConflictCount() throws(WaybillError) -> Int {
        try connection.integer("SELECT count(*) FROM (\(Self.conflicts))", -1, -1)
    }

    /// The first codes that have several names, by use case and event; a use case itself comes before its events.
    package func nameConflicts() throws(WaybillError) -> [NameConflict] {
        try nameConflicts(limit: Self.conflictLimit, after: nil).rows
    }

    /// A page of them.
    ///
    /// - Parameter cursor: `7` behind the use case of that code, `7.2` behind that event of it; nil: the first page.
    /// - Throws: `.format` for a cursor that is neither.
    package func nameConflicts(limit: Int, after cursor: String?) throws(WaybillError) -> RecordPage<NameConflict> {
        // Codes are from 0, and the use case itself stands before its events as -1.
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
            // Digits compare as numbers, which SQLite cannot: a few more are read than are told.
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
        // A history: who had the name first comes first.
        conflict.names.sort { left, right in
            left.app == right.app
                ? precedes(left.versions.first ?? "", right.versions.first ?? "") : left.app < right.app
        }
        return conflict
    }

    /// When each version of each app was started first, in microseconds since 1970, as far as its sources are still
    /// here.
    package func firstStarts() throws(WaybillError) -> [AppVersion: Int64] {
        let rows = try connection.statement(
            """
            SELECT app, app_version, min((SELECT at_us + offset_us FROM clocks WHERE source = id ORDER BY at_us LIMIT 1)) \
            FROM sources GROUP BY app, app_version
            """
        ).rows { row in (version: AppVersion(app: row.text(0), version: row.text(1)), start: row.optionalInt(2)) }
        return rows.reduce(into: [:]) { starts, row in starts[row.version] = row.start }
    }

    /// `1.9` before `1.10`.
    private func precedes(_ left: String, _ right: String) -> Bool {
        left.compare(right, options: .numeric) == .orderedAscending
    }
}

/// One version of one app.
public struct AppVersion: Hashable, Sendable {
    /// The app's or service's name.
    public var app: String
    /// As it is written.
    public var version: String

    /// Makes a version.
    public init(app: String, version: String) {
        self.app = app
        self.version = version
    }
}

/// Looks up what use cases are called, and events, of which each is looked up once.
package final class NameTable {
    private let connection: Connection
    private var known: [Key: String] = [:]
    /// The launches that have names of their own, as `names.app_version` has them; `nil` until they are read.
    private var launches: Set<String>?

    package init(_ connection: Connection) { self.connection = connection }

    /// As that launch says, else as that version of its app does, else as any does, else `event 7`.
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

    /// The least of all names of a use case, else `use case 7`: for what is said of runs of several versions.
    package func useCase(_ code: Int) throws(WaybillError) -> String { try knownUseCase(code) ?? "use case \(code)" }

    /// The least of all names of a use case; nil: it has none.
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
        "SELECT \(SQL.name(useCase: "?1", event: "?2", app: "?3", version: "?4", launch: "?5", otherwise: "'event ' || ?2"))"

    private struct Key: Hashable {
        var useCase: Int
        var event: Int
        var app: String
        var version: String
    }
}

extension Connection {
    /// The launches that have names of their own, as `names.app_version` has them; few as a rule.
    package func launchesWithNames() throws(WaybillError) -> Set<String> {
        Set(
            try statement("SELECT DISTINCT app_version FROM names WHERE instr(app_version, char(1))").rows { row in
                row.text(0)
            })
    }
}
