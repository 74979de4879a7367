package import WaybillCore

/// One source's share of a set on its way into the tables.
package struct Ingestion {
    package private(set) var acceptedCount = 0
    private(set) var knownCount = 0
    package private(set) var rejections: [Receipt.Rejection] = []
    /// Facts of one transaction, of all its sources, beyond which they are rejected; nil: however many come.
    package var factsPerTransaction: Int?
    /// How many names the store has room for; nil: for however many come.
    package var nameRoom: Int?
    package private(set) var addedNameCount = 0
    package private(set) var refusedNameCount = 0
    /// Whether the caller answers for the source, as for what was read from another store: then it shows nothing.
    package var isVouchedFor = false
    /// Whether the store has the rows of what it received, so that a fact can be compared with the one that has its sequence.
    var hasRows = true
    /// The transactions of which ``LeadingParts`` have to decide which part leads: once for all shares that come together.
    package private(set) var undecided: Set<GUID> = []
    /// Why nothing was taken, not even what the source tells of itself; nil: it was not refused.
    package private(set) var refusal: RefusedSource?

    private let share: TransactionSet.Share
    /// Places in the share's list of facts that could not be read, and are missing from `share.facts`.
    private let unread: Set<Int>
    private let connection: Connection
    private let sources: SourceRows
    private let ranges: RangeRows
    private let tombstones: Tombstones

    package init(_ share: TransactionSet.Share, unread: Set<Int>, at wall: Int64, _ connection: Connection)
        throws(WaybillError)
    {
        self.share = share
        self.unread = unread
        self.connection = connection
        sources = SourceRows(connection: connection)
        ranges = RangeRows(connection: connection)
        tombstones = try Tombstones(connection, at: wall)
    }

    package mutating func run(at wall: Int64) throws(WaybillError) {
        let known = try sources.find(share.source.id)
        if let known, known.isOwn { return passOver(own: known) }
        let installations = InstallationRows(connection: connection)
        if !isVouchedFor, let reason = try reasonToRefuse(known, installations) { return refuse(because: reason) }
        if known == nil, let installation = share.source.installation, try tombstones.contains(installation) {
            return try refuse(at: wall)
        }
        var source: SourceRow
        if let known {
            source = known
            source.heard = max(known.heard ?? wall, wall)
            // Before its parts get their places in lists, which depend on it.
            try connection.statement("UPDATE sources SET heard_us = max(heard_us, ?) WHERE id = ?").run(wall, source.id)
        } else {
            source = try sources.insert(share.source, proof: share.sourceProof, heard: wall)
            if let installation = share.source.installation {
                try installations.bind(installation, to: share.installationProof)
            }
        }
        let sequences = share.facts.sequences
        let told = max(share.ledger.recorded, sequences.last ?? 0)
        source.recorded = max(source.recorded, min(told, Limits.recordedFacts))
        // Who has shown nothing could be anybody, and takes nothing away from what is here.
        let isItself = isVouchedFor || source.proofDigest != nil
        if share.hasEnded && !source.hasEnded && isItself {
            try sources.end(source.id)
            source.hasEnded = true
        }
        if share.hasEnded, let end = share.endedBy, isItself { try sources.note(end, of: source.id) }
        let anchor = try sources.add(anchors(of: source), to: source.id)
        (addedNameCount, refusedNameCount) = try NameRows(connection: connection).add(
            share.names, of: source.id, room: nameRoom ?? .max)
        try store(source, sequences, dropped: isItself ? share.dropped : [], at: wall)
        if let anchor {
            undecided.formUnion(
                try LeadingParts(connection: connection).transactions(behindAnchorAt: anchor, of: source.id))
        }
        try connection.statement(
            """
            UPDATE sources SET recorded = ?, refused = max(refused, ?), delivered = delivered + ? WHERE id = ?
            """
        ).run(source.recorded, min(share.ledger.refused, Limits.recordedFacts), acceptedCount, source.id)
    }

    /// Why it is not the source that speaks, nor somebody of its installation; nil where it is, or can be.
    private func reasonToRefuse(_ known: SourceRow?, _ installations: InstallationRows) throws(WaybillError) -> String?
    {
        if let known {
            guard let digest = known.proofDigest, digest != share.sourceProof?.digest else { return nil }
            return "this source has a `source_proof`, and the set does not have that one"
        }
        guard let installation = share.source.installation,
            try !installations.admits(share.installationProof, for: installation)
        else { return nil }
        return "the installation of this source has an `installation_proof`, and the set does not have that one"
    }

    private mutating func refuse(because reason: String) {
        refusal = RefusedSource(source: share.source.id, reason: reason)
        forEachFact { fact, index, ingestion in ingestion.reject(fact, at: index, because: reason) }
    }

    /// Parts of a source whose dates the anchors of one set may change.
    private static let redatedPartLimit = 5_000

    /// The anchors of the share that are taken.
    ///
    /// Each that is new dates the parts behind it anew. A recorder sends an anchor with or before what it dates, so that
    /// there are few: one that would change the dates of very many is left out.
    private func anchors(of source: SourceRow) throws(WaybillError) -> [ClockAnchor] {
        let known = try connection.statement("SELECT offset_us FROM clocks WHERE source = ? AND at_us = ?")
        var earliest: Int64?
        for clock in share.clocks where earliest == nil {
            let offset = try known.first(source.id, clock.atMicroseconds) { row in row.int(0) }
            if offset ?? .min < clock.offsetMicroseconds { earliest = clock.atMicroseconds }
        }
        guard let earliest else { return [] }
        // Times before the first anchor go by the first.
        let first = try connection.integer("SELECT min(at_us) FROM clocks WHERE source = ?", source.id)
        let redated = earliest <= first ? Int64.min : earliest
        let count = try connection.integer(
            "SELECT count(*) FROM (SELECT 1 FROM parts WHERE source = ? AND at_us >= ? LIMIT ?)", source.id, redated,
            Self.redatedPartLimit + 1)
        guard count > Self.redatedPartLimit else { return share.clocks }
        let latest = try connection.integer("SELECT max(at_us) FROM parts WHERE source = ?", source.id)
        return share.clocks.filter { $0.atMicroseconds > latest }
    }

    /// Writes the facts that are not received yet, and books them.
    private mutating func store(
        _ source: SourceRow, _ sequences: SequenceRanges, dropped: [DroppedRange], at wall: Int64
    ) throws(WaybillError) {
        let told = try self.told(dropped, of: source)
        let touched = told.sequences.union(sequences)
        guard !touched.isEmpty else { return }
        let erased = try erase(told, of: source)
        let before = try ranges.booked(of: source.id, meeting: touched)
        // Facts mostly come in order. What does not is apart: inserted in the middle of ranges, it moves all behind it.
        var accepted = SequenceRanges()
        var others: Set<Int64> = []
        var refused: Set<Int64> = []
        var writer = try FactRowWriter(source, count: share.facts.count, connection)
        let twins = try StoredTwins(of: source.id, connection)
        var room = factsPerTransaction.map { TransactionQuota(source: source.id, limit: $0, connection) }
        var index = 0
        for fact in share.facts {
            while unread.contains(index) { index += 1 }
            defer { index += 1 }
            if fact.isAmong(erased) || !refused.isEmpty && fact.roots.contains(where: refused.contains) {
                refused.insert(fact.sequence)
                reject(fact, at: index, because: Self.erased)
            } else if before.contains(fact.sequence) || accepted.contains(fact.sequence)
                || !others.isEmpty && others.contains(fact.sequence)
            {
                if hasRows, !isVouchedFor, before.contains(fact.sequence), try twins.hasOther(than: fact) {
                    reject(fact, at: index, because: Receipt.Rejection.sequenceIsTaken)
                } else {
                    knownCount += 1
                }
            } else if fact.sequence > source.recorded {
                reject(fact, at: index, because: "a source is not believed to have recorded as many facts as that")
            } else if let reason = try room?.take(
                fact, writeOpenings: { () throws(WaybillError) in try writer.writeOpenings() })
            {
                reject(fact, at: index, because: reason)
            } else if let reason = try writer.write(fact) {
                reject(fact, at: index, because: reason)
            } else {
                if fact.sequence > accepted.ranges.last?.upperBound ?? .min {
                    accepted.insert(fact.sequence...fact.sequence)
                } else {
                    others.insert(fact.sequence)
                }
                acceptedCount += 1
            }
        }
        undecided.formUnion(try writer.finish())
        let arrived = accepted.union(SequenceRanges(each: others))
        let received = before.union(arrived)
        try ranges.replace(before, with: received, of: source.id)
        try note(arrived, of: source.id, at: wall)
        try ranges.drop(
            told + SequenceRanges(each: refused).dropped(.erased), except: received, of: source.id)
    }

    /// Rows of a source that the ranges which one set tells may cover: each of them is looked at.
    private static let coveredRowLimit = 50_000
    /// Rows of what one source has given up, beyond which no more are believed: as many as five of the largest sets
    /// tell.
    static let droppedRowLimit = 5 * Limits.envelopeItems

    /// What the source says it has given up, as far as it has recorded that and there is room for it.
    ///
    /// What is left out counts as not arrived yet. What only widens or joins rows that are there has always room.
    private func told(_ dropped: [DroppedRange], of source: SourceRow) throws(WaybillError) -> [DroppedRange] {
        let room = max(0, Self.droppedRowLimit - source.droppedRowCount)
        // Of a set that tells more than any client of ours no more is looked at than there is room for.
        let heard = dropped.count > RangeRows.toldLimit ? dropped.prefix(room) : dropped[...]
        var told = try bounded(
            heard.compactMap { range in
                range.first <= source.recorded
                    ? DroppedRange(first: range.first, last: min(range.last, source.recorded), reason: range.reason)
                    : nil
            }, of: source)
        // One sequence makes three rows of one at most, so that mostly nobody has to look.
        while 2 * told.sequences.count > room, try ranges.growth(by: told, of: source.id) > room {
            told = Array(told.prefix(told.count / 2))
        }
        return told
    }

    /// Those ranges that together cover no more rows than may be looked at for one set; the others are told again.
    private func bounded(_ told: [DroppedRange], of source: SourceRow) throws(WaybillError) -> [DroppedRange] {
        // Each row has a sequence of its own.
        guard told.sequences.count > Self.coveredRowLimit else { return told }
        var left = Self.coveredRowLimit
        var bounded: [DroppedRange] = []
        for range in told {
            let count = try ranges.rowCount(in: range.first...range.last, of: source.id, limit: left + 1)
            if count <= left { bounded.append(range) }
            left = max(0, left - count)
        }
        return bounded
    }

    /// Erases what has arrived of facts that are refused from now on, or that the source has erased while they were on
    /// their way.
    ///
    /// - Returns: What is booked as erased, as far as facts of the share are among it or belong to it.
    private func erase(_ told: [DroppedRange], of source: SourceRow) throws(WaybillError) -> SequenceRanges {
        let toldErased = told.filter { $0.reason == .erased }.sequences
        var news = toldErased.union(SequenceRanges(each: try buried()))
        news = news.subtracting(try ranges.erased(of: source.id, meeting: news))
        if !news.isEmpty {
            let received = try ranges.booked(of: source.id, meeting: news)
            let singles = toldErased.isEmpty ? toldErased : news.subtracting(news.subtracting(received))
            var eraser = FactEraser(connection)
            try eraser.erase(news, singles: singles, of: source)
            try eraser.finish()
        }
        guard try ranges.hasDropped(of: source.id) else { return SequenceRanges() }
        return try ranges.erased(of: source.id, meeting: SequenceRanges(each: share.facts.flatMap(\.roots)))
    }

    /// The openings that are refused, because what they belong to was erased.
    private func buried() throws(WaybillError) -> [Int64] {
        guard try tombstones.areThere() else { return [] }
        let begun = Set(share.facts.lazy.compactMap(\.begunTransaction))
        var buried: [Int64] = []
        for fact in share.facts {
            if case .opened(let content) = fact.content, try tombstones.refuse(content, begunBeside: begun) {
                buried.append(fact.sequence)
            }
        }
        return buried
    }

    /// Takes nothing of a source whose installation was erased; what it began is erased with it, even where others have
    /// joined it. What others began is not its.
    private mutating func refuse(at wall: Int64) throws(WaybillError) {
        forEachFact { fact, index, ingestion in ingestion.reject(fact, at: index, because: Self.erased) }
        // Of that installation itself there is nothing left here.
        let isBegun = try connection.statement("SELECT EXISTS(SELECT 1 FROM parts WHERE guid = ? AND joined = 0)")
        var its: [GUID] = []
        for transaction in share.facts.lazy.compactMap(\.begunTransaction)
        where try isBegun.first(transaction, transform: { $0.bool(0) }) == false {
            its.append(transaction)
        }
        var eraser = try ScopeEraser(connection, at: wall)
        try eraser.eraseBegun(its)
    }

    private static let erased = "erased"

    private mutating func reject(_ fact: Fact, at index: Int, because reason: String) {
        rejections.append(
            Receipt.Rejection(source: share.source.id, sequence: fact.sequence, index: index, reason: reason))
    }

    /// Hands over each fact with its place in the list as it was sent.
    private mutating func forEachFact<Failure>(_ body: (Fact, Int, inout Ingestion) throws(Failure) -> Void)
        throws(Failure)
    {
        var index = 0
        for fact in share.facts {
            while unread.contains(index) { index += 1 }
            try body(fact, index, &self)
            index += 1
        }
    }

    /// Keeps when facts came.
    private func note(_ arrived: SequenceRanges, of source: Int64, at wall: Int64) throws(WaybillError) {
        let statement = try connection.statement(
            "INSERT INTO arrivals(source, first, last, received_us) VALUES (?, ?, ?, ?)")
        for range in arrived.ranges { try statement.run(source, range.lowerBound, range.upperBound, wall) }
    }

    /// A set of a source that records into this very store brings nothing new, and must not change its rows.
    private mutating func passOver(own source: SourceRow) {
        forEachFact { fact, index, ingestion in
            if fact.sequence <= source.recorded {
                ingestion.knownCount += 1
            } else {
                ingestion.reject(
                    fact, at: index, because: "the source records into this very store, and has not recorded this fact")
            }
        }
    }
}

extension Fact {
    /// The transaction that it says it began; nil: none.
    fileprivate var begunTransaction: GUID? {
        if case .opened(let opened) = content, !opened.isJoined { opened.transaction } else { nil }
    }
}
