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
        try LeadingParts(connection: connection).decide(each: ingestion.undecided)
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

/// What a write would change, without the change: for a store whose rows are kept elsewhere, and of which this one is
/// a copy.
extension Store {
    /// The verdicts on sets, and what they would change.
    ///
    /// - Parameter factsPerTransaction: Facts of a transaction beyond so many are rejected; nil: however many come.
    package func rehearse(_ arrivals: [ReceivedSet], factsPerTransaction: Int?) throws(WaybillError) -> (
        results: [Result<Receipt, WaybillError>], changes: StoreChanges
    ) {
        var facts: [FactID: Fact] = [:]
        for share in arrivals.flatMap(\.set.set.sources) {
            for fact in share.facts {
                let id = FactID(source: share.source.id, sequence: fact.sequence)
                if facts[id] == nil { facts[id] = fact }
            }
        }
        let fact: (FactID) -> Fact? = { facts[$0] }
        return try rehearse(fact) { () throws(WaybillError) in
            var results: [Result<Receipt, WaybillError>] = []
            for arrival in arrivals {
                results.append(
                    try connection.savepoint { () throws(WaybillError) in
                        try book(
                            arrival.set, at: arrival.atMicroseconds, factsPerTransaction: factsPerTransaction,
                            hasRows: false)
                    })
            }
            return results
        }
    }

    /// What an erasure would erase and change.
    package func rehearseErasure(_ scope: ErasureScope, at wall: Int64) throws(WaybillError) -> (
        erasure: Erasure, changes: StoreChanges
    ) {
        try rehearse { () throws(WaybillError) in try eraseRows(scope, at: wall) }
    }

    /// What one step towards limits would take away and change; see `RecordStore.retire(_:)`.
    package func rehearseRetirement(_ step: (Store) throws(WaybillError) -> Int) throws(WaybillError) -> (
        factCount: Int, changes: StoreChanges
    ) {
        try rehearse { () throws(WaybillError) in try step(self) }
    }

    private func rehearse<Value>(
        _ fact: (FactID) -> Fact? = { _ in nil }, _ body: () throws(WaybillError) -> Value
    ) throws(WaybillError) -> (Value, StoreChanges) {
        let changed = ChangedRows(connection: connection)
        try changed.begin()
        defer { nameCount = nil }
        return try write { () throws(WaybillError) in
            let last = try connection.integer("SELECT seq FROM sqlite_sequence WHERE name = 'arrivals'") as Int64
            var (value, changes) = try undone { () throws(WaybillError) in
                let value = try body()
                return (value, try changed.changes(behind: last, fact))
            }
            for index in changes.books.indices { try findGone(&changes.books[index]) }
            return (value, changes)
        }
    }

    /// What `body` gives, whatever it wrote.
    private func undone<Value>(_ body: () throws(WaybillError) -> Value) throws(WaybillError) -> Value {
        try connection.execute("SAVEPOINT rehearsal")
        let result = Result { () throws(WaybillError) in try body() }
        try connection.execute("ROLLBACK TO rehearsal; RELEASE rehearsal")
        return try result.get()
    }

    /// Finds what is here and would not be any more.
    private func findGone(_ books: inout SourceBooks) throws(WaybillError) {
        guard let source = try SourceRows(connection: connection).find(books.share.source.id) else { return }
        let erased = books.share.dropped.filter { $0.reason == .erased }.sequences
        if !erased.isEmpty {
            let received = try RangeRows(connection: connection).booked(of: source.id, meeting: erased)
            books.gone = received.subtracting(received.subtracting(erased))
        }
        if !books.retired.isEmpty {
            let before = try RetiredRows(connection: connection).sequences(of: source.id)
            books.gone = books.gone.union(books.retired.subtracting(before))
        }
    }
}

/// What sets, an erasure or a retirement change of a store, in a form that can be kept elsewhere and replayed.
///
/// A fact is written once and never changed; of everything else here the whole new state is told, so that what is
/// replayed twice, or in another order, gives the same rows.
package struct StoreChanges: Sendable {
    /// Of each source of which anything changed.
    package var books: [SourceBooks] = []
    /// What is not taken in any more.
    package var tombstones: [Tombstone] = []
    /// Sources of an installation that was erased: nothing of them stays.
    package var removedSources: [GUID] = []
    /// Names of codes that came, or went.
    package var names: [NameChange] = []

    package init(names: [NameChange] = [], tombstones: [Tombstone] = []) {
        (self.names, self.tombstones) = (names, tombstones)
    }

    /// Whether nothing changed.
    package var isEmpty: Bool { books.isEmpty && tombstones.isEmpty && removedSources.isEmpty && names.isEmpty }
}

/// What is booked of one source, and its facts.
package struct SourceBooks: Sendable {
    /// The source with its clocks, how it ended, what it has recorded and given up; with neither names nor proofs. Its
    /// facts are those that arrived.
    package var share: TransactionSet.Share
    /// When it was last heard of, in microseconds since 1970.
    package var heard: Int64
    /// SHA-256 of the secret of the source; nil: it has shown none.
    package var proofDigest: [UInt8]?
    /// SHA-256 of the secret of its installation; nil: none was shown.
    package var installationDigest: [UInt8]?
    /// What arrived, as far as it is new.
    package var arrivals: [Arrival]
    /// What was received and taken away again to keep within limits.
    package var retired: SequenceRanges
    /// The transactions of the parts that facts belong to, as far as they are known.
    package var transactions: [Int64: PlacedPart]
    /// Facts whose rows went: they were erased or retired.
    package var gone = SequenceRanges()

    package init(
        _ share: TransactionSet.Share, heard: Int64, proofDigest: [UInt8]? = nil, installationDigest: [UInt8]? = nil,
        arrivals: [Arrival] = [], retired: SequenceRanges = SequenceRanges(), transactions: [Int64: PlacedPart] = [:]
    ) {
        self.share = share
        self.heard = heard
        self.proofDigest = proofDigest
        self.installationDigest = installationDigest
        self.arrivals = arrivals
        self.retired = retired
        self.transactions = transactions
    }

    /// Facts in a row that came together.
    package struct Arrival: Sendable, Hashable {
        /// The place among all arrivals, which is never given twice; 0: it has none yet.
        package var id: Int64
        package var first: Int64
        package var last: Int64
        /// In microseconds since 1970.
        package var received: Int64

        package init(id: Int64 = 0, first: Int64, last: Int64, received: Int64) {
            (self.id, self.first, self.last, self.received) = (id, first, last, received)
        }
    }

    /// What a part belongs to.
    package struct PlacedPart: Sendable, Hashable {
        package var transaction: GUID
        package var useCase: Int

        package init(transaction: GUID, useCase: Int) { (self.transaction, self.useCase) = (transaction, useCase) }
    }
}

/// An installation or a transaction of which nothing more is taken in.
package struct Tombstone: Sendable, Hashable {
    package var id: GUID
    /// Whether it is a transaction that went with the installation that began it: who else began it keeps it.
    package var isWithInstallation: Bool
    /// In microseconds since 1970.
    package var at: Int64
    /// Of an installation, SHA-256 of its secret, by which others are still told from it; nil: it has shown none.
    package var proofDigest: [UInt8]?

    package init(id: GUID, isWithInstallation: Bool, at: Int64, proofDigest: [UInt8]? = nil) {
        (self.id, self.isWithInstallation, self.at) = (id, isWithInstallation, at)
        self.proofDigest = proofDigest
    }
}

/// What a version of an app calls a code, or does no longer.
package struct NameChange: Sendable, Hashable {
    package var useCase: Int
    /// -1: the use case itself.
    package var event: Int
    package var app: String
    package var appVersion: String
    package var name: String
    package var isRemoved: Bool

    package init(useCase: Int, event: Int, app: String, appVersion: String, name: String, isRemoved: Bool) {
        (self.useCase, self.event, self.app, self.appVersion) = (useCase, event, app, appVersion)
        (self.name, self.isRemoved) = (name, isRemoved)
    }
}
