package import WaybillCore

/// One source's share of a set on its way into the tables.
package struct Ingestion {
    package private(set) var acceptedCount = 0
    private(set) var knownCount = 0
    package private(set) var rejections: [Rejection] = []
    /// Facts of one transaction, of all its sources, beyond which they are rejected; nil: however many come.
    package var factsPerTransaction: Int?

    private let share: TransactionSet.Share
    /// Places in the share's list of facts that could not be read, and are missing from `share.facts`.
    private let unread: Set<Int>
    private let connection: Connection
    private let sources: SourceRows
    private let ranges: RangeRows
    private let tombstones: Tombstones

    package init(_ share: TransactionSet.Share, unread: Set<Int>, at wall: Int, _ connection: Connection)
        throws(WaybillError)
    {
        self.share = share
        self.unread = unread
        self.connection = connection
        sources = SourceRows(connection: connection)
        ranges = RangeRows(connection: connection)
        tombstones = try Tombstones(connection, at: wall)
    }

    package mutating func run(at wall: Int) throws(WaybillError) {
        let known = try sources.find(share.source.id)
        if let known, known.isOwn { return passOver(own: known) }
        if let installation = share.source.installation, try tombstones.contains(installation) {
            return try refuse(at: wall)
        }
        var source: SourceRow
        if let known {
            source = known
        } else {
            source = try sources.insert(share.source, heard: wall)
        }
        source.recorded = max(source.recorded, share.ledger.recorded, share.facts.map(\.sequence).max() ?? 0)
        if share.hasEnded && !source.hasEnded {
            try sources.end(source.id)
            source.hasEnded = true
        }
        let anchor = try sources.add(share.clocks, to: source.id)
        try sources.add(share.names, of: source.id)
        try store(source, at: wall)
        if let anchor { try Leaders(connection: connection).decideAfterAnchor(at: anchor, of: source.id) }
        try connection.statement(
            """
            UPDATE sources SET heard_us = max(heard_us, ?), recorded = ?, refused = max(refused, ?), delivered = delivered + ? WHERE id = ?
            """
        ).run(wall, source.recorded, share.ledger.refused, acceptedCount, source.id)
    }

    /// Writes the facts that are not received yet, and books them.
    private mutating func store(_ source: SourceRow, at wall: Int) throws(WaybillError) {
        let told = share.dropped.compactMap { range in
            range.first <= source.recorded
                ? DroppedRange(first: range.first, last: min(range.last, source.recorded), reason: range.reason) : nil
        }
        let sequences = share.facts.lazy.map(\.sequence) + told.flatMap { [$0.first, $0.last] }
        guard let first = sequences.min(), let last = sequences.max() else { return }
        var erased = try erase(told, of: source)
        let before = try ranges.booked(of: source.id, meeting: first...last)
        var received = before
        var writer = try FactRowWriter(source, connection)
        var room = factsPerTransaction.map { TransactionRoom(source: source.id, limit: $0, connection) }
        var index = 0
        for fact in share.facts {
            while unread.contains(index) { index += 1 }
            defer { index += 1 }
            if fact.isAmong(erased) {
                erased.insert(fact.sequence...fact.sequence)
                reject(fact, at: index, because: Self.erased)
            } else if received.contains(fact.sequence) {
                knownCount += 1
            } else if let reason = try room?.take(fact) {
                reject(fact, at: index, because: reason)
            } else if let reason = try writer.write(fact) {
                reject(fact, at: index, because: reason)
            } else {
                received.insert(fact.sequence...fact.sequence)
                acceptedCount += 1
            }
        }
        try writer.finish()
        try ranges.replace(before, with: received, of: source.id)
        try note(received.subtracting(before), of: source.id, at: wall)
        try ranges.drop(told + erased.dropped(.erased), except: received, of: source.id)
    }

    /// Erases what has arrived of facts that are refused from now on, or that the source has erased while they were on
    /// their way.
    ///
    /// - Returns: All that is booked as erased.
    private func erase(_ told: [DroppedRange], of source: SourceRow) throws(WaybillError) -> SequenceRanges {
        let before = try ranges.erased(of: source.id)
        var toldErased = SequenceRanges()
        for range in told where range.reason == .erased && range.first <= range.last {
            toldErased.insert(range.first...range.last)
        }
        var news = toldErased
        for fact in share.facts {
            if case .opened(let content) = fact.content, try tombstones.contains(content.transaction) {
                news.insert(fact.sequence...fact.sequence)
            }
        }
        news = news.subtracting(before)
        guard !news.isEmpty else { return before }
        var eraser = FactEraser(connection)
        try eraser.erase(news, includesSingles: !toldErased.isEmpty, of: source)
        try eraser.finish()
        return try ranges.erased(of: source.id)
    }

    /// Takes nothing of a source whose installation was erased; what it began is erased with it, even where others have
    /// recorded of it.
    private mutating func refuse(at wall: Int) throws(WaybillError) {
        var begun: [GUID] = []
        forEachFact { fact, index, ingestion in
            ingestion.reject(fact, at: index, because: Self.erased)
            if case .opened(let content) = fact.content, !content.isJoined { begun.append(content.transaction) }
        }
        var eraser = try ScopeEraser(connection, at: wall)
        try eraser.erase(.transactions(begun))
    }

    private static let erased = "erased"

    private mutating func reject(_ fact: Fact, at index: Int, because reason: String) {
        rejections.append(Rejection(source: share.source.id, sequence: fact.sequence, index: index, reason: reason))
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
    private func note(_ arrived: SequenceRanges, of source: Int, at wall: Int) throws(WaybillError) {
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
