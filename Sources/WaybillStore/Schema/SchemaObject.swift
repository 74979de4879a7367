import WaybillCore

/// A table, index, view or trigger as a database knows it: sqlite.org/schematab.html.
struct SchemaObject: Equatable {
    var type: String
    var name: String
    var table: String
    /// nil: SQLite made it, for a key.
    var sql: String?

    /// All of a connection's database, with the version that it says it has, of one moment.
    static func all(_ connection: Connection) throws(WaybillError) -> (version: Int, objects: [SchemaObject]) {
        var version = 0
        let objects = try connection.statement(
            """
            SELECT v.user_version, x.type, x.name, x.tbl_name, x.sql FROM pragma_user_version v CROSS JOIN sqlite_schema x
            """
        ).rows { row in
            version = row.int(0)
            return SchemaObject(type: row.text(1), name: row.text(2), table: row.text(3), sql: row.optionalText(4))
        }
        return (version, objects)
    }

    /// As SQLite compares names.
    fileprivate var key: String { name.lowercased() }
}

extension Schema {
    /// Makes sure that what statements of ours name is what we have made: a view in place of a table may go on for
    /// ever, and a trigger does whatever its maker likes.
    ///
    /// Tables, views and indexes of other names may be there, since people add their own; they are never read.
    ///
    /// - Throws: `.damaged`, so that a store that is recorded into is made anew.
    static func checkObjects(_ connection: Connection) throws(WaybillError) {
        let (version, found) = try SchemaObject.all(connection)
        guard (1...self.version).contains(version) else { return }
        var missing = try made(version)
        for object in found {
            if let expected = missing.removeValue(forKey: object.key) {
                guard object == expected else { throw foreign(object, in: connection) }
            } else if object.type == "trigger" {
                throw foreign(object, in: connection)
            }
        }
        guard let object = missing.values.min(by: { $0.name < $1.name }) else { return }
        throw WaybillError(
            .damaged,
            "\(connection.place) is not a whole Waybill store: its \(object.type) “\(object.name)” is missing.")
    }

    private static func foreign(_ object: SchemaObject, in connection: Connection) -> WaybillError {
        WaybillError(
            .damaged,
            "\(connection.place) is not a Waybill store as Waybill makes it, and is not read: its \(object.type) “\(object.name.prefix(40))” comes from somebody else."
        )
    }

    private static let known = Locked<[Int: [String: SchemaObject]]>([:])

    /// What a store of that version has, by name, as its migrations make it.
    private static func made(_ version: Int) throws(WaybillError) -> [String: SchemaObject] {
        if let objects = known.withLock({ $0[version] }) { return objects }
        let connection = try Connection(":memory:", .create, at: "memory")
        for migration in migrations[..<version] { try connection.execute(migration.script) }
        let objects = Dictionary(uniqueKeysWithValues: try SchemaObject.all(connection).objects.map { ($0.key, $0) })
        known.withLock { $0[version] = objects }
        return objects
    }
}
