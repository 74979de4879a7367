#if ClickHouse
import WaybillCore
import WaybillStore

/// Rehearsals return what a write would change, for a store whose rows are kept elsewhere.
extension Store {
    func rehearse(_ arrivals: [ReceivedSet]) throws(WaybillError) -> (
        results: [Result<Receipt, WaybillError>], changes: StoreChanges
    ) {
        try rehearse { () throws(WaybillError) in
            let results = try arrivals.map { (arrival) throws(WaybillError) in
                try connection.savepoint { () throws(WaybillError) in
                    try book(arrival.set, at: arrival.atMicroseconds, hasRows: false)
                }
            }
            return (results, arrivals.flatMap(\.set.sources))
        }
    }

    func rehearse<Value>(
        _ body: () throws(WaybillError) -> (Value, [TransactionSet.Share])
    ) throws(WaybillError) -> (Value, StoreChanges) {
        let changed = ChangedRows(connection: connection)
        defer { nameCount = nil }
        return try write { () throws(WaybillError) in
            let last = try connection.integer("SELECT seq FROM sqlite_sequence WHERE name = 'arrivals'") as Int64
            var (value, changes) = try undone { () throws(WaybillError) in
                try changed.begin()
                let (value, shares) = try body()
                var facts: [FactID: Fact] = [:]
                for share in shares {
                    for fact in share.facts {
                        let id = FactID(source: share.source.id, sequence: fact.sequence)
                        if facts[id] == nil { facts[id] = fact }
                    }
                }
                return (value, try changed.changes(behind: last) { facts[$0] })
            }
            for index in changes.books.indices { try findGone(&changes.books[index]) }
            return (value, changes)
        }
    }

    private func undone<Value>(_ body: () throws(WaybillError) -> Value) throws(WaybillError) -> Value {
        try connection.execute("SAVEPOINT rehearsal")
        let result = Result { () throws(WaybillError) in try body() }
        try connection.execute("ROLLBACK TO rehearsal; RELEASE rehearsal")
        return try result.get()
    }

    private func findGone(_ books: inout SourceBooks) throws(WaybillError) {
        guard let source = try connection.sourceRow(books.share.source.id) else { return }
        let erased = books.share.dropped.filter { $0.reason == .erased }.sequences
        if !erased.isEmpty {
            let received = try connection.bookedRanges.sequences(of: source.id, meeting: erased)
            books.gone = received.intersection(erased)
        }
        if !books.retired.isEmpty {
            let before = try RangeTable.retired(connection).sequences(of: source.id)
            books.gone = books.gone.union(books.retired.subtracting(before))
        }
    }
}

/// The books that a rehearsal touches, recorded in temporary tables, which its rollback removes.
struct ChangedRows {
    let connection: Connection

    func begin() throws(WaybillError) { try connection.execute(Self.script) }

    func changes(behind arrival: Int64, _ fact: (FactID) -> Fact?) throws(WaybillError) -> StoreChanges {
        var changes = StoreChanges()
        let rows = try connection.statement(
            "SELECT c.source FROM temp.changed_sources c JOIN sources s ON s.id = c.source WHERE s.heard_us IS NOT NULL ORDER BY c.source"
        ).rows { row in row.int(0) as Int64 }
        for row in rows {
            if let books = try books(of: row, behind: arrival, fact) { changes.books.append(books) }
        }
        changes.removedSources = try connection.statement("SELECT uuid FROM temp.removed_sources ORDER BY uuid").rows {
            row in row.guid(0)
        }
        changes.names = try connection.names("SELECT * FROM temp.changed_names")
        changes.tombstones = try connection.tombstones("SELECT * FROM temp.changed_tombstones")
        changes.begun = try connection.statement(
            """
            SELECT p.guid, p.listed_us, \(SQL.wall("p.at_us", source: "p.source")) FROM temp.changed_places c \
            JOIN parts p ON p.guid = c.guid WHERE p.listed_us IS NOT NULL
            """
        ).rows { row in
            let (listed, begun): (Int64, Int64) = (row.int(1), row.int(2))
            return (row.guid(0), listed == begun ? listed : .max)
        }
        changes.spans = try SpanRows(connection).changed()
        return changes
    }

    func books(of row: Int64, behind arrival: Int64, _ fact: (FactID) -> Fact?) throws(WaybillError)
        -> SourceBooks?
    {
        guard let scanned = try ScannedSource(ScannedShare(row: row), connection) else { return nil }
        var books = SourceBooks(
            share: scanned.share(dropped: try connection.droppedRanges(of: row)), heard: 0)
        try connection.statement("SELECT heard_us, proof_hash FROM sources WHERE id = ?").forEachRow(row) { row in
            (books.heard, books.proofDigest) = (row.int(0), row.optionalBytes(1))
        }
        if let installation = scanned.source.installation {
            books.installationDigest =
                try connection.statement("SELECT proof_hash FROM installations WHERE guid = ?").first(installation) {
                    row in row.optionalBytes(0)
                } ?? nil
        }
        books.retired = try RangeTable.retired(connection).sequences(of: row)
        books.arrivals = try connection.statement(
            "SELECT first, last, received_us FROM arrivals WHERE source = ? AND id > ? ORDER BY id"
        ).rows(row, arrival) { row in
            SourceBooks.Arrival(first: row.int(0), last: row.int(1), received: row.int(2))
        }
        let placed = try PlacedParts(of: row, connection)
        for arrival in books.arrivals {
            for sequence in arrival.range {
                guard let fact = fact(FactID(source: scanned.source.id, sequence: sequence)) else { continue }
                books.share.facts.append(fact)
                guard fact.part > 0, books.transactions[fact.part] == nil else { continue }
                books.transactions[fact.part] = try placed.part(fact.part)
            }
        }
        return books
    }

    /// Triggers find tables by name alone, so these names must be unique.
    private static let script = """
        CREATE TEMP TABLE changed_sources(source INTEGER PRIMARY KEY);
        CREATE TEMP TABLE removed_sources(uuid BLOB PRIMARY KEY);
        CREATE TEMP TABLE changed_names(use_case INTEGER, event INTEGER, app TEXT, app_version TEXT, name TEXT, removed INTEGER, \
        PRIMARY KEY(use_case, event, app, app_version, name));
        CREATE TEMP TABLE changed_tombstones(guid BLOB, with_installation INTEGER, at_us INTEGER, PRIMARY KEY(guid, with_installation));
        \(["sources", "clocks", "dropped", "retired", "arrivals"].flatMap(changes).joined(separator: "\n"))
        CREATE TEMP TABLE changed_places(guid BLOB PRIMARY KEY);
        \([("added", "INSERT"), ("changed", "UPDATE OF listed_us")].map { name, event in
            """
            CREATE TEMP TRIGGER place_\(name) AFTER \(event) ON main.parts WHEN new.listed_us IS NOT NULL BEGIN \
            INSERT INTO changed_places SELECT new.guid WHERE new.guid NOT IN (SELECT guid FROM changed_places); END;
            """
        }.joined(separator: "\n"))
        CREATE TEMP TABLE changed_spans(guid BLOB, source INTEGER, span BLOB, waited INTEGER, PRIMARY KEY(guid, source, span));
        \([
            ("added", "INSERT", "new", "0"), ("removed", "DELETE", "old", "0"),
            ("placed", "UPDATE OF part", "new", "old.waiting IS NOT NULL"),
        ].map { name, event, row, waited in
            """
            CREATE TEMP TRIGGER span_\(name) AFTER \(event) ON main.spans BEGIN \
            INSERT INTO changed_spans SELECT \(row).guid, \(row).source, \(row).span, \(waited) WHERE NOT EXISTS \
            (SELECT 1 FROM changed_spans c WHERE c.guid = \(row).guid AND c.source = \(row).source AND c.span = \(row).span); END;
            """
        }.joined(separator: "\n"))
        CREATE TEMP TRIGGER source_removed AFTER DELETE ON main.sources BEGIN \
        INSERT OR IGNORE INTO removed_sources VALUES (old.uuid); END;
        \(["insert": "new", "delete": "old"].sorted { $0.key < $1.key }.map { event, row in
            """
            CREATE TEMP TRIGGER name_\(event) AFTER \(event) ON main.names BEGIN INSERT OR REPLACE INTO changed_names \
            VALUES (\(row).use_case, \(row).event, \(row).app, \(row).app_version, \(row).name, \(event == "delete" ? 1 : 0)); END;
            """
        }.joined(separator: "\n"))
        CREATE TEMP TRIGGER tombstone_insert AFTER INSERT ON main.erased BEGIN \
        INSERT OR REPLACE INTO changed_tombstones VALUES (new.guid, 0, new.at_us); END;
        CREATE TEMP TRIGGER tombstone_with_installation AFTER INSERT ON main.erased_with_installation BEGIN \
        INSERT OR REPLACE INTO changed_tombstones VALUES (new.guid, 1, new.at_us); END;
        """

    /// The update of an upsert fires its trigger with its own conflict policy, which replaces an `OR IGNORE`
    /// (sqlite.org/lang_createtrigger.html).
    private static func changes(of table: String) -> [String] {
        let column = table == "sources" ? "id" : "source"
        return [("insert", "new"), ("update", "new"), ("delete", "old")].map { event, row in
            """
            CREATE TEMP TRIGGER \(table)_\(event) AFTER \(event) ON main.\(table) BEGIN \
            INSERT INTO changed_sources SELECT \(row).\(column) \
            WHERE \(row).\(column) NOT IN (SELECT source FROM changed_sources); END;
            """
        }
    }
}

extension Connection {
    func names(_ query: String) throws(WaybillError) -> [NameChange] {
        try statement("SELECT use_case, event, app, app_version, name, removed FROM (\(query))").rows { row in
            NameChange(
                useCase: row.int(0), event: row.int(1), app: row.text(2), appVersion: row.text(3), name: row.text(4),
                isRemoved: row.bool(5))
        }
    }

    func tombstones(_ query: String) throws(WaybillError) -> [Tombstone] {
        try statement(
            """
            SELECT guid, with_installation, at_us, (SELECT i.proof_hash FROM installations i WHERE i.guid = t.guid) \
            FROM (\(query)) t
            """
        ).rows { row in
            Tombstone(
                id: row.guid(0), isWithInstallation: row.bool(1), at: row.int(2), proofDigest: row.optionalBytes(3))
        }
    }
}

extension SpanRows {
    func changed() throws(WaybillError) -> [PlacedSpan] {
        try connection.statement(
            """
            SELECT c.span, s.parent, ifnull(s.kind, 0), s.part, s.fact, s.waiting, s.uncaused, s.original, c.guid, \
            ifnull((SELECT uuid FROM sources WHERE id = c.source), zeroblob(16)), ifnull(s.received_us, 0), c.waited, s.span IS NULL, \
            NOT EXISTS(SELECT 1 FROM spans x WHERE x.guid = c.guid) \
            FROM temp.changed_spans c LEFT JOIN spans s ON s.guid = c.guid AND s.source = c.source AND s.span = c.span
            """
        ).rows { row in
            var placed = PlacedSpan(
                transaction: row.guid(8), source: row.guid(9), span: Self.span(row), received: row.int(10))
            (placed.hasWaited, placed.isGone, placed.isLast) = (row.bool(11), row.bool(12), row.bool(13))
            return placed
        }
    }
}
#endif
