#if ClickHouse
import WaybillCore
import WaybillStore

extension Store {
    /// Applies the books of sources, with their facts that are left; an arrival keeps its ID.
    func replay(_ books: [SourceBooks]) throws(WaybillError) {
        try write { () throws(WaybillError) in for books in books { try replay(books) } }
    }

    /// Accepts positions up to a place, even if its facts are gone.
    func advanceArrivals(to place: Int64) throws(WaybillError) {
        try write { () throws(WaybillError) in
            try connection.statement("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'arrivals'").run(place)
            guard connection.changeCount == 0 else { return }
            try connection.statement("INSERT INTO sqlite_sequence(name, seq) VALUES ('arrivals', ?)").run(place)
        }
    }

    func replay(_ names: [NameChange]) throws(WaybillError) {
        try write { () throws(WaybillError) in
            let insertion = try connection.statement(
                """
                INSERT INTO names(use_case, event, app, app_version, name) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """)
            let removal = try connection.statement(
                "DELETE FROM names WHERE use_case = ? AND event = ? AND app = ? AND app_version = ? AND name = ?")
            for name in names {
                try (name.isRemoved ? removal : insertion).run(
                    name.useCase, name.event, name.app, name.appVersion, name.name)
            }
        }
        nameCount = nil
    }

    /// Binds installations to the digests of their secrets; an empty one binds to none.
    func replay(_ installations: [GUID: [UInt8]]) throws(WaybillError) {
        try write { () throws(WaybillError) in
            let insertion = try connection.statement(
                """
                INSERT INTO installations(guid, proof_hash) VALUES (?, ?) \
                ON CONFLICT DO UPDATE SET proof_hash = excluded.proof_hash
                """)
            for (id, digest) in installations {
                try insertion.run(id, digest.isEmpty ? nil : ColumnValue.blob(digest))
            }
        }
    }

    /// Applies tombstones; call it after all earlier facts are applied.
    func replay(_ tombstones: [Tombstone]) throws(WaybillError) {
        try write { () throws(WaybillError) in
            for tombstone in tombstones {
                try connection.statement(
                    """
                    INSERT INTO \(tombstone.isWithInstallation ? "erased_with_installation" : "erased")(guid, at_us) VALUES (?, ?) \
                    ON CONFLICT DO NOTHING
                    """
                ).run(tombstone.id, tombstone.at)
                guard let digest = tombstone.proofDigest else { continue }
                try connection.statement(
                    "INSERT INTO installations(guid, proof_hash) VALUES (?, ?) ON CONFLICT DO NOTHING"
                ).run(tombstone.id, ColumnValue.blob(digest))
            }
        }
    }

    /// Applies spans, and finds the exchanges that caused them; call it after their facts are applied.
    func replay(_ spans: [PlacedSpan]) throws(WaybillError) {
        guard !spans.isEmpty else { return }
        try write { () throws(WaybillError) in
            let (rows, causes) = (SpanRows(connection), SpanCauses(connection))
            var (uncaused, undecided): (Set<GUID>, Set<GUID>) = ([], [])
            for placed in spans {
                guard let source = try connection.sourceRow(placed.source) else { continue }
                try rows.write(placed.span, of: source.id, in: placed.transaction, at: placed.received)
                if placed.span.isUncaused { uncaused.insert(placed.transaction) }
            }
            for transaction in uncaused where try causes.find(in: transaction) { undecided.insert(transaction) }
            try connection.decideLeaders(of: undecided)
        }
    }

    private func replay(_ books: SourceBooks) throws(WaybillError) {
        let last = try connection.integer("SELECT seq FROM sqlite_sequence WHERE name = 'arrivals'") as Int64
        let ingestion = try book(books.share, at: books.heard, isVouchedFor: true)
        try connection.decideLeaders(of: ingestion.undecided)
        guard let source = try connection.sourceRow(books.share.source.id) else {
            throw WaybillError(.store, "The source \(books.share.source.id) was erased while it was read. Try again.")
        }
        try connection.statement("UPDATE sources SET proof_hash = ifnull(proof_hash, ?) WHERE id = ?").run(
            books.proofDigest.map(ColumnValue.blob), source.id)
        if let installation = books.share.source.installation {
            try connection.statement(
                "UPDATE installations SET proof_hash = ifnull(proof_hash, ?) WHERE guid = ?"
            ).run(books.installationDigest.map(ColumnValue.blob), installation)
        }
        // Arrivals keep the IDs that they have elsewhere.
        try connection.statement("DELETE FROM arrivals WHERE source = ? AND id > ?").run(source.id, last)
        let insertion = try connection.statement(
            """
            INSERT INTO arrivals(id, source, first, last, received_us) VALUES (?, ?, ?, ?, ?) \
            ON CONFLICT(id) DO UPDATE SET id = id WHERE source = excluded.source AND first = excluded.first
            """)
        let retired = RangeTable.retired(connection)
        try retired.add(books.retired, to: source.id)
        var received = books.retired
        for arrival in books.arrivals {
            let range = SequenceRanges([arrival])
            received = received.union(range)
            // An arrival without facts has nothing to export.
            guard !range.subtracting(try retired.sequences(of: source.id, meeting: range)).isEmpty else { continue }
            // If two arrivals have the same ID by chance, the second gets the next free one.
            for place in arrival.id..<arrival.id + 100 {
                try insertion.run(place, source.id, arrival.first, arrival.last, arrival.received)
                if connection.changeCount > 0 { break }
            }
        }
        received = received.subtracting(try connection.erasedSequences(of: source.id, meeting: received))
        try connection.bookedRanges.add(received, to: source.id)
        try connection.statement("UPDATE sources SET delivered = ? WHERE id = ?").run(
            try connection.bookedCount(of: source.id) as Int64, source.id)
    }
}
#endif
