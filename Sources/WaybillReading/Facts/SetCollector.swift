package import WaybillCore
package import WaybillStore

/// Collects facts into sets, redacted once more.
struct SetCollector: FactVisitor {
    private(set) var shares: [TransactionSet.Share] = []
    private(set) var count = 0
    var isFull: Bool { count >= 2_000 }

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
        count = 0
    }

    mutating func enter(_ scanned: ScannedSource) throws(WaybillError) {
        let source = scanned.source
        var share = TransactionSet.Share(source: redactor.source(source), clocks: scanned.clock.anchors)
        share.names = try connection.statement(
            "SELECT use_case, event, name FROM names WHERE app = ? AND app_version = ?"
        )
        .rows(source.app, source.appVersion) { row in
            RecordedName(
                useCase: row.int(0), event: row.int(1) < 0 ? nil : row.int(1), name: redactor.text(row.text(2)))
        }
        share.dropped = try RangeRows(connection: connection).dropped(of: scanned.share.row)
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
    }

    mutating func enter(_ part: ScannedPart) {}

    mutating func visit(_ fact: Fact, closing opening: Fact?) {
        shares[shares.count - 1].facts.append(redactor.fact(fact))
        count += 1
    }
}

extension StoreReader {
    /// Exports within one read of the store, as sets of a few thousand facts each.
    ///
    /// - Parameter hasProofs: Whether the sets can be sent in the name of those who recorded into this store.
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
                let shares = collector.shares.filter { !$0.facts.isEmpty }
                if !shares.isEmpty { try body(TransactionSet(id: GUID(), sources: shares)) }
                collector.removeAll()
            }
        }
    }
}
