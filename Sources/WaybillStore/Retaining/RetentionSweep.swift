import WaybillCore

/// One step of keeping a store within its limits, inside one SQLite transaction: whole transactions go, and exchanges
/// outside of one.
///
/// Of a transaction the parts of this store's own sources count.
struct RetentionSweep {
    /// Transactions that went.
    private(set) var transactions: Set<GUID> = []
    /// Facts that went.
    private(set) var factCount = 0

    private let connection: Connection
    private let budget: Int
    private let owners: [Int: RetentionOwner]

    /// Units that go at a time, before the need is looked at again.
    private static let chunk = 100

    /// What goes first.
    enum Class: Int, CaseIterable, Comparable {
        /// All of it is delivered, quarantined or given up already.
        case settled
        /// Closed or interrupted, and something of it is pending.
        case pending
        /// Something of it may still come.
        case open

        static func < (left: Class, right: Class) -> Bool { left.rawValue < right.rawValue }
    }

    /// - Parameter budget: About how many facts one step takes away.
    init(_ connection: Connection, budget: Int) throws(WaybillError) {
        self.connection = connection
        self.budget = budget
        owners = Dictionary(uniqueKeysWithValues: try RetentionOwner.all(connection).map { ($0.row.id, $0) })
    }

    /// Whether it has done what one step may.
    var isExhausted: Bool { factCount >= budget }

    /// Takes away what is too old.
    mutating func removeOld(_ retention: Retention, device: DeviceTime, wall: Int) throws(WaybillError) {
        for order in Class.allCases {
            let cutoffs = owners.mapValues {
                $0.cutoff(retention, isSettled: order == .settled, device: device, wall: wall)
            }
            try remove(order, because: .age, while: { true }, before: cutoffs)
        }
    }

    /// Takes away the oldest, bodies first, until the store takes no more than so many bytes.
    mutating func shrink(to byteCount: Int) throws(WaybillError) {
        let connection = connection
        let isTooLarge = { () throws(WaybillError) in try connection.usedByteCount() > byteCount }
        while try isTooLarge(), try BodyRows(connection: connection).removeOldest() {}
        for order in Class.allCases where try isTooLarge() {
            try remove(order, because: .quota, while: isTooLarge, before: owners.mapValues { _ in .max })
        }
    }

    private mutating func remove(
        _ order: Class, because reason: DropReason, while isNeeded: () throws(WaybillError) -> Bool,
        before cutoffs: [Int: Int]
    ) throws(WaybillError) {
        var fronts: [Int: Front] = [:]
        for id in owners.keys { fronts[id] = try front(order, of: id, before: cutoffs) }
        while !isExhausted, let (id, front) = fronts.min(by: { ($0.value.began, $0.key) < ($1.value.began, $1.key) }),
            try isNeeded()
        {
            var eraser = FactEraser(connection, because: reason)
            for (source, sequences) in front.roots {
                guard let owner = owners[source] else { continue }
                try eraser.erase(SequenceRanges(sequences.sorted().lazy.map { $0...$0 }), of: owner.row)
            }
            try eraser.finish()
            transactions.formUnion(eraser.transactions)
            factCount += eraser.count
            fronts[id] = try self.front(order, of: id, before: cutoffs)
        }
    }

    // MARK: What may go

    /// The next units of one source.
    private struct Front {
        /// When the first of them began, by the device's time.
        var began: Int
        /// Their openings, by source.
        var roots: [Int: Set<Int>] = [:]
    }

    /// nil: nothing of that source may go.
    private func front(_ order: Class, of id: Int, before cutoffs: [Int: Int]) throws(WaybillError) -> Front? {
        guard let owner = owners[id], let cutoff = cutoffs[id] else { return nil }
        var front: Front?
        var count = 0
        try connection.statement(Self.query(order)).forRows(id, owner.firstPending, owner.row.hasEnded) {
            row throws(WaybillError) in
            // Openings are in order of time, so that none behind this one is too old either.
            if let began = row.optionalInt(2), began >= cutoff { return false }
            let root = Root(source: id, sequence: row.int(0), last: row.int(3), lastAt: row.int(4), order: order)
            let unit = try row.optionalGUID(1).map { guid throws(WaybillError) in try parts(of: guid) } ?? [root]
            guard unit.allSatisfy({ $0.order <= order && isFree($0) && $0.lastAt < cutoffs[$0.source] ?? .min }) else {
                return true
            }
            var found = front ?? Front(began: owner.born + (row.optionalInt(2) ?? root.lastAt))
            for part in unit { found.roots[part.source, default: []].insert(part.sequence) }
            front = found
            count += 1
            return count < Self.chunk
        }
        return front
    }

    private struct Root {
        var source: Int
        var sequence: Int
        var last: Int
        var lastAt: Int
        var order: Class
    }

    /// Not between facts that are being delivered.
    private func isFree(_ root: Root) -> Bool {
        owners[root.source].map { !$0.leased.meets(root.sequence...max(root.sequence, root.last)) } ?? false
    }

    /// A transaction's parts in own sources.
    private func parts(of transaction: GUID) throws(WaybillError) -> [Root] {
        try connection.statement(
            "SELECT source, sequence, last, last_at_us, settled, outcome FROM parts WHERE guid = ?"
        ).rows(transaction) {
            row in
            let order: Class =
                row.int(5) == TransactionOutcome.open.rawValue ? .open : row.bool(4) ? .settled : .pending
            return Root(source: row.int(0), sequence: row.int(1), last: row.int(2), lastAt: row.int(3), order: order)
        }.filter { owners[$0.source] != nil }
    }

    /// Sequence, transaction, beginning, last sequence and last time of a source's parts, and of its exchanges outside
    /// of one; in order of sequence.
    ///
    /// Facts are settled in order, so that nothing behind the first pending one is looked at in vain for what is
    /// settled.
    private static func query(_ order: Class) -> String {
        let (part, exchange) =
            switch order {
            case .settled:
                (
                    "sequence < ?2 AND settled = 1 AND outcome <> 0",
                    "sequence < ?2 AND ifnull(closed, sequence) < ?2 AND (closed IS NOT NULL OR ?3)"
                )
            case .pending:
                ("settled = 0 AND outcome <> 0", "ifnull(closed, sequence) >= ?2 AND (closed IS NOT NULL OR ?3)")
            case .open: ("outcome = 0", "closed IS NULL AND NOT ?3")
            }
        return """
            SELECT sequence, guid, at_us, last, last_at_us FROM parts WHERE source = ?1 AND sequence > 0 AND \(part) \
            UNION ALL SELECT sequence, NULL, at_us, ifnull(closed, sequence), ifnull(closed_at_us, ifnull(at_us, 0)) FROM network_logs \
            WHERE source = ?1 AND part = 0 AND \(exchange) ORDER BY 1
            """
    }
}

extension Connection {
    /// Bytes of the pages that hold something. Freed ones are used again before the file grows.
    func usedByteCount() throws(WaybillError) -> Int {
        try (integer("PRAGMA page_count") - integer("PRAGMA freelist_count")) * integer("PRAGMA page_size")
    }
}
