#if ClickHouse
import WaybillCore
import WaybillStore

/// A scan of a whole store for another store, inside one read transaction.
struct StoreScan {
    private let connection: Connection
    private let wall: Int64

    /// The store's own facts count as received at `wall`.
    init(_ connection: Connection, at wall: Int64) { (self.connection, self.wall) = (connection, wall) }

    func rest() throws(WaybillError) -> (names: [NameChange], tombstones: [Tombstone]) {
        let erased = """
            SELECT guid, 0 AS with_installation, at_us FROM erased UNION ALL SELECT guid, 1, at_us FROM erased_with_installation
            """
        return (try connection.names("SELECT *, 0 AS removed FROM names"), try connection.tombstones(erased))
    }

    func factCount() throws(WaybillError) -> Int64 {
        try connection.integer(
            """
            SELECT (SELECT count(*) + count(closed) - count(CASE WHEN guid IS NULL THEN 1 END) FROM parts) \
            + (SELECT count(*) FROM events) + (SELECT count(method) + count(closed) FROM exchanges)
            """)
    }

    func forEach(_ body: (SourceBooks) throws -> Void) throws {
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

extension SpanRows {
    func all(after last: PlacedSpan?, limit: Int) throws(WaybillError) -> [PlacedSpan] {
        let row: Int64? = try last.flatMap { last throws(WaybillError) in
            try connection.sourceRow(last.source)?.id
        }
        return try connection.statement(
            """
            SELECT \(Self.columns), guid, (SELECT uuid FROM sources WHERE id = source), received_us FROM spans \
            WHERE (guid, source, span) > (?, ?, ?) ORDER BY guid, source, span LIMIT ?
            """
        ).rows(
            last?.transaction ?? GUID(high: 0, low: 0), row ?? 0, last?.span.id, limit
        ) { row in
            PlacedSpan(
                transaction: row.guid(8), source: row.guid(9), span: Self.span(row), received: row.int(10))
        }
    }
}
#endif
