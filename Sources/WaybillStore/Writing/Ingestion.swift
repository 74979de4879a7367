package import WaybillCore

package struct Ingestion: ~Copyable {
    private(set) var acceptedCount = 0
    private(set) var knownCount = 0
    private var withheldCount = 0
    /// The facts that a receipt counts as accepted, with those that the store's host withheld.
    package var takenCount: Int { acceptedCount + withheldCount }
    package private(set) var rejections: [Receipt.Rejection] = []
    private(set) var refusedNameCount = 0
    /// The maximum number of facts of a transaction, from all sources; `nil` means no limit.
    var factsPerTransaction: Int?
    /// Whether the caller guarantees the source, which then needs no proof.
    var isVouchedFor = false
    /// Whether a fact can be compared with the stored one of its sequence.
    var hasRows = true
    /// The transactions whose leading part must be decided, once per batch.
    package private(set) var undecided: Set<GUID> = []
    /// Why the source was refused as a whole.
    package private(set) var refusal: RefusedSource?

    private let share: TransactionSet.Share
    private let unread: Set<Int>
    private let store: Store
    private let connection: Connection
    private let tombstones: Tombstones

    init(_ share: TransactionSet.Share, unread: Set<Int>, at wall: Int64, into store: Store) throws(WaybillError) {
        self.share = share
        self.unread = unread
        self.store = store
        connection = store.connection
        tombstones = try Tombstones(store.connection, at: wall)
    }

    mutating func run(at wall: Int64) throws(WaybillError) {
        let known = try connection.sourceRow(share.source.id)
        if let known, known.isOwn { return passOver(own: known) }
        if !isVouchedFor, let reason = try reasonToRefuse(known) { return refuse(because: reason) }
        if known == nil, let installation = share.source.installation, try tombstones.contains(installation) {
            return try refuse(at: wall)
        }
        var source: SourceRow
        if let known {
            source = known
            source.heard = max(known.heard ?? wall, wall)
            try connection.statement("UPDATE sources SET heard_us = max(heard_us, ?) WHERE id = ?").run(wall, source.id)
        } else {
            source = try connection.insertSource(share.source, proof: share.sourceProof, heard: wall)
            if let installation = share.source.installation {
                try connection.bindInstallation(installation, to: share.installationProof)
            }
        }
        let sequences = share.facts.sequences
        let told = max(share.ledger.recorded, sequences.last ?? 0)
        source.recorded = max(source.recorded, min(told, Limits.recordedFacts))
        // Without a proof, anybody could be the sender, who must not remove anything.
        let isItself = isVouchedFor || source.proofDigest != nil
        if share.hasEnded && !source.hasEnded && isItself {
            try connection.endSource(source.id)
            source.hasEnded = true
        }
        if share.hasEnded, let end = share.endedBy, isItself { try connection.note(end, of: source.id) }
        let anchor = try connection.add(anchors(of: source), to: source.id)
        if !share.names.isEmpty { try addNames(to: source.id) }
        try write(source, sequences, dropped: isItself ? share.dropped : [], at: wall)
        if let anchor {
            undecided.formUnion(try connection.transactions(behindAnchorAt: anchor, of: source.id))
        }
        try connection.statement(
            """
            UPDATE sources SET recorded = ?, refused = max(refused, ?), delivered = delivered + ? WHERE id = ?
            """
        ).run(source.recorded, min(share.ledger.refused, Limits.recordedFacts), acceptedCount, source.id)
    }

    /// Why the sender can't speak for the source or its installation; `nil` if it can.
    private func reasonToRefuse(_ known: SourceRow?) throws(WaybillError) -> String? {
        if let known {
            guard let digest = known.proofDigest, digest != share.sourceProof?.digest else { return nil }
            return "this source has a `source_proof`, and the set does not have that one"
        }
        guard let installation = share.source.installation,
            try !connection.admits(share.installationProof, for: installation)
        else { return nil }
        return "the installation of this source has an `installation_proof`, and the set does not have that one"
    }

    private mutating func refuse(because reason: String) {
        refusal = RefusedSource(source: share.source.id, reason: reason)
        for (fact, index) in numberedFacts { reject(fact, at: index, because: reason) }
    }

    package static let redatedPartLimit = 5_000

    /// Ignores anchors that would change very many dates: recorders send an anchor with or before the facts that it
    /// dates.
    private func anchors(of source: SourceRow) throws(WaybillError) -> [ClockAnchor] {
        guard let start = share.firstRedated(since: try WallClock(of: source.id, connection).anchors) else { return [] }
        let count = try connection.integer(
            "SELECT count(*) FROM (SELECT 1 FROM parts WHERE source = ? AND at_us >= ? LIMIT ?)", source.id, start,
            Self.redatedPartLimit + 1)
        guard count > Self.redatedPartLimit else { return share.clocks }
        let latest = try connection.integer("SELECT max(at_us) FROM parts WHERE source = ?", source.id)
        return share.clocks.filter { $0.atMicroseconds > latest }
    }

    private mutating func addNames(to source: Int64) throws(WaybillError) {
        let added: Int
        (added, refusedNameCount) = try connection.add(
            share.names, of: source, room: isVouchedFor ? .max : try store.nameRoom())
        store.nameCount? += added
    }

    private mutating func write(
        _ source: SourceRow, _ sequences: SequenceRanges, dropped: [DroppedRange], at wall: Int64
    ) throws(WaybillError) {
        let told = try self.told(dropped, of: source)
        let touched = told.sequences.union(sequences)
        guard !touched.isEmpty else { return }
        let erased = try erase(told, of: source)
        let before = try connection.bookedRanges.sequences(of: source.id, meeting: touched)
        // Facts out of order are kept apart, because inserting in the middle of ranges moves all later ones.
        var accepted = SequenceRanges()
        var others: Set<Int64> = []
        var refused: Set<Int64> = []
        var writer = try FactRowWriter(source, count: share.facts.count, connection)
        let twins = try StoredTwins(of: source.id, connection)
        var room = factsPerTransaction.map { TransactionQuota(source: source.id, limit: $0, connection) }
        var withholding: Withholding?
        if let willStore = store.hooks.willStore {
            withholding = try Withholding(share, of: source, connection, willStore)
        }
        var parts: Set<Int64> = []
        var ends: Set<Int64> = []
        for (sent, index) in numberedFacts {
            var fact = sent
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
            } else if try withholding?.withholds(&fact) == true {
                continue
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
                if store.hooks.didStore != nil { parts.insert(fact.part) }
                if store.hooks.didFinish != nil, fact.isEnd { ends.insert(fact.part) }
            }
        }
        undecided.formUnion(try writer.finish())
        let arrived = accepted.union(SequenceRanges(each: others))
        let received = before.union(arrived)
        try connection.bookedRanges.replace(before, with: received, of: source.id)
        try note(arrived, of: source.id, at: wall)
        try connection.bookDropped(
            told + SequenceRanges(each: refused).dropped(.erased), except: received, of: source.id)
        if let withholding {
            try withholding.book()
            withheldCount = withholding.withheld.count
            knownCount += withholding.knownCount
        }
        try noteStored(parts, of: source.id)
        if !ends.isEmpty { store.finished += try FinishedTransaction.read(ends, of: source.id, connection) }
    }

    private mutating func noteStored(_ parts: Set<Int64>, of source: Int64) throws(WaybillError) {
        guard store.hooks.didStore != nil, acceptedCount > 0 else { return }
        let transactions = try PlacedParts(of: source, connection).transactions(of: parts)
        store.stored.append(
            StoredFacts(source: share.source, transactions: transactions.sorted(), factCount: acceptedCount))
    }

    /// Limits the rows that one set's ranges may cover, because each is read.
    private static let coveredRowLimit = 50_000
    /// Five of the largest sets have as many.
    static let droppedRowLimit = 5 * Limits.envelopeItems

    /// Returns the ranges that have room; the others count as not arrived. Ranges that widen rows always have room.
    private func told(_ dropped: [DroppedRange], of source: SourceRow) throws(WaybillError) -> [DroppedRange] {
        let room = max(0, Self.droppedRowLimit - source.droppedRowCount)
        // A set with more ranges than our clients send is read only as far as there is room.
        let heard = dropped.count > DroppedRange.toldLimit ? dropped.prefix(room) : dropped[...]
        var told = try bounded(
            heard.compactMap { range in
                range.first <= source.recorded
                    ? DroppedRange(first: range.first, last: min(range.last, source.recorded), reason: range.reason)
                    : nil
            }, of: source)
        // A sequence turns one row into at most three, so the exact check is rarely needed.
        while 2 * told.sequences.count > room, try connection.droppedGrowth(by: told, of: source.id) > room {
            told = Array(told.prefix(told.count / 2))
        }
        return told
    }

    private func bounded(_ told: [DroppedRange], of source: SourceRow) throws(WaybillError) -> [DroppedRange] {
        guard told.sequences.count > Self.coveredRowLimit else { return told }
        var left = Self.coveredRowLimit
        var bounded: [DroppedRange] = []
        for dropped in told {
            let count = try connection.rangeCount(in: dropped.range, of: source.id, limit: left + 1)
            if count <= left { bounded.append(dropped) }
            left = max(0, left - count)
        }
        return bounded
    }

    /// Erases facts that the source has erased or that are refused; returns erased sequences near the share's facts.
    private func erase(_ told: [DroppedRange], of source: SourceRow) throws(WaybillError) -> SequenceRanges {
        let toldErased = told.filter { $0.reason == .erased }.sequences
        var news = toldErased.union(SequenceRanges(each: try buried()))
        news = news.subtracting(try connection.erasedSequences(of: source.id, meeting: news))
        if !news.isEmpty {
            let received = try connection.bookedRanges.sequences(of: source.id, meeting: news)
            let singles = toldErased.isEmpty ? toldErased : news.intersection(received)
            var eraser = FactEraser(connection)
            try eraser.erase(news, singles: singles, of: source)
            try eraser.finish()
        }
        guard try connection.hasDropped(of: source.id) else { return SequenceRanges() }
        return try connection.erasedSequences(
            of: source.id, meeting: SequenceRanges(each: share.facts.flatMap(\.roots)))
    }

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

    /// Rejects all facts, and erases the transactions that the source of an erased installation began, but no others.
    private mutating func refuse(at wall: Int64) throws(WaybillError) {
        for (fact, index) in numberedFacts { reject(fact, at: index, because: Self.erased) }
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

    /// The facts with their indices in the sender's list.
    private var numberedFacts: some Sequence<(Fact, Int)> {
        zip(share.facts, (0...).lazy.filter { [unread] index in !unread.contains(index) })
    }

    private func note(_ arrived: SequenceRanges, of source: Int64, at wall: Int64) throws(WaybillError) {
        let statement = try connection.statement(
            "INSERT INTO arrivals(source, first, last, received_us) VALUES (?, ?, ?, ?)")
        for range in arrived.ranges { try statement.run(source, range.lowerBound, range.upperBound, wall) }
    }

    /// A set of an own source brings nothing new and must not change its rows.
    private mutating func passOver(own source: SourceRow) {
        for (fact, index) in numberedFacts {
            if fact.sequence <= source.recorded {
                knownCount += 1
            } else {
                reject(
                    fact, at: index, because: "the source records into this very store, and has not recorded this fact")
            }
        }
    }
}

extension Fact {
    /// Whether a part needs this fact to be finished.
    fileprivate var isEnd: Bool {
        switch content {
        case .opened, .closed: true
        case .event, .attributesSet, .exchangeOpened, .exchangeClosed, .unknown: false
        }
    }

    fileprivate var begunTransaction: GUID? {
        if case .opened(let opened) = content, !opened.isJoined { opened.transaction } else { nil }
    }
}

extension TransactionSet.Share {
    /// Returns when anchors that are not `known` begin to date facts, by the source's clock; `nil` without one.
    package func firstRedated(since known: [ClockAnchor]) -> Int64? {
        let offsets = Dictionary(known.map { ($0.atMicroseconds, $0.offsetMicroseconds) }, uniquingKeysWith: max)
        let new = clocks.first { $0.offsetMicroseconds > offsets[$0.atMicroseconds] ?? .min }?.atMicroseconds
        // The first anchor also dates earlier times.
        return new.map { new in offsets.keys.allSatisfy { new <= $0 } ? .min : new }
    }
}
