package import WaybillCore

/// A scan of a whole store for another store, inside one read transaction.
package struct StoreScan {
    private let connection: Connection
    private let wall: Int64

    /// The store's own facts count as received at `wall`.
    package init(_ connection: Connection, at wall: Int64) { (self.connection, self.wall) = (connection, wall) }

    package func rest() throws(WaybillError) -> (names: [NameChange], tombstones: [Tombstone]) {
        let erased = """
            SELECT guid, 0 AS with_installation, at_us FROM erased UNION ALL SELECT guid, 1, at_us FROM erased_with_installation
            """
        return (try connection.names("SELECT *, 0 AS removed FROM names"), try connection.tombstones(erased))
    }

    package func factCount() throws(WaybillError) -> Int64 {
        try connection.integer(
            """
            SELECT (SELECT count(*) + count(closed) - count(CASE WHEN guid IS NULL THEN 1 END) FROM parts) \
            + (SELECT count(*) FROM events) + (SELECT count(method) + count(closed) FROM exchanges)
            """)
    }

    package func forEach(_ body: (SourceBooks) throws -> Void) throws {
        let sources = try connection.statement("SELECT id FROM sources ORDER BY id").rows { row in row.int(0) as Int64 }
        // No index has arrivals by source, so a query for each source would read them all.
        var arrivals: [Int64: [SourceBooks.Arrival]] = [:]
        try connection.statement("SELECT source, first, last, received_us FROM arrivals ORDER BY id").forEachRow {
            row in
            arrivals[row.int(0), default: []].append(
                SourceBooks.Arrival(first: row.int(1), last: row.int(2), received: row.int(3)))
        }
        for row in sources {
            guard var books = try ChangedRows(connection: connection).books(of: row, behind: .max, { _ in nil }) else {
                continue
            }
            if books.heard == 0 { books.heard = wall }
            // Facts without an arrival get the time of the source's last set.
            let others = SourceBooks.Arrival(first: 1, last: .max / 4, received: books.heard)
            books.arrivals = (arrivals[row] ?? []) + [others]
            var visitor = Visitor()
            var scan = try FactScan([ScannedShare(row: row)], isFiltered: false, connection)
            var isMore = true
            while isMore {
                isMore = try scan.run(&visitor)
                guard !visitor.facts.isEmpty else { continue }
                var piece = books
                piece.share.facts = visitor.facts.ordered { $0.sequence < $1.sequence }
                piece.transactions = visitor.transactions
                visitor = Visitor()
                try body(piece)
            }
            try body(books)
        }
    }

    private struct Visitor: FactVisitor {
        var facts: [Fact] = []
        var transactions: [Int64: PlacedPart] = [:]

        var isFull: Bool { facts.count >= 20_000 }

        func enter(_ source: ScannedSource) {}

        mutating func enter(_ part: ScannedPart) {
            if case .opened(let opened) = part.opened?.content { transactions[part.sequence] = PlacedPart(opened) }
        }

        mutating func visit(_ fact: Fact, closing opening: Fact?) { facts.append(fact) }
    }
}

extension Connection {
    fileprivate func names(_ query: String) throws(WaybillError) -> [NameChange] {
        try statement("SELECT use_case, event, app, app_version, name, removed FROM (\(query))").rows { row in
            NameChange(
                useCase: row.int(0), event: row.int(1), app: row.text(2), appVersion: row.text(3), name: row.text(4),
                isRemoved: row.bool(5))
        }
    }

    fileprivate func tombstones(_ query: String) throws(WaybillError) -> [Tombstone] {
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
        let source = scanned.source
        var share = TransactionSet.Share(source: source, clocks: scanned.clock.anchors, hasEnded: scanned.hasEnded)
        share.endedBy = scanned.hasEnded ? scanned.endedBy : nil
        share.dropped = try RangeRows(connection: connection).dropped(of: row)
        var books = SourceBooks(share, heard: 0)
        try connection.statement("SELECT recorded, refused, heard_us, proof_hash FROM sources WHERE id = ?").forEachRow(
            row
        ) { row in
            books.share.ledger.recorded = row.int(0)
            books.share.ledger.refused = row.int(1)
            books.heard = row.int(2)
            books.proofDigest = row.optionalBytes(3)
        }
        if let installation = source.installation {
            books.installationDigest =
                try connection.statement("SELECT proof_hash FROM installations WHERE guid = ?").first(installation) {
                    row in row.optionalBytes(0)
                } ?? nil
        }
        books.retired = try RetiredRows(connection: connection).sequences(of: row)
        books.arrivals = try connection.statement(
            "SELECT first, last, received_us FROM arrivals WHERE source = ? AND id > ? ORDER BY id"
        ).rows(row, arrival) { row in
            SourceBooks.Arrival(first: row.int(0), last: row.int(1), received: row.int(2))
        }
        let placed = try PlacedParts(of: row, connection)
        for arrival in books.arrivals {
            for sequence in arrival.first...arrival.last {
                guard let fact = fact(FactID(source: source.id, sequence: sequence)) else { continue }
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
