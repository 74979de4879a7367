#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

/// The metadata of all facts: which of them count, their sources, the names, and the erasures.
struct DatabaseBooks: Sendable {
    let lastArrival: Int64
    let tombstones: [Tombstone]
    let buried: Buried
    let names: [NameChange]
    private(set) var sources: [GUID: Source] = [:]

    var factCount: Int64 { sources.values.reduce(0) { $0 + $1.expected.count } }

    struct Source: Sendable {
        var books: SourceBooks
        var first: Int64
        var expected = SequenceRanges()
        /// Facts that arrived, including those that were removed later.
        var known: SequenceRanges { SequenceRanges(books.arrivals).union(books.retired).union(erased) }
        private var erased: SequenceRanges { books.share.dropped.filter { $0.reason == .erased }.sequences }

        mutating func finish() {
            // Facts can be erased after they were retired, which older rows don't say.
            books.retired = books.retired.subtracting(erased)
            expected = SequenceRanges(books.arrivals).subtracting(erased.union(books.retired))
        }

        var head: SourceBooks {
            var head = books
            (head.arrivals, head.retired) = ([], SequenceRanges())
            return head
        }

        /// With those of the facts that have arrived and are still there.
        func head(with rows: [ClickHouseTables.FactRow]) -> SourceBooks {
            var head = head
            head.share.facts = rows.map(\.fact).filter { expected.contains($0.sequence) }
                .sorted { $0.sequence < $1.sequence }
            return head
        }
    }

    struct Buried: Sendable {
        private var installationsAndTransactions: Set<GUID>

        init(_ tombstones: [Tombstone]) {
            installationsAndTransactions = Set(tombstones.filter { !$0.isWithInstallation }.map(\.id))
        }

        func contains(_ id: GUID?) -> Bool { id.map(installationsAndTransactions.contains) ?? false }
    }

    /// A server lags behind, and lacks facts that books name.
    struct Incomplete: Error {}

    /// - Throws: ``Incomplete`` if a server lacks books.
    init(_ tables: ClickHouseTables) async throws {
        let state = try await tables.state()
        lastArrival = state.lastArrival
        tombstones = try await tables.tombstones()
        let buried = Buried(tombstones)
        self.buried = buried
        var (sources, rowCount) = ([GUID: Source](), UInt64(0))
        try await tables.books(where: "1") { row in
            let source = row.books.share.source
            guard !buried.contains(source.installation) else { return }
            rowCount += 1
            sources[source.id, default: row].books.merge(row.books)
        }
        for id in sources.keys { sources[id]?.finish() }
        guard rowCount == state.bookCount else { throw Incomplete() }
        self.sources = sources
        names = try await tables.names()
    }
}

extension ClickHouseTables {
    /// Reads books by source and arrival. `condition` is SQL.
    func books(where condition: String, _ body: (DatabaseBooks.Source) throws -> Void) async throws(WaybillError) {
        // Most sets of a source have the same share, which is decoded once.
        var last: (json: [UInt8], share: TransactionSet.Share)?
        try await client.forEachRow(
            """
            SELECT arrival, heard_us, proof, installation_proof, share, arrived, retired FROM books \
            WHERE \(Self.isOfASource) AND (\(condition)) ORDER BY source, arrival
            """, reading
        ) { row in
            let (arrival, heard) = (try row.integer(Int64.self), try row.integer(Int64.self))
            let (proof, installationProof) = (try row.optionalString(), try row.optionalString())
            let json = try row.string()
            let (arrived, retired) = (try row.array(), try row.array())
            if last?.json != json { last = (json, try Self.share(json)) }
            guard let share = last?.share else { return }
            var books = SourceBooks(
                share: share, heard: heard, proofDigest: proof, installationDigest: installationProof)
            for (number, index) in stride(from: 0, to: arrived.count - 2, by: 3).enumerated() {
                books.arrivals.append(
                    SourceBooks.Arrival(
                        id: arrival + Int64(number) * ArrivalPlace.writerCount, first: arrived[index],
                        last: arrived[index + 1], received: arrived[index + 2]))
            }
            for index in stride(from: 0, to: retired.count - 1, by: 2) {
                books.retired.insert(retired[index]...max(retired[index], retired[index + 1]))
            }
            try body(DatabaseBooks.Source(books: books, first: arrival))
        }
    }

    private static func share(_ json: [UInt8]) throws -> TransactionSet.Share {
        guard let share = try? TransactionSet.decode(json).sources.first else {
            throw WaybillError(.damaged, "A row of the table books holds what is no share of a set.")
        }
        return share
    }

    func sources(_ ids: some Collection<GUID>) async throws(WaybillError) -> [GUID: DatabaseBooks.Source] {
        var sources: [GUID: DatabaseBooks.Source] = [:]
        for some in Array(ids).inChunks(of: Self.idsPerStatement) {
            try await books(where: "source IN (\(Self.list(some)))") { row in
                sources[row.books.share.source.id, default: row].books.merge(row.books)
            }
        }
        for id in sources.keys { sources[id]?.finish() }
        return sources
    }

    /// Returns the facts that the books name and servers lack.
    func missingFacts(of books: DatabaseBooks) async throws -> [GUID: SequenceRanges] {
        var missing = books.sources.mapValues(\.expected).filter { !$0.value.isEmpty }
        func remove(_ found: SequenceRanges, of source: GUID) {
            let left = missing[source]?.subtracting(found)
            missing[source] = left?.isEmpty == true ? nil : left
        }
        try await client.forEachRow(
            "SELECT source, min(sequence), max(sequence), uniqExact(sequence) FROM facts GROUP BY source", reading
        ) { row in
            let (source, first, last) = (try row.guid(), try row.integer(Int64.self), try row.integer(Int64.self))
            let count = Int64(clamping: try row.integer(UInt64.self))
            // Most sources have no gap.
            if first <= last, last.subtractingReportingOverflow(first).partialValue == count - 1 {
                remove(SequenceRanges([first...last]), of: source)
            }
        }
        guard !missing.isEmpty else { return [:] }
        var (found, last) = (SequenceRanges(), Self.none)
        let isFew = missing.count <= Self.idsPerStatement
        try await client.forEachRow(
            """
            SELECT source, sequence FROM facts WHERE \(isFew ? "source IN (\(Self.list(missing.keys)))" : "1") \
            ORDER BY source, sequence
            """, reading
        ) { row in
            let (source, sequence) = (try row.guid(), try row.integer(Int64.self))
            if source != last {
                remove(found, of: last)
                (found, last) = (SequenceRanges(), source)
            }
            found.insert(sequence...sequence)
        }
        remove(found, of: last)
        return missing
    }
}

extension SourceBooks {
    mutating func merge(_ other: SourceBooks) {
        heard = max(heard, other.heard)
        proofDigest = proofDigest ?? other.proofDigest
        installationDigest = installationDigest ?? other.installationDigest
        retired = retired.union(other.retired)
        let known = Set(arrivals.suffix(64).map(\.id))
        arrivals += other.arrivals.filter { !known.contains($0.id) }
        share.hasEnded = share.hasEnded || other.share.hasEnded
        share.endedBy = [share.endedBy, other.share.endedBy].compactMap(\.self).max { $0.name < $1.name }
        share.ledger.recorded = max(share.ledger.recorded, other.share.ledger.recorded)
        share.ledger.refused = max(share.ledger.refused, other.share.ledger.refused)
        if share.dropped != other.share.dropped {
            share.dropped = Array(Set(share.dropped).union(other.share.dropped)).sorted { $0.first < $1.first }
        }
        if share.clocks != other.share.clocks {
            var offsets = Dictionary(
                uniqueKeysWithValues: share.clocks.map { ($0.atMicroseconds, $0.offsetMicroseconds) })
            for clock in other.share.clocks {
                offsets[clock.atMicroseconds] = max(offsets[clock.atMicroseconds] ?? .min, clock.offsetMicroseconds)
            }
            share.clocks = offsets.sorted { $0.key < $1.key }.map {
                ClockAnchor(atMicroseconds: $0.key, offsetMicroseconds: $0.value)
            }
        }
    }
}

extension SequenceRanges {
    init(_ arrivals: [SourceBooks.Arrival]) {
        self.init(arrivals.map(\.range))
    }
}
#endif
