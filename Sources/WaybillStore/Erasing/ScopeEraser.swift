package import WaybillCore

extension Store {
    /// Erases facts from the rows, and their bytes from the files.
    ///
    /// Pending facts are booked as dropped (`erased`) and their leases end. Received facts are booked as `erased`, and
    /// tombstones refuse later ones.
    ///
    /// - Throws: An error also if a reader keeps the bytes in the WAL; erase again in this case.
    package func erase(_ scope: ErasureScope, at wall: Int64) throws(WaybillError) -> Erasure {
        let erasure = try write { () throws(WaybillError) in try eraseRows(scope, at: wall) }
        // Facts can't be erased from damaged files; this store has everything that could be read of them.
        file?.removeAside()
        removeJournalsSetAside()
        do throws(WaybillError) {
            // The checkpoint also follows an empty erasure, because bytes of an earlier one may remain.
            try checkpoint()
        } catch {
            throw WaybillError(
                error.code,
                "It is erased from the tables of \(connection.place), but its bytes are still in the WAL, which somebody reads. "
                    + "Erase once more when they have finished.", cause: error.description)
        }
        return erasure
    }

    package func eraseRows(_ scope: ErasureScope, at wall: Int64) throws(WaybillError) -> Erasure {
        var eraser = try ScopeEraser(connection, at: wall)
        try eraser.erase(scope)
        if scope == .all {
            try connection.removeUnusedNames(heardBefore: .max)
        } else {
            for version in eraser.versions { try connection.removeUnusedNames(heardBefore: .max, of: version) }
        }
        nameCount = nil
        return eraser.erasure
    }
}

struct ScopeEraser: ~Copyable {
    private let connection: Connection
    private let tombstones: Tombstones
    private var facts: FactEraser
    private var roots: [Int64: [Int64]] = [:]
    private(set) var versions: Set<AppVersion> = []

    init(_ connection: Connection, at wall: Int64) throws(WaybillError) {
        self.connection = connection
        tombstones = try Tombstones(connection, at: wall)
        facts = FactEraser(connection)
    }

    var erasure: Erasure { Erasure(transactionCount: facts.transactions.count, factCount: facts.count) }

    mutating func erase(_ scope: ErasureScope) throws(WaybillError) {
        switch scope {
        case .all:
            try tombstones.bury(try guids("SELECT DISTINCT guid FROM parts WHERE guid IS NOT NULL"))
            try find("SELECT source, sequence FROM parts WHERE sequence > 0")
            try find("SELECT source, sequence FROM exchanges WHERE part = 0")
            try LegacyQuarantine(connection: connection).erase(before: .max)
            try connection.statement("DELETE FROM spans").run()
        case .transactions(let ids):
            try tombstones.bury(ids)
            try find(ids)
        case .begunBefore(let date):
            let time = date.microseconds
            let early = try guids("SELECT guid FROM parts WHERE listed_us < ?", time)
            try tombstones.bury(early)
            try find(early)
            try find(
                "SELECT l.source, l.sequence FROM exchanges l WHERE l.part = 0 AND \(SQL.wall("l.at_us", source: "l.source")) < ?",
                time)
            try LegacyQuarantine(connection: connection).erase(before: time)
        case .installation(let id):
            try tombstones.bury([id])
            let its = try connection.statement("SELECT id, heard_us IS NULL FROM sources WHERE installation = ?").rows(
                id
            ) { row in
                (id: row.int(0), isOwn: row.bool(1))
            }
            for source in its {
                try eraseBegun(try guids(Self.begunByNobodyElse, source.id, id))
                try find("SELECT source, sequence FROM parts WHERE source = ? AND sequence > 0", source.id)
                try find("SELECT source, sequence FROM exchanges WHERE source = ? AND part = 0", source.id)
            }
            try eraseFound()
            for source in its where !source.isOwn {
                try noteVersion(of: source.id)
                try connection.removeSource(source.id)
            }
        case .networkLogs: try eraseExchanges()
        case .pending:
            try findPending()
        }
        try eraseFound()
    }

    /// A closing that arrives later is refused with its opening.
    private mutating func eraseExchanges() throws(WaybillError) {
        for id in try connection.statement("SELECT id FROM sources ORDER BY id").rows(transform: { row in row.int(0) })
        {
            guard let source = try connection.sourceRow(id) else { continue }
            var (alone, inParts): ([Int64], [Int64]) = ([], [])
            try connection.statement("SELECT sequence, part FROM exchanges WHERE source = ?").forEachRow(id) { row in
                if row.int(1) == 0 { alone.append(row.int(0)) } else { inParts.append(row.int(0)) }
            }
            try erase(SequenceRanges(each: alone), singles: SequenceRanges(each: inParts), of: source)
        }
        try facts.finish()
    }

    private mutating func erase(
        _ sequences: SequenceRanges, singles: SequenceRanges = SequenceRanges(), of source: SourceRow
    ) throws(WaybillError) {
        let before = facts.count
        try facts.erase(sequences, singles: singles, of: source)
        if facts.count > before { try noteVersion(of: source.id) }
    }

    private mutating func noteVersion(of source: Int64) throws(WaybillError) {
        let found = try connection.statement("SELECT \(SourceIdentity.columns) FROM sources WHERE id = ?").first(source)
        {
            row in SourceIdentity(row)
        }
        if let found { versions.insert(AppVersion(found)) }
    }

    private func guids<each Value: SQLValue>(_ sql: String, _ values: repeat each Value) throws(WaybillError) -> [GUID]
    {
        try connection.statement(sql).rows(repeat each values) { row in row.guid(0) }
    }

    private mutating func find<each Value: SQLValue>(_ sql: String, _ values: repeat each Value) throws(WaybillError) {
        for root in try connection.statement(sql).rows(
            repeat each values, transform: { row in (source: row.int(0), sequence: row.int(1)) })
        {
            roots[root.source, default: []].append(root.sequence)
        }
    }

    /// Erases transactions of an installation, except those that another source claims to have begun, too.
    mutating func eraseBegun(_ transactions: [GUID]) throws(WaybillError) {
        try tombstones.bury(begunByErased: transactions)
        try find(transactions)
        try eraseFound()
    }

    private mutating func find(_ transactions: [GUID]) throws(WaybillError) {
        try LegacyQuarantine(connection: connection).erase(transactions)
        // Spans that wait for a part are not deleted with one.
        for id in transactions { try connection.statement("DELETE FROM spans WHERE guid = ?").run(id) }
        for id in transactions { try find("SELECT source, sequence FROM parts WHERE guid = ?", id) }
    }

    private mutating func findPending() throws(WaybillError) {
        var transactions: Set<GUID> = []
        for source in try connection.statement("SELECT id, recorded FROM sources WHERE heard_us IS NULL").rows(
            transform: { row in
                (id: row.int(0), recorded: row.int(1))
            })
        {
            let pending = try connection.pendingSequences(of: source.id, recorded: source.recorded)
            guard !pending.isEmpty else { continue }
            var found: Set<Int64> = []
            try connection.statement(Self.unsettledFacts).forEachRow(source.id) { row in
                guard pending.contains(row.int(0)) else { return }
                if let id = row.optionalGUID(2) { transactions.insert(id) } else { found.insert(row.int(1)) }
            }
            roots[source.id, default: []] += found
        }
        try tombstones.bury(transactions)
        try find(Array(transactions))
    }

    private mutating func eraseFound() throws(WaybillError) {
        for (id, sequences) in roots {
            guard let source = try connection.sourceRow(id) else { continue }
            try erase(SequenceRanges(each: sequences), of: source)
        }
        roots = [:]
        try facts.finish()
    }

    /// The transactions that source `?1` began, and no source of another installation.
    private static let begunByNobodyElse = """
        SELECT guid FROM parts p WHERE source = ?1 AND guid IS NOT NULL AND joined = 0 AND NOT EXISTS(SELECT 1 FROM parts o \
        JOIN sources s ON s.id = o.source WHERE o.guid = p.guid AND o.joined = 0 AND s.installation IS NOT ?2)
        """

    private static let unsettledFacts = """
        SELECT sequence, sequence, guid FROM parts WHERE source = ?1 AND settled = 0 AND guid IS NOT NULL \
        UNION ALL SELECT closed, sequence, guid FROM parts WHERE source = ?1 AND settled = 0 AND closed IS NOT NULL \
        UNION ALL SELECT e.sequence, p.sequence, p.guid FROM parts p JOIN events e ON e.source = p.source AND e.part = p.sequence \
        WHERE p.source = ?1 AND p.settled = 0 \
        UNION ALL SELECT l.sequence, CASE p.sequence WHEN 0 THEN l.sequence ELSE p.sequence END, p.guid \
        FROM parts p JOIN exchanges l ON l.source = p.source AND l.part = p.sequence WHERE p.source = ?1 AND p.settled = 0 \
        UNION ALL SELECT l.closed, CASE p.sequence WHEN 0 THEN l.sequence ELSE p.sequence END, p.guid \
        FROM parts p JOIN exchanges l ON l.source = p.source AND l.part = p.sequence \
        WHERE p.source = ?1 AND p.settled = 0 AND l.closed IS NOT NULL
        """
}
