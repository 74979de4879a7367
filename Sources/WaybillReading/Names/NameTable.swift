package import WaybillCore
package import WaybillStore

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
