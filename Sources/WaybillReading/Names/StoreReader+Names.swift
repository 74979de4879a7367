import Foundation
package import WaybillCore
package import WaybillStore

/// What codes are called.
extension StoreReader {
    /// The names of use cases and of events; each once, even where several apps call it so.
    package func names() throws(WaybillError) -> [RecordedName] {
        try connection.statement("SELECT DISTINCT use_case, event, name FROM names ORDER BY use_case, event, name").rows
        { row in
            RecordedName(useCase: row.int(0), event: row.int(1) < 0 ? nil : row.int(1), name: row.text(2))
        }
    }

    /// The codes that have several names, by use case and event; a use case itself comes before its events.
    package func nameConflicts() throws(WaybillError) -> [NameConflict] {
        let rows = try connection.statement(
            """
            SELECT use_case, event, app, name, app_version FROM names WHERE (use_case, event) IN \
            (SELECT use_case, event FROM names GROUP BY use_case, event HAVING count(DISTINCT name) > 1) ORDER BY use_case, event, app, name
            """
        ).rows { row in
            (useCase: row.int(0), event: row.int(1), app: row.text(2), name: row.text(3), version: row.text(4))
        }
        var conflicts: [NameConflict] = []
        for row in rows {
            let event = row.event < 0 ? nil : row.event
            if conflicts.last.map({ $0.useCase == row.useCase && $0.event == event }) != true {
                conflicts.append(NameConflict(useCase: row.useCase, event: event, names: []))
            }
            let last = conflicts.count - 1
            if let use = conflicts[last].names.indices.last, conflicts[last].names[use].app == row.app,
                conflicts[last].names[use].name == row.name
            {
                conflicts[last].names[use].versions.append(row.version)
            } else {
                conflicts[last].names.append(NameConflict.Use(name: row.name, app: row.app, versions: [row.version]))
            }
        }
        return conflicts.map { conflict in
            var conflict = conflict
            for use in conflict.names.indices { conflict.names[use].versions.sort(by: precedes) }
            // A history: who had the name first comes first.
            conflict.names.sort { left, right in
                left.app == right.app
                    ? precedes(left.versions.first ?? "", right.versions.first ?? "") : left.app < right.app
            }
            return conflict
        }
    }

    /// When each version of each app was started first, in microseconds since 1970, as far as its sources are still
    /// here.
    package func firstStarts() throws(WaybillError) -> [AppVersion: Int] {
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
