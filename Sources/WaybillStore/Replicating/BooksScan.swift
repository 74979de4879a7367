package import WaybillCore

/// Reads all that a store holds of its sources, in a form that another store takes over.
///
/// By source, and of each its facts, some thousand at a time, then its books with what has no facts any more; inside a
/// read that sees one state of the store.
package struct BooksScan {
    private let connection: Connection
    private let wall: Int64

    /// - Parameter wall: When what was recorded into the store itself counts as received, in microseconds since 1970.
    package init(_ connection: Connection, at wall: Int64) { (self.connection, self.wall) = (connection, wall) }

    /// What belongs to no source.
    package func rest() throws(WaybillError) -> (names: [NameChange], tombstones: [Tombstone]) {
        let names = try connection.statement("SELECT use_case, event, app, app_version, name FROM names").rows { row in
            NameChange(
                useCase: row.int(0), event: row.int(1), app: row.text(2), appVersion: row.text(3), name: row.text(4),
                isRemoved: false)
        }
        let tombstones = try connection.statement(
            """
            SELECT guid, 0, at_us, (SELECT i.proof_hash FROM installations i WHERE i.guid = e.guid) FROM erased e \
            UNION ALL SELECT guid, 1, at_us, NULL FROM erased_with_installation
            """
        ).rows { row in
            Tombstone(
                id: row.guid(0), isWithInstallation: row.bool(1), at: row.int(2), proofDigest: row.optionalBytes(3))
        }
        return (names, tombstones)
    }

    /// How many facts there are.
    package func factCount() throws(WaybillError) -> Int64 {
        try connection.integer(
            """
            SELECT (SELECT count(*) + count(closed) - count(CASE WHEN guid IS NULL THEN 1 END) FROM parts) \
            + (SELECT count(*) FROM events) + (SELECT count(method) + count(closed) FROM network_logs)
            """)
    }

    /// Hands over what is there, piece by piece.
    package func forEach(_ body: (SourceBooks) throws -> Void) throws {
        let sources = try connection.statement("SELECT id FROM sources ORDER BY id").rows { row in row.int(0) as Int64 }
        // No index has them by source: to look for those of each would go through all of them as often.
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
            let isOwn = books.heard == 0
            if isOwn { books.heard = wall }
            let arrivals = arrivals[row] ?? []
            var visitor = Visitor(books: books, arrivals: isOwn ? nil : arrivals, wall: wall)
            var scan = try FactScan([ScannedShare(row: row)], isFiltered: false, connection)
            var isMore = true
            while isMore {
                isMore = try scan.run(&visitor)
                if let piece = visitor.take() { try body(piece) }
            }
            // Also of a source of which no fact is left.
            try body(books)
        }
    }

    /// Collects facts of one source.
    private struct Visitor: FactVisitor {
        let books: SourceBooks
        /// nil: they were recorded into the store itself.
        let arrivals: [SourceBooks.Arrival]?
        let wall: Int64
        private var facts: [Fact] = []
        private var transactions: [Int64: SourceBooks.PlacedPart] = [:]

        init(books: SourceBooks, arrivals: [SourceBooks.Arrival]?, wall: Int64) {
            (self.books, self.arrivals, self.wall) = (books, arrivals, wall)
        }

        var isFull: Bool { facts.count >= 20_000 }

        mutating func enter(_ source: ScannedSource) {}

        mutating func enter(_ part: ScannedPart) {
            if case .opened(let opened) = part.opened?.content {
                transactions[part.sequence] = SourceBooks.PlacedPart(
                    transaction: opened.transaction, useCase: opened.useCase)
            }
        }

        mutating func visit(_ fact: Fact, closing opening: Fact?) { facts.append(fact) }

        /// What was collected, with when it came; nil: nothing.
        mutating func take() -> SourceBooks? {
            guard !facts.isEmpty else { return nil }
            var piece = books
            piece.share.facts = facts.sorted { $0.sequence < $1.sequence }
            piece.transactions = transactions
            let here = SequenceRanges(each: piece.share.facts.lazy.map(\.sequence))
            let came = arrivals ?? [SourceBooks.Arrival(first: 1, last: .max / 4, received: wall)]
            var left = here
            for arrival in came {
                let range = SequenceRanges([arrival.first...max(arrival.first, arrival.last)])
                for its in left.subtracting(left.subtracting(range)).ranges {
                    piece.arrivals.append(
                        SourceBooks.Arrival(
                            first: its.lowerBound, last: its.upperBound, received: arrival.received))
                }
                left = left.subtracting(range)
            }
            // Of facts whose arrival was not kept, the last time that the source was heard of.
            for its in left.ranges {
                piece.arrivals.append(
                    SourceBooks.Arrival(first: its.lowerBound, last: its.upperBound, received: books.heard))
            }
            (facts, transactions) = ([], [:])
            return piece
        }
    }
}
