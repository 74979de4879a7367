package import WaybillCore

package enum Schema {
    /// `WBIL`, in the header of every store: sqlite.org/pragma.html#pragma_application_id.
    static let applicationID = 0x5742_494C

    struct Migration: Sendable {
        var name: String
        var script: String
    }

    /// In order; a store's version (`PRAGMA user_version`) is the number of steps that it has had. Steps are only
    /// appended: a released step never changes.
    static let migrations = [Migration(name: "1.0", script: Tables.script + Views.script)]

    static var version: Int { migrations.count }

    /// Creates the tables of a new store, or updates an older store. Call it inside an SQLite transaction.
    ///
    /// - Returns: Whether the store changed.
    static func migrate(
        _ connection: Connection, by migrations: [Migration] = migrations
    ) throws(WaybillError) -> Bool {
        let version: Int = try connection.integer("PRAGMA user_version")
        if version == 0 {
            // Never add tables to another program's database.
            guard try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 else {
                throw try notAStore(connection)
            }
            try connection.execute("PRAGMA application_id = \(applicationID)")
        } else {
            try check(connection)
        }
        guard version < migrations.count else { return false }
        for migration in migrations[version...] { try connection.execute(migration.script) }
        if version == 0 { try connection.renewID() }
        try connection.execute("PRAGMA user_version = \(migrations.count)")
        return true
    }

    /// Creates the tables for sets of version 0.0.1, which most stores never receive.
    package static func makeLegacyTables(_ connection: Connection) throws(WaybillError) {
        guard try !hasLegacyTables(connection) else { return }
        try connection.execute(Tables.legacy)
    }

    package static func hasLegacyTables(_ connection: Connection) throws(WaybillError) -> Bool {
        try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'legacy_quarantine'") > 0
    }

    /// Makes sure that nothing of another program's is in it, before anything is changed.
    static func checkOwnership(_ connection: Connection) throws(WaybillError) {
        guard try connection.integer("PRAGMA application_id") != applicationID else { return }
        guard try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 else { throw try notAStore(connection) }
    }

    /// Whether the process that created the store ended before it had tables.
    static func isUnfinished(_ connection: Connection) throws(WaybillError) -> Bool {
        let application: Int = try connection.integer("PRAGMA application_id")
        let version = try connection.integer("PRAGMA user_version")
        guard [0, applicationID].contains(application), version == 0 else { return false }
        return try connection.integer("SELECT count(*) FROM sqlite_schema") == 0
    }

    /// Throws an error unless this is an intact store of this version or an older one.
    static func check(_ connection: Connection) throws(WaybillError) {
        guard try connection.integer("PRAGMA application_id") == applicationID else { throw try notAStore(connection) }
        guard try checkVersion(connection) > 0 else { throw try notAStore(connection) }
        try checkObjects(connection)
    }

    /// Returns 0 without a schema, and reads only the file's header.
    @discardableResult
    static func checkVersion(_ connection: Connection) throws(WaybillError) -> Int {
        let version: Int = try connection.integer("PRAGMA user_version")
        guard version <= self.version else {
            throw WaybillError(
                .store,
                "The store at \(connection.place) was written by a newer version of Waybill (schema \(version), known here up to \(self.version)). "
                    + "Update Waybill to read it.")
        }
        return version
    }

    /// Makes sure that it lacks nothing, for callers that only read, and so cannot bring it up to date.
    package static func checkCurrent(
        _ connection: Connection, version needed: Int = version
    ) throws(WaybillError) {
        try check(connection)
        let version = try connection.integer("PRAGMA user_version")
        guard version >= needed else {
            throw WaybillError(
                .store,
                "The store at \(connection.place) was written by an older version of Waybill (schema \(version), needed here is \(needed)). "
                    + "The app or the collector that writes it brings it up to date once it is updated, too; so does `waybill serve` of its folder."
            )
        }
    }

    private static func notAStore(_ connection: Connection) throws(WaybillError) -> WaybillError {
        let tables = try connection.integer(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('sources', 'parts', 'exchanges', 'ranges')"
        )
        // A store with all our tables has only a damaged header.
        return WaybillError(
            tables == 4 ? .damaged : .store,
            "\(connection.place) is not a Waybill store: it is an SQLite database of something else.")
    }
}

struct SchemaObject: Equatable {
    var type: String
    var name: String
    var table: String
    /// `nil` if SQLite created it for a key.
    var sql: String?

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

    fileprivate var key: String { name.lowercased() }
}

extension Schema {
    /// A view in place of a table may never end, and a trigger can do anything. Users' other objects are never read.
    ///
    /// - Throws: `.damaged`, which replaces a store that is recorded into.
    static func checkObjects(_ connection: Connection) throws(WaybillError) {
        let (version, found) = try SchemaObject.all(connection)
        guard (1...self.version).contains(version) else { return }
        var missing = try made(version)
        for object in found {
            if let expected = missing.removeValue(forKey: object.key) {
                guard object == expected else { throw foreign(object, in: connection) }
            } else if object.type == "trigger" {
                throw foreign(object, in: connection)
            } else if try isForeignLegacy(object) {
                throw foreign(object, in: connection)
            }
        }
        guard let object = missing.values.min(by: { $0.name < $1.name }) else { return }
        throw WaybillError(
            .damaged,
            "\(connection.place) is not a whole Waybill store: its \(object.type) “\(object.name)” is missing.")
    }

    /// Whether an object has the name of a table for sets of version 0.0.1, but isn't that table.
    private static func isForeignLegacy(_ object: SchemaObject) throws(WaybillError) -> Bool {
        // Most stores have no such tables, so an app's launch doesn't make them up for comparison.
        guard object.table.lowercased().hasPrefix("legacy_") else { return false }
        let expected = try made(version, and: Tables.legacy)[object.key]
        return expected != nil && expected != object
    }

    private static func foreign(_ object: SchemaObject, in connection: Connection) -> WaybillError {
        WaybillError(
            .damaged,
            "\(connection.place) is not a Waybill store as Waybill makes it, and is not read: its \(object.type) “\(object.name.prefix(40))” comes from somebody else."
        )
    }

    private static let known = Locked<[String: [String: SchemaObject]]>([:])

    /// The objects of a store of a version, by name, as its migrations make them and another script.
    private static func made(_ version: Int, and more: String = "") throws(WaybillError) -> [String: SchemaObject] {
        let key = "\(version) \(more)"
        if let objects = known.withLock({ $0[key] }) { return objects }
        let connection = try Connection(":memory:", .create, at: "memory")
        for migration in migrations[..<version] { try connection.execute(migration.script) }
        try connection.execute(more)
        let objects = Dictionary(uniqueKeysWithValues: try SchemaObject.all(connection).objects.map { ($0.key, $0) })
        known.withLock { $0[key] = objects }
        return objects
    }
}
