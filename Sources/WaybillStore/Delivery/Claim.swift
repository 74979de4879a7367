import WaybillCore

struct Claim {
    let set: GUID
    private let connection: Connection
    private let sourceLimit: Int
    /// Whether no other set is under way. Otherwise, its verdict could not tell which of them reported the news.
    private let takesNews: Bool
    private var factsLeft: Int
    private var bytesLeft: Int
    private var measuringWriter = JSONWriter()

    /// Limits how many large facts are in memory before the set is full.
    private static let chunk = 500

    init(set: GUID, limit: LeaseLimit, takesNews: Bool, _ connection: Connection) {
        self.set = set
        self.takesNews = takesNews
        self.connection = connection
        factsLeft = max(1, limit.factCount)
        // After a collector refused larger sets, the smallest set has one source.
        sourceLimit = limit.factCount <= 1 ? 1 : Limits.sources
        bytesLeft = max(1, limit.byteCount)
    }

    /// Returns a share for each source with pending facts or news, oldest first, up to the limit.
    mutating func shares() throws(WaybillError) -> [TransactionSet.Share] {
        let sources = try connection.statement(
            """
            SELECT \(SourceIdentity.columns), proof, \(SourceRow.columns) FROM sources \
            WHERE heard_us IS NULL AND (news <> 0 OR recorded > delivered) ORDER BY id
            """
        ).rows { row in
            (
                row: SourceRow(row.dropFirst(9)), identity: SourceIdentity(row),
                proof: row.optionalText(8).flatMap { IdentityProof($0) }
            )
        }
        var shares: [TransactionSet.Share] = []
        for source in sources where factsLeft > 0 && bytesLeft > 0 && shares.count < sourceLimit {
            if let share = try share(of: source.row, source.identity, source.proof) { shares.append(share) }
        }
        return shares
    }

    private mutating func share(
        of source: SourceRow, _ identity: SourceIdentity, _ proof: IdentityProof?
    ) throws(WaybillError) -> TransactionSet.Share? {
        let facts = try claimFacts(of: source)
        let dropped = try connection.untoldRanges(of: source.id)
        let hasNews = try connection.integer("SELECT news FROM sources WHERE id = ?", source.id) != 0
        guard !facts.isEmpty || hasNews && takesNews else { return nil }
        if takesNews {
            // Sampled facts alone don't justify a set, but any set reports them.
            try connection.statement("UPDATE sources SET news = 2 WHERE id = ?1 AND (news <> 0 OR told < ?2)").run(
                source.id, dropped.last?.last ?? 0)
        }
        var share = TransactionSet.Share(
            source: identity, clocks: try clocks(of: source.id, dating: facts), hasEnded: source.hasEnded,
            endedBy: source.hasEnded ? source.endedBy : nil, names: try names(of: source.id, in: facts),
            ledger: try connection.ledger(of: source.id), dropped: dropped, facts: facts,
            sourceProof: proof)
        share.continuedParts = try continuedParts(of: share, in: source.id)
        if let installation = identity.installation {
            share.installationProof = try connection.installationProof(of: installation)
        }
        bytesLeft -= share.envelopeByteCount
        return share
    }

    /// Claims the first pending facts. Recorded facts without a row are booked as damaged, to not block delivery.
    private mutating func claimFacts(of source: SourceRow) throws(WaybillError) -> [Fact] {
        var pending = try connection.deliverableSequences(of: source.id, recorded: source.recorded)
            .subtracting(try connection.leasedRanges.sequences(of: source.id))
        var taken: [Fact] = []
        while factsLeft > 0, bytesLeft > 0, let range = pending.ranges.first {
            let chunk =
                range.lowerBound...min(range.upperBound, range.lowerBound + Int64(min(factsLeft, Self.chunk)) - 1)
            let reader = PendingFacts(connection: connection)
            let facts = try reader.facts(of: source.id, in: chunk)
            var end = chunk.upperBound
            if facts.isEmpty {
                // Jumps over a gap of any length: a damaged number may claim 2^50 recorded facts.
                let next = try reader.first(of: source.id, after: end) ?? range.upperBound + 1
                end = max(end, min(range.upperBound, next - 1))
            }
            var found = SequenceRanges()
            for fact in facts {
                guard bytesLeft > 0 else {
                    end = fact.sequence - 1
                    break
                }
                taken.append(fact)
                found.insert(fact.sequence...fact.sequence)
                factsLeft -= 1
                measuringWriter.removeAll()
                fact.write(to: &measuringWriter)
                bytesLeft -= measuringWriter.bytes.count
            }
            let claimed = chunk.lowerBound...max(chunk.lowerBound, end)
            try claim(found, missing: SequenceRanges([claimed]).subtracting(found), of: source.id)
            pending = pending.subtracting(SequenceRanges([claimed]))
        }
        return taken
    }

    private func claim(_ found: SequenceRanges, missing: SequenceRanges, of source: Int64) throws(WaybillError) {
        for range in found.ranges {
            try connection.statement("INSERT INTO ranges(source, first, last, lease) VALUES (?, ?, ?, ?)")
                .run(source, range.lowerBound, range.upperBound, set)
        }
        guard !missing.isEmpty else { return }
        try connection.bookDropped(missing.dropped(.damaged), except: SequenceRanges(), of: source)
        try connection.announceNews(of: source, droppedFrom: missing.ranges.first?.lowerBound)
    }

    /// With more anchors, a set contains only those that date its facts.
    private static let clockLimit = 2_000
    /// With more names, a set contains only those of its facts' codes.
    private static let nameLimit = 5_000

    private func clocks(of source: Int64, dating facts: [Fact]) throws(WaybillError) -> [ClockAnchor] {
        let clock = try WallClock(of: source, connection)
        return clock.anchors.count > Self.clockLimit
            ? clock.anchors(dating: facts.map(\.atMicroseconds)) : clock.anchors
    }

    private func names(of source: Int64, in facts: [Fact]) throws(WaybillError) -> [RecordedName] {
        let all = try connection.names(of: source, limit: Self.nameLimit + 1)
        guard all.count > Self.nameLimit else { return all }
        return Array(try connection.names(of: source, for: codes(of: facts, in: source)).prefix(Self.nameLimit))
    }

    /// Returns at most as many parts as a set may have; the receiver places other facts when their openings arrive.
    private func continuedParts(of share: TransactionSet.Share, in source: Int64) throws(WaybillError)
        -> [ContinuedPart]
    {
        let placed = try PlacedParts(of: source, connection)
        var parts: [ContinuedPart] = []
        for part in share.earlierParts.prefix(Limits.envelopeItems) {
            guard let its = try placed.part(part) else { continue }
            parts.append(ContinuedPart(part: part, transaction: its.transaction, useCase: its.useCase))
        }
        return parts
    }

    private func codes(of facts: [Fact], in source: Int64) throws(WaybillError) -> Set<RecordedName> {
        var useCases: [Int64: Int] = [:]
        var codes: Set<RecordedName> = []
        let opened = try connection.statement("SELECT use_case FROM parts WHERE source = ? AND sequence = ?")
        for fact in facts {
            if useCases[fact.part] == nil {
                useCases[fact.part] = try opened.first(source, fact.part) { row in row.optionalInt(0) } ?? nil
            }
            guard let useCase = useCases[fact.part] else { continue }
            codes.insert(RecordedName(useCase: useCase, name: ""))
            if case .event(let event) = fact.content {
                codes.insert(RecordedName(useCase: useCase, event: event.code, name: ""))
            }
        }
        return codes
    }
}

extension TransactionSet.Share {
    fileprivate var envelopeByteCount: Int {
        700 + names.count * 60 + clocks.count * 50 + dropped.count * 50 + continuedParts.count * 80
    }
}

/// Facts are clustered by part. The index of unsettled parts finds those with a fact in a range, so the cost of a batch
/// depends only on its size.
struct PendingFacts {
    let connection: Connection

    func facts(of source: Int64, in range: ClosedRange<Int64>) throws(WaybillError) -> [Fact] {
        var facts: [Fact] = []
        for (sql, fact) in Self.queries {
            try connection.statement(sql).forEachRow(source, range.lowerBound, range.upperBound) { row in
                facts.append(fact(row))
            }
        }
        return facts.ordered { $0.sequence < $1.sequence }
    }

    /// Returns the first sequence after `sequence` that has a row; `nil` if none has. Reads all of the source's rows.
    func first(of source: Int64, after sequence: Int64) throws(WaybillError) -> Int64? {
        try connection.statement("SELECT min(sequence) FROM (\(SQL.sequences)) WHERE sequence > ?2")
            .first(source, sequence) { row in row.optionalInt(0) } ?? nil
    }

    static let queries: [(String, @Sendable (Row) -> Fact)] = [
        (
            """
            SELECT \(FactRowReader.openedColumns) FROM parts p \
            WHERE p.source = ?1 AND p.sequence BETWEEN ?2 AND ?3 AND p.settled = 0 AND p.guid IS NOT NULL
            """, FactRowReader.opened
        ),
        (
            """
            SELECT \(FactRowReader.closedColumns) FROM parts p INDEXED BY parts_unsettled \
            WHERE p.source = ?1 AND p.sequence <= ?3 AND p.last >= ?2 AND p.settled = 0 AND p.closed BETWEEN ?2 AND ?3
            """, FactRowReader.closed
        ),
        (
            """
            SELECT \(FactRowReader.eventColumns) FROM parts p INDEXED BY parts_unsettled CROSS JOIN events e \
            ON e.source = p.source AND e.part = p.sequence AND e.after BETWEEN ?2 - p.sequence AND ?3 - p.sequence \
            WHERE p.source = ?1 AND p.sequence <= ?3 AND p.last >= ?2 AND p.settled = 0
            """, FactRowReader.event
        ),
        (
            """
            SELECT \(FactRowReader.exchangeOpenedColumns) FROM parts p INDEXED BY parts_unsettled CROSS JOIN exchanges l \
            ON l.source = p.source AND l.part = p.sequence AND l.sequence BETWEEN ?2 AND ?3 \
            WHERE p.source = ?1 AND p.sequence <= ?3 AND p.last >= ?2 AND p.settled = 0 AND l.method IS NOT NULL
            """, FactRowReader.exchangeOpened
        ),
        (
            """
            SELECT \(FactRowReader.exchangeClosedColumns) FROM exchanges l INDEXED BY exchanges_by_closing \
            WHERE l.source = ?1 AND l.closed BETWEEN ?2 AND ?3
            """, FactRowReader.exchangeClosed
        ),
    ]
}
