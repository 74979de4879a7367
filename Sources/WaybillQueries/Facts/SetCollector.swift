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
        let row = scanned.share.row
        var share = scanned.share(
            dropped: try connection.droppedRanges(of: row, limit: Limits.envelopeItems))
        share.names = try connection.names(of: row, limit: Limits.envelopeItems)
        share.redact(by: redactor)
        if hasProofs {
            share.sourceProof = try connection.sourceProof(of: row)
            share.installationProof = try share.source.installation.flatMap { id throws(WaybillError) in
                try connection.installationProof(of: id)
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
