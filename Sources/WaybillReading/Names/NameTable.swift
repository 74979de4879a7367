package import WaybillCore
package import WaybillStore

/// Looks up what use cases are called, and events, of which each is looked up once.
package final class NameTable {
    private let connection: Connection
    private var known: [Key: String] = [:]

    package init(_ connection: Connection) { self.connection = connection }

    /// As that version of that app says, else as any does, else `event 7`.
    package func event(_ code: Int, of useCase: Int, app: String, version: String) throws(WaybillError) -> String {
        let key = Key(useCase: useCase, event: code, app: app, version: version)
        if let name = known[key] { return name }
        let name =
            try connection.statement(Self.query).first(useCase, code, app, version) { row in row.text(0) }
            ?? "event \(code)"
        known[key] = name
        return name
    }

    /// The least of all names of a use case, else `use case 7`: for what is said of runs of several versions.
    package func useCase(_ code: Int) throws(WaybillError) -> String { try knownUseCase(code) ?? "use case \(code)" }

    /// The least of all names of a use case; nil: it has none.
    package func knownUseCase(_ code: Int) throws(WaybillError) -> String? {
        try connection.statement("SELECT min(name) FROM names WHERE use_case = ?1 AND event = -1")
            .first(code) { row in row.optionalText(0) } ?? nil
    }

    private static let query =
        "SELECT \(SQL.name(useCase: "?1", event: "?2", app: "?3", version: "?4", otherwise: "'event ' || ?2"))"

    private struct Key: Hashable {
        var useCase: Int
        var event: Int
        var app: String
        var version: String
    }
}
