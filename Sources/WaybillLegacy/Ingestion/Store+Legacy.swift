package import WaybillCore
package import WaybillReading
package import WaybillStore

extension SQLiteStore {
    /// Takes in a set of version 0.0.1; what could not be read of it goes into quarantine.
    ///
    /// - Parameter digest: Of the body as it came, by a hash for which two bodies cannot be found.
    /// - Returns: As for other sets; all is known where the same bytes came within the last day.
    package func add(_ set: LegacySet, digest: [UInt8]) async throws(WaybillError) -> Receipt {
        let (wall, redactor) = (clock.wallMicroseconds(), redactor)
        return try await writer.add { store, limit throws(WaybillError) in
            try store.ingest(
                set, digest: digest, receivedAt: wall, factsPerTransaction: limit, redactor: redactor)
        }
    }
}

/// Sets of version 0.0.1 come in.
extension Store {
    /// How long the same bytes count as the same set, in microseconds: 24 hours.
    package static let legacyMemoryMicroseconds: Int64 = 86_400_000_000

    /// Books a set of version 0.0.1 in one SQLite transaction; what could not be read of it goes into quarantine.
    ///
    /// - Parameters:
    ///   - digest: Of the body as it came, by a hash for which two bodies cannot be found.
    ///   - wall: Now, in microseconds since 1970.
    ///   - factsPerTransaction: Facts of a transaction beyond so many are rejected; nil: however many come.
    /// - Returns: A receipt under an ID of its own: all is known where the same bytes were booked within the last day,
    ///   else nothing is. Right to be answered once this has returned and commits are synced.
    package func ingest(
        _ set: LegacySet, digest: [UInt8], receivedAt wall: Int64, factsPerTransaction: Int? = nil,
        redactor: Redactor = Redactor()
    ) throws(WaybillError) -> Receipt {
        try write { () throws(WaybillError) in
            let digest = ColumnValue.blob(digest)
            try connection.statement("DELETE FROM legacy_sets WHERE received_us <= ?").run(
                wall - Self.legacyMemoryMicroseconds)
            let isKnown =
                try connection.statement("SELECT 1 FROM legacy_sets WHERE digest = ?").first(digest) { _ in true }
                ?? false
            if isKnown { return Receipt(set: GUID(), acceptedCount: 0, knownCount: set.factCount) }
            try connection.statement("INSERT INTO legacy_sets(digest, received_us) VALUES (?, ?)").run(digest, wall)
            let source = try legacySource()
            let recorded = try SourceRows(connection: connection).find(source)?.recorded ?? 0
            let rejections = try quarantine(set.unread, of: source, redactor: redactor, at: wall)
            var legacy = LegacyIngestion(connection: connection, redactor: redactor, receivedMicroseconds: wall)
            var share = try legacy.share(set, of: source, recorded: recorded)
            guard !share.facts.isEmpty else { return Receipt(set: GUID(), acceptedCount: 0, rejections: rejections) }
            // Kept nowhere: a set of another format that names this source is refused.
            share.sourceProof = IdentityProof()
            var ingestion = try Ingestion(share, unread: [], at: wall, connection)
            ingestion.isVouchedFor = true
            ingestion.factsPerTransaction = factsPerTransaction
            try ingestion.run(at: wall)
            try Leaders(connection: connection).decide(each: ingestion.undecided)
            return Receipt(
                set: GUID(), acceptedCount: ingestion.acceptedCount, rejections: ingestion.rejections + rejections)
        }
    }

    /// Keeps the transactions that could not be read, but for those of which nothing is to be taken in any more.
    private func quarantine(
        _ unread: [LegacySet.Unread], of source: GUID, redactor: Redactor, at wall: Int64
    ) throws(WaybillError) -> [Rejection] {
        let tombstones = try Tombstones(connection, at: wall)
        let quarantine = LegacyQuarantine(connection: connection)
        var rejections: [Rejection] = []
        for (index, entry) in unread.enumerated() {
            rejections.append(
                Rejection(source: source, sequence: nil, index: index, reason: redactor.text(entry.reason)))
            if let id = entry.transaction, try tombstones.contains(id) { continue }
            try quarantine.add(entry, redactor: redactor, at: wall)
        }
        return rejections
    }

    /// The one source that stands for all senders of this store.
    private func legacySource() throws(WaybillError) -> GUID {
        let key = "legacy_source"
        if let source = try setting(key).flatMap({ GUID($0) }) { return source }
        let source = GUID()
        try connection.statement("INSERT INTO settings(key, value) VALUES (?, ?)").run(key, source.description)
        return source
    }
}

extension LegacyQuarantine {
    /// Keeps what could not be read, redacted.
    package func add(_ unread: LegacySet.Unread, redactor: Redactor, at wall: Int64) throws(WaybillError) {
        let json = String(decoding: redactor.body(unread.json, contentType: "application/json"), as: UTF8.self)
        try add(
            LegacyQuarantined(
                transaction: unread.transaction, reason: redactor.text(unread.reason), json: json,
                receivedMicroseconds: wall))
    }
}
