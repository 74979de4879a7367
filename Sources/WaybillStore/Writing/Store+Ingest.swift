package import WaybillCore

/// Sets of other processes and devices come in.
extension Store {
    /// Books a set in one SQLite transaction: what is new is stored, what is known is counted, what cannot be is rejected with its reason.
    ///
    /// The rows that result do not depend on the order in which sets come, nor on repetitions.
    ///
    /// - Parameter wall: Now, in microseconds since 1970.
    /// - Returns: The verdicts, also on the facts that could not be read; right to be sent once this has returned and commits are synced.
    package func ingest(_ decoded: DecodedSet, receivedAt wall: Int) throws(WaybillError) -> Receipt {
        try write { () throws(WaybillError) in
            var receipt = Receipt(set: decoded.set.id, acceptedCount: 0, rejections: decoded.rejections)
            for share in decoded.set.sources {
                let unread = Set(decoded.rejections.lazy.filter { $0.source == share.source.id }.map(\.index))
                var ingestion = Ingestion(share, unread: unread, connection)
                try ingestion.run(at: wall)
                receipt.acceptedCount += ingestion.acceptedCount
                receipt.knownCount += ingestion.knownCount
                receipt.rejections += ingestion.rejections
            }
            return receipt
        }
    }
}

/// One source's share of a set on its way into the tables.
private struct Ingestion {
    private(set) var acceptedCount = 0
    private(set) var knownCount = 0
    private(set) var rejections: [Rejection] = []

    private let share: TransactionSet.Share
    /// Places in the share's list of facts that could not be read, and are missing from `share.facts`.
    private let unread: Set<Int>
    private let connection: Connection
    private let sources: SourceRows
    private let ranges: RangeRows

    init(_ share: TransactionSet.Share, unread: Set<Int>, _ connection: Connection) {
        self.share = share
        self.unread = unread
        self.connection = connection
        sources = SourceRows(connection: connection)
        ranges = RangeRows(connection: connection)
    }

    mutating func run(at wall: Int) throws(WaybillError) {
        var source: SourceRow
        if let known = try sources.find(share.source.id) {
            guard !known.isOwn else { return passOver(own: known) }
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
        let before = try ranges.booked(of: source.id, meeting: first...last)
        var received = before
        var writer = try FactWriter(source, connection)
        var index = 0
        for fact in share.facts {
            while unread.contains(index) { index += 1 }
            defer { index += 1 }
            if received.contains(fact.sequence) {
                knownCount += 1
            } else if let reason = try writer.write(fact) {
                rejections.append(Rejection(source: share.source.id, sequence: fact.sequence, index: index, reason: reason))
            } else {
                received.insert(fact.sequence...fact.sequence)
                acceptedCount += 1
            }
        }
        try writer.finish()
        try ranges.replace(before, with: received, of: source.id)
        try note(received.subtracting(before), of: source.id, at: wall)
        try ranges.drop(told, except: received, of: source.id)
    }

    /// Keeps when facts came.
    private func note(_ arrived: SequenceRanges, of source: Int, at wall: Int) throws(WaybillError) {
        let statement = try connection.statement("INSERT INTO arrivals(source, first, last, received_us) VALUES (?, ?, ?, ?)")
        for range in arrived.ranges { try statement.run(source, range.lowerBound, range.upperBound, wall) }
    }

    /// A set of a source that records into this very store brings nothing new, and must not change its rows.
    private mutating func passOver(own source: SourceRow) {
        var index = 0
        for fact in share.facts {
            while unread.contains(index) { index += 1 }
            defer { index += 1 }
            if fact.sequence <= source.recorded {
                knownCount += 1
            } else {
                rejections.append(
                    Rejection(
                        source: share.source.id, sequence: fact.sequence, index: index,
                        reason: "the source records into this very store, and has not recorded this fact"))
            }
        }
    }
}
