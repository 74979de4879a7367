package import WaybillCore

extension Store {
    /// Applies the books of sources, with their facts that are left; an arrival keeps its ID.
    package func replay(_ books: [SourceBooks]) throws(WaybillError) {
        try write { () throws(WaybillError) in for books in books { try replay(books) } }
    }

    /// Accepts positions up to a place, even if its facts are gone.
    package func advanceArrivals(to place: Int64) throws(WaybillError) {
        try write { () throws(WaybillError) in
            try connection.statement("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'arrivals'").run(place)
            guard connection.changeCount == 0 else { return }
            try connection.statement("INSERT INTO sqlite_sequence(name, seq) VALUES ('arrivals', ?)").run(place)
        }
    }

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

    /// Binds installations to the digests of their secrets; an empty one binds to none.
    package func replay(_ installations: [GUID: [UInt8]]) throws(WaybillError) {
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

    /// Applies spans, and finds the exchanges that caused them; call it after their facts are applied.
    package func replay(_ spans: [PlacedSpan]) throws(WaybillError) {
        guard !spans.isEmpty else { return }
        try write { () throws(WaybillError) in
            let (rows, sources, causes) = (
                SpanRows(connection), SourceRows(connection: connection), SpanCauses(connection)
            )
            var (uncaused, undecided): (Set<GUID>, Set<GUID>) = ([], [])
            for placed in spans {
                guard let source = try sources.find(placed.source) else { continue }
                try rows.write(placed.span, of: source.id, in: placed.transaction, at: placed.received)
                if placed.span.isUncaused { uncaused.insert(placed.transaction) }
            }
            for transaction in uncaused where try causes.find(in: transaction) { undecided.insert(transaction) }
            try LeadingParts(connection: connection).decide(each: undecided)
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
        // Arrivals keep the IDs that they have elsewhere.
        try connection.statement("DELETE FROM arrivals WHERE source = ? AND id > ?").run(source.id, last)
        let insertion = try connection.statement(
            """
            INSERT INTO arrivals(id, source, first, last, received_us) VALUES (?, ?, ?, ?, ?) \
            ON CONFLICT(id) DO UPDATE SET id = id WHERE source = excluded.source AND first = excluded.first
            """)
        let retired = RetiredRows(connection: connection)
        let ranges = RangeRows(connection: connection)
        if !books.retired.isEmpty {
            try retired.add(books.retired.subtracting(try retired.sequences(of: source.id)), of: source.id)
        }
        var received = books.retired
        for arrival in books.arrivals {
            let range = SequenceRanges([arrival.first...arrival.last])
            received = received.union(range)
            // An arrival without facts has nothing to export.
            guard !range.subtracting(try retired.sequences(of: source.id, meeting: range)).isEmpty else { continue }
            // If two arrivals have the same ID by chance, the second gets the next free one.
            for place in arrival.id..<arrival.id + 100 {
                try insertion.run(place, source.id, arrival.first, arrival.last, arrival.received)
                if connection.changeCount > 0 { break }
            }
        }
        received = received.subtracting(try ranges.erased(of: source.id, meeting: received))
        let before = try ranges.booked(of: source.id, meeting: received)
        try ranges.replace(before, with: before.union(received), of: source.id)
        try connection.statement("UPDATE sources SET delivered = ? WHERE id = ?").run(
            try ranges.bookedCount(of: source.id) as Int64, source.id)
    }
}

/// Rehearsals return what a write would change, for a store whose rows are kept elsewhere.
extension Store {
    /// Returns the receipts of sets and the changes; a transaction takes at most `factsPerTransaction`.
    package func rehearse(_ arrivals: [ReceivedSet], factsPerTransaction: Int?) throws(WaybillError) -> (
        results: [Result<Receipt, WaybillError>], changes: StoreChanges
    ) {
        try rehearse { () throws(WaybillError) in
            let results = try arrivals.map { (arrival) throws(WaybillError) in
                try connection.savepoint { () throws(WaybillError) in
                    try book(
                        arrival.set, at: arrival.atMicroseconds, factsPerTransaction: factsPerTransaction,
                        hasRows: false)
                }
            }
            return (results, arrivals.flatMap(\.set.sources))
        }
    }

    package func rehearse<Value>(
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
        guard let source = try SourceRows(connection: connection).find(books.share.source.id) else { return }
        let erased = books.share.dropped.filter { $0.reason == .erased }.sequences
        if !erased.isEmpty {
            let received = try RangeRows(connection: connection).booked(of: source.id, meeting: erased)
            books.gone = received.intersection(erased)
        }
        if !books.retired.isEmpty {
            let before = try RetiredRows(connection: connection).sequences(of: source.id)
            books.gone = books.gone.union(books.retired.subtracting(before))
        }
    }
}

/// The changes of a write, in a form that can be stored and replayed.
///
/// Facts never change, and everything else is given as its complete new state. So changes can be replayed twice, or in
/// another order.
package struct StoreChanges: Sendable {
    package var books: [SourceBooks] = []
    package var tombstones: [Tombstone] = []
    package var removedSources: [GUID] = []
    package var names: [NameChange] = []
    /// The beginnings of transactions that are new in lists, or moved. `Int64.max` if a clock is so far ahead that the
    /// place depends on when the source is heard.
    package var begun: [(transaction: GUID, at: Int64)] = []
    package var spans: [PlacedSpan] = []

    package init(names: [NameChange] = [], tombstones: [Tombstone] = []) {
        (self.names, self.tombstones) = (names, tombstones)
    }
}

package struct SourceBooks: Sendable {
    /// The source without names or proofs, and the facts that arrived.
    package var share: TransactionSet.Share
    /// In microseconds since 1970.
    package var heard: Int64
    /// The SHA-256 of the source's secret; `nil` if it has shown none.
    package var proofDigest: [UInt8]?
    /// The SHA-256 of its installation's secret; `nil` if none was shown.
    package var installationDigest: [UInt8]?
    package var arrivals: [Arrival]
    /// Received facts that retention deleted.
    package var retired: SequenceRanges
    package var transactions: [Int64: PlacedPart]
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

    /// Consecutive facts that arrived together.
    package struct Arrival: Sendable, Equatable {
        /// The ID among all arrivals, which is never reused; 0 if it has none yet.
        package var id: Int64
        package var first: Int64
        package var last: Int64
        /// In microseconds since 1970.
        package var received: Int64

        package init(id: Int64 = 0, first: Int64, last: Int64, received: Int64) {
            (self.id, self.first, self.last, self.received) = (id, first, last, received)
        }
    }
}

/// An erased installation or transaction, whose later facts are refused.
package struct Tombstone: Sendable, Equatable {
    package var id: GUID
    /// Whether it was erased with its installation; another source that began it keeps it.
    package var isWithInstallation: Bool
    package var at: Int64
    /// The SHA-256 of an installation's secret, which still tells it from others.
    package var proofDigest: [UInt8]?

    package init(id: GUID, isWithInstallation: Bool, at: Int64, proofDigest: [UInt8]? = nil) {
        (self.id, self.isWithInstallation, self.at) = (id, isWithInstallation, at)
        self.proofDigest = proofDigest
    }
}

/// A name that a code gained or lost.
package struct NameChange: Sendable, Equatable {
    package var useCase: Int
    /// -1 for the use case itself.
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
