package import WaybillCore
package import WaybillStore

/// Limits facts and all other rows: each source carries the names of its app.
struct SetCollector: FactVisitor {
    private(set) var shares: [TransactionSet.Share] = []
    private var factCount = 0
    private var envelopeCount = 0
    private var part: ScannedPart?
    var isFull: Bool { factCount >= 2_000 || envelopeCount >= Limits.envelopeItems }

    private let redactor: Redactor
    private let hasProofs: Bool
    private let connection: Connection

    init(redactor: Redactor, hasProofs: Bool, _ connection: Connection) {
        self.redactor = redactor
        self.hasProofs = hasProofs
        self.connection = connection
    }

    mutating func removeAll() {
        shares = []
        (factCount, envelopeCount) = (0, 0)
    }

    var sets: [TransactionSet] {
        var sets: [TransactionSet] = []
        for share in shares where !share.facts.isEmpty {
            if let last = sets.indices.last, sets[last].hasRoom(for: share) {
                sets[last].sources.append(share)
            } else {
                sets.append(TransactionSet(id: GUID(), sources: [share]))
            }
        }
        return sets
    }

    mutating func enter(_ scanned: ScannedSource) throws(WaybillError) {
        let source = scanned.source
        var share = TransactionSet.Share(source: source.redacted(by: redactor), clocks: scanned.clock.anchors)
        share.names = try NameRows(connection: connection).names(of: scanned.share.row, limit: Limits.envelopeItems)
            .map { RecordedName(useCase: $0.useCase, event: $0.event, name: redactor.text($0.name)) }
        share.dropped = try RangeRows(connection: connection).dropped(
            of: scanned.share.row, limit: Limits.envelopeItems)
        try connection.statement("SELECT ended, recorded, refused, ended_by FROM sources WHERE id = ?").forEachRow(
            scanned.share.row
        ) { row in
            share.hasEnded = row.bool(0)
            share.ledger.recorded = row.int(1)
            share.ledger.refused = row.int(2)
            share.endedBy = share.hasEnded ? row.sourceEnd(3) : nil
        }
        if hasProofs {
            share.sourceProof = try SourceRows(connection: connection).proof(of: scanned.share.row)
            share.installationProof = try source.installation.flatMap { id throws(WaybillError) in
                try InstallationRows(connection: connection).proof(of: id)
            }
        }
        shares.append(share)
        envelopeCount += share.clocks.count + share.names.count + share.dropped.count
    }

    mutating func enter(_ part: ScannedPart) { self.part = part }

    mutating func visit(_ fact: Fact, closing opening: Fact?) {
        let share = shares.count - 1
        if case .opened(let opened) = part?.opened?.content, fact.part != fact.sequence,
            let part, shares[share].facts.last?.part != part.sequence
        {
            // The opening precedes the other facts of a part. If it is not here, an earlier set has it.
            shares[share].continuedParts.append(
                ContinuedPart(part: part.sequence, transaction: opened.transaction, useCase: opened.useCase))
            envelopeCount += 1
        }
        shares[share].facts.append(fact.redacted(by: redactor))
        factCount += 1
    }
}

extension TransactionSet {
    fileprivate func hasRoom(for share: Share) -> Bool {
        func fits(_ count: (Share) -> Int) -> Bool {
            sources.reduce(count(share)) { $0 + count($1) } <= Limits.envelopeItems
        }
        return fits(\.clocks.count) && fits(\.names.count) && fits(\.dropped.count) && fits(\.continuedParts.count)
    }
}

extension StoreReader {
    /// With proofs, the sets can be sent on behalf of their sources.
    package func export(
        _ scope: ExportScope, redactor: Redactor, hasProofs: Bool = false, to body: (TransactionSet) throws -> Void
    ) throws {
        try reading {
            let selection = try ExportSelector(connection: connection).selection(scope)
            var scan = try FactScan(selection.shares, isFiltered: selection.isFiltered, connection)
            var collector = SetCollector(redactor: redactor, hasProofs: hasProofs, connection)
            var hasMore = true
            while hasMore {
                hasMore = try scan.run(&collector)
                for set in collector.sets { try body(set) }
                collector.removeAll()
            }
        }
    }
}
