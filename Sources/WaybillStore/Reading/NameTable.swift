import WaybillCore

/// Looks up what events are called, each once.
final class NameTable {
    private let connection: Connection
    private var known: [Key: String] = [:]

    init(_ connection: Connection) { self.connection = connection }

    /// As that version of that app says, else as any does, else `event 7`.
    func event(_ code: Int, of useCase: Int, in source: TransactionRecord.Source) throws(WaybillError) -> String {
        let key = Key(useCase: useCase, event: code, app: source.app, version: source.appVersion)
        if let name = known[key] { return name }
        let sql = "SELECT \(SQL.name(useCase: "?1", event: "?2", app: "?3", version: "?4", otherwise: "'event ' || ?2"))"
        let name =
            try connection.statement(sql).first(useCase, code, source.app, source.appVersion) { row in row.text(0) } ?? "event \(code)"
        known[key] = name
        return name
    }

    private struct Key: Hashable {
        var useCase: Int
        var event: Int
        var app: String
        var version: String
    }
}
