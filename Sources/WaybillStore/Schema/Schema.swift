package import WaybillCore

/// What a Waybill store looks like, and how an older one becomes a current one.
package enum Schema {
    /// `WBIL`, in the header of every store: sqlite.org/pragma.html#pragma_application_id.
    static let applicationID = 0x5742_494C

    /// A step from one version of the schema to the next.
    struct Migration: Sendable {
        var name: String
        var script: String
    }

    /// In order; the version of a store (`PRAGMA user_version`) is how many of them it has. Only ever appended to: a
    /// released one never changes.
    static let migrations = [
        Migration(name: "facts, ranges and leases", script: Tables.script + Views.script),
        Migration(name: "retention", script: Tables.retention),
        Migration(name: "bodies", script: Tables.bodies + Views.exchangesWithBodies),
        Migration(name: "exchanges by time", script: Tables.exchangesByTime),
        Migration(name: "retired facts", script: Tables.retired),
        Migration(name: "sets of version 0.0.1", script: Tables.legacySets),
        Migration(name: "transactions by duration", script: Tables.transactionsByDuration),
        Migration(name: "bad transactions of sets of version 0.0.1", script: Tables.legacyQuarantine),
        Migration(name: "support codes in the view of transactions", script: Views.transactionsWithSupportCode),
        Migration(name: "who may speak for sources and installations", script: Tables.identities),
        Migration(name: "dropped ranges told in pieces", script: Tables.toldRanges),
        Migration(name: "transactions whose beginner is known apart from others", script: Tables.partsByBeginner),
        Migration(name: "an app's first week", script: Tables.firstWeek + Views.withAttributesSet),
        Migration(name: "spans of OpenTelemetry", script: Tables.spans),
        Migration(name: "spans as they came", script: Tables.spansAsTheyCame),
        Migration(name: "names of launches", script: Tables.namesOfLaunches + Views.withNamesOfLaunches),
    ]

    /// Columns that who only reads a store of an older version does not find there, the longer names first.
    static func absentColumns(of connection: Connection) throws(WaybillError) -> [String] {
        try connection.integer("PRAGMA user_version") < 13
            ? ["parent_part", "parent", "ended_by", "sample_ppm", "sample_kept", "slow_us"] : []
    }

    /// The version that this code reads and writes.
    static var version: Int { migrations.count }

    /// Makes the tables of a new store, or those that an older one lacks; call it inside a SQLite transaction.
    ///
    /// - Returns: Whether there was anything to do.
    static func migrate(_ connection: Connection) throws(WaybillError) -> Bool {
        let version: Int = try connection.integer("PRAGMA user_version")
        if version == 0 {
            // Another program's database must not get our tables.
            guard try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 else {
                throw try notAStore(connection)
            }
            try connection.execute("PRAGMA application_id = \(applicationID)")
        } else {
            try check(connection)
        }
        guard version < self.version else { return false }
        for migration in migrations[version...] { try connection.execute(migration.script) }
        try connection.execute("PRAGMA user_version = \(self.version)")
        return true
    }

    /// Makes sure that nothing of another program's is in it, before anything is changed.
    static func checkOwnership(_ connection: Connection) throws(WaybillError) {
        guard try connection.integer("PRAGMA application_id") != applicationID else { return }
        guard try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 else { throw try notAStore(connection) }
    }

    /// Whether it is a store that was never finished: the process that made it ended before its tables were there.
    static func isUnfinished(_ connection: Connection) throws(WaybillError) -> Bool {
        let application: Int = try connection.integer("PRAGMA application_id")
        let version = try connection.integer("PRAGMA user_version")
        guard [0, applicationID].contains(application), version == 0 else { return false }
        return try connection.integer("SELECT count(*) FROM sqlite_schema") == 0
    }

    /// Makes sure that it is a store as it was made, and none of a newer version.
    static func check(_ connection: Connection) throws(WaybillError) {
        guard try connection.integer("PRAGMA application_id") == applicationID else { throw try notAStore(connection) }
        guard try checkVersion(connection) > 0 else { throw try notAStore(connection) }
        try checkObjects(connection)
    }

    /// Makes sure that no newer version of Waybill has written it; costs a look at the file's header.
    ///
    /// - Returns: The version of its schema; 0 for a file without one.
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
    package static func checkCurrent(_ connection: Connection) throws(WaybillError) {
        try check(connection)
        let version = try connection.integer("PRAGMA user_version")
        guard version == self.version else {
            throw WaybillError(
                .store,
                "The store at \(connection.place) was written by an older version of Waybill (schema \(version), needed here is \(self.version)). "
                    + "The app or the collector that writes it brings it up to date once it is updated, too; so does `waybill serve` of its folder."
            )
        }
    }

    private static func notAStore(_ connection: Connection) throws(WaybillError) -> WaybillError {
        let tables = try connection.integer(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('sources', 'parts', 'network_logs', 'ranges')"
        )
        // All of ours: then it is only the header that says otherwise.
        return WaybillError(
            tables == 4 ? .damaged : .store,
            "\(connection.place) is not a Waybill store: it is an SQLite database of something else.")
    }
}

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
