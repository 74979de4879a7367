package import WaybillCore

/// What was kept elsewhere comes back.
extension Store {
    /// Takes over what was booked of sources, with their facts.
    ///
    /// - Parameter books: Of each source as often as it comes; arrivals have their places.
    package func replay(_ books: [SourceBooks]) throws(WaybillError) {
        try write { () throws(WaybillError) in
            for books in books { try replay(books) }
        }
    }

    /// Takes over names that came or went.
    package func replay(_ names: [NameChange]) throws(WaybillError) {
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

    /// Takes over what is not taken in any more; to be called when all facts are there that came before.
    package func replay(_ tombstones: [Tombstone]) throws(WaybillError) {
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

    private func replay(_ books: SourceBooks) throws(WaybillError) {
        let last = try connection.integer("SELECT seq FROM sqlite_sequence WHERE name = 'arrivals'") as Int64
        var ingestion = try Ingestion(books.share, unread: [], at: books.heard, connection)
        ingestion.isVouchedFor = true
        try ingestion.run(at: books.heard)
        try Leaders(connection: connection).decide(each: ingestion.undecided)
        guard let source = try SourceRows(connection: connection).find(books.share.source.id) else {
            throw WaybillError(.store, "The source \(books.share.source.id) was erased while it was read. Try again.")
        }
        try connection.statement("UPDATE sources SET proof_hash = ifnull(proof_hash, ?) WHERE id = ?").run(
            books.proofDigest.map(ColumnValue.blob), source.id)
        if let installation = books.share.source.installation {
            try connection.statement(
                "UPDATE installations SET proof_hash = ifnull(proof_hash, ?) WHERE guid = ?"
            ).run(books.installationDigest.map(ColumnValue.blob), installation)
        }
        // The places of arrivals are those that they have elsewhere.
        try connection.statement("DELETE FROM arrivals WHERE source = ? AND id > ?").run(source.id, last)
        let insertion = try connection.statement(
            """
            INSERT INTO arrivals(id, source, first, last, received_us) VALUES (?, ?, ?, ?, ?) \
            ON CONFLICT(id) DO UPDATE SET id = id WHERE source = excluded.source AND first = excluded.first
            """)
        let retired = RetiredRows(connection: connection)
        if !books.retired.isEmpty { try retired.add(books.retired, of: source.id) }
        let ranges = RangeRows(connection: connection)
        var received = books.retired
        for arrival in books.arrivals {
            let range = SequenceRanges([arrival.first...arrival.last])
            received = received.union(range)
            // An arrival of which nothing is left has nothing to export.
            guard !range.subtracting(try retired.sequences(of: source.id, meeting: range)).isEmpty else { continue }
            // Of two that were given the same place by chance, the second takes the next one that is free.
            for place in arrival.id..<arrival.id + 100 {
                try insertion.run(place, source.id, arrival.first, arrival.last, arrival.received)
                if connection.changeCount > 0 { break }
            }
        }
        // What was erased has come, and is not here.
        received = received.subtracting(try ranges.erased(of: source.id, meeting: received))
        let before = try ranges.booked(of: source.id, meeting: received)
        try ranges.replace(before, with: before.union(received), of: source.id)
        try connection.statement("UPDATE sources SET delivered = ? WHERE id = ?").run(
            try ranges.bookedCount(of: source.id) as Int64, source.id)
    }
}
