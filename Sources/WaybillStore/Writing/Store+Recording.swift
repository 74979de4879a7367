package import WaybillCore

extension Store {
    package func register(_ source: SourceIdentity, proof: IdentityProof = IdentityProof()) throws(WaybillError) {
        try write { () throws(WaybillError) in
            guard try connection.sourceRow(source.id) == nil else { return }
            let id = try connection.insertSource(source, proof: proof, heard: nil).id
            try connection.statement(
                "UPDATE sources SET born_us = ifnull((SELECT seen_us FROM device_time), 0) WHERE id = ?"
            ).run(id)
        }
    }

    /// Writes a recorder's batch in one SQLite transaction; throws an error if the source is not registered.
    package func append(_ batch: RecordedBatch) throws(WaybillError) {
        try write { () throws(WaybillError) in
            guard let source = try connection.sourceRow(batch.source), source.isOwn else {
                throw WaybillError(
                    .store, "The source \(batch.source) was not registered with the store at \(connection.place).")
            }
            try connection.add(batch.names, of: source.id)
            if let anchor = try connection.add(batch.clocks, to: source.id) {
                let redated = try connection.transactions(behindAnchorAt: anchor, of: source.id)
                try connection.decideLeaders(of: redated)
            }
            let sequences = batch.facts.sequences
            let recorded = max(sequences.last ?? 0, batch.dropped.lazy.map(\.last).max() ?? 0)
            try connection.statement(
                "UPDATE sources SET recorded = max(recorded, ?), refused = max(refused, ?) WHERE id = ?"
            )
            .run(recorded, batch.refused, source.id)
            try write(batch.facts, sequences, dropped: batch.dropped, of: source)
        }
    }

    private func write(
        _ facts: [Fact], _ sequences: SequenceRanges, dropped: [DroppedRange], of source: SourceRow
    ) throws(WaybillError) {
        // A repeated batch must not restore delivered facts that were erased meanwhile.
        let touched = sequences.union(dropped.sequences)
        let settled = try connection.bookedRanges.sequences(of: source.id, meeting: touched)
        let given =
            try connection.hasDropped(of: source.id)
            ? connection.droppedByReason(
                of: source.id, meeting: touched.union(SequenceRanges(each: facts.flatMap(\.roots)))) : []
        let placed = try PlacedParts(of: source.id, connection)
        var late: [Ledger.DropReason: SequenceRanges] = [:]
        var writer = try FactRowWriter(source, count: facts.count, connection)
        for fact in facts where !settled.contains(fact.sequence) {
            // Facts of a dropped part or exchange are dropped with it.
            if let reason = given.first(where: { fact.isAmong($0.sequences, because: $0.reason) })?.reason {
                late[reason, default: SequenceRanges()].insert(fact.sequence...fact.sequence)
                // Sampled facts stay readable here.
                if reason == .sampled, try placed.part(fact.part) != nil { _ = try writer.write(fact) }
            } else {
                // The next lease books a fact without a row as damaged.
                _ = try writer.write(fact)
            }
        }
        try connection.decideLeaders(of: try writer.finish())
        try connection.decideHeldParts(of: source.id)
        // The facts come from a leftover journal.
        if source.hasEnded { try connection.releaseHeldParts(of: source.id) }
        if let sampled = late.removeValue(forKey: .sampled), let first = sampled.ranges.first?.lowerBound,
            try connection.bookDropped(sampled.dropped(.sampled), except: settled, of: source.id)
        {
            try connection.note(source.id, sampledFrom: first)
        }
        let news = dropped + late.flatMap { $1.dropped($0) }
        if !news.isEmpty, try connection.bookDropped(news, except: settled, of: source.id) {
            try connection.announceNews(of: source.id, droppedFrom: news.map(\.first).min())
        }
    }

    func note(_ end: SourceEnd, of source: GUID) throws(WaybillError) {
        try write { () throws(WaybillError) in
            guard let row = try connection.sourceRow(source), row.isOwn, row.endedBy == nil else { return }
            try connection.note(end, of: row.id)
            if row.hasEnded { try connection.announceNews(of: row.id) }
        }
    }

    /// Reopens a suspended source that another process marked as ended. A collector shows its open transactions as
    /// interrupted until they are closed.
    func revive(_ source: GUID) throws(WaybillError) {
        // There is no earlier check, because another process that saw no heartbeat may be about to mark the source.
        try write { () throws(WaybillError) in
            if let row = try connection.sourceRow(source), row.hasEnded { try connection.reviveSource(row.id) }
        }
    }

    package func endSources(isAlive: (GUID) -> Bool) throws(WaybillError) -> [GUID] {
        try write { () throws(WaybillError) in
            let running = try connection.statement("SELECT id, uuid FROM sources WHERE heard_us IS NULL AND ended = 0")
                .rows { row in
                    (id: row.int(0), source: row.guid(1))
                }
            let dead = running.filter { !isAlive($0.source) }
            for (id, source) in dead {
                try connection.endSource(id)
                try connection.announceNews(of: id)
                for set in try connection.statement("SELECT set_id FROM leases WHERE owner = ?").rows(
                    source, transform: { row in row.guid(0) })
                {
                    try connection.endLease(of: set)
                }
            }
            return dead.map(\.source)
        }
    }
}

package struct RecordedBatch: Sendable {
    package var source: GUID
    /// In order of sequence.
    package var facts: [Fact]
    /// Repeated names do no harm.
    package var names: [RecordedName]
    /// Repeated anchors do no harm.
    package var clocks: [ClockAnchor]
    /// Recorded facts that are lost.
    package var dropped: [DroppedRange]
    package var refused: Int64

    package init(
        source: GUID, facts: [Fact], names: [RecordedName] = [], clocks: [ClockAnchor] = [],
        dropped: [DroppedRange] = [], refused: Int64 = 0
    ) {
        self.source = source
        self.facts = facts
        self.names = names
        self.clocks = clocks
        self.dropped = dropped
        self.refused = refused
    }
}
