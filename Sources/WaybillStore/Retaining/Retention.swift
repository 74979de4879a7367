import WaybillCore

/// The state between steps that keep a store within its limits.
struct RetentionKeeper {
    let retention: Retention

    private var device: DeviceTime?
    /// The ``DeviceTime/now`` of the last complete check of the age; `nil` if work is left.
    private var ageChecked: Int64?
    /// The number of new facts since transactions were counted; `nil` forces a count.
    private var uncounted: Int?

    private static let minuteMicroseconds: Int64 = 60_000_000
    private static let hourMicroseconds = 60 * minuteMicroseconds

    init(_ retention: Retention = Retention()) { self.retention = retention }

    /// Updates the device time; call it before registering a source, which stores that time.
    mutating func look(at moment: Moment, in store: Store) throws(WaybillError) {
        let connection = store.connection
        device = try store.write { () throws(WaybillError) in
            var device = try DeviceTime(connection) ?? DeviceTime(moment)
            device.pass(to: moment)
            try device.save(connection)
            return device
        }
    }

    /// Deletes old transactions, then the oldest beyond the limits, and returns the deleted ones.
    ///
    /// `budget` approximately limits the deleted facts. `hasJournal` tells whether a journal would restore a source's
    /// facts.
    mutating func step(
        _ store: Store, at moment: Moment, written: Int = 0, budget: Int = 2_000,
        hasJournal: (GUID) -> Bool = { _ in false }
    ) throws(WaybillError) -> Set<GUID> {
        var now = device ?? DeviceTime(moment)
        now.pass(to: moment)
        if device == nil || now.now - (device?.now ?? 0) >= Self.minuteMicroseconds
            || now.bootBegan != device?.bootBegan
        {
            try look(at: moment, in: store)
        }
        let connection = store.connection
        let isAgeDue = ageChecked.map { now.now - $0 >= ageInterval } ?? true
        let byteLimit = try store.rowByteLimit(within: retention.maximumByteCount)
        if let uncounted { self.uncounted = uncounted + written }
        let isCountDue = retention.maximumTransactionCount.map { uncounted ?? .max >= max(1, $0 / 100) } ?? false
        guard isAgeDue || byteLimit != nil || isCountDue else { return [] }
        let sweep = try store.write { () throws(WaybillError) in
            var sweep = try RetentionSweep(connection, budget: budget)
            if isAgeDue { try sweep.removeOld(retention, device: now, wall: moment.wall) }
            if let byteLimit, !sweep.isExhausted { try sweep.reduce(to: .bytes(byteLimit)) }
            if isCountDue, !sweep.isExhausted, let count = retention.maximumTransactionCount {
                try sweep.reduce(to: .transactions(count))
            }
            if isAgeDue { try connection.foldTotals(hasJournal: hasJournal) }
            return sweep
        }
        if isAgeDue { ageChecked = sweep.isExhausted ? nil : now.now }
        if isCountDue { uncounted = sweep.isExhausted ? nil : 0 }
        return sweep.transactions
    }

    mutating func checkAgeSoon() { ageChecked = nil }

    /// A hundredth of the maximum age, up to an hour, balances precision and cost.
    private var ageInterval: Int64 { min(Self.hourMicroseconds, max(0, retention.maximumAge.microseconds) / 100) }
}

struct RetentionOwner {
    var row: SourceRow
    var born: Int64
    /// The first sequence that is not settled, dropped or held.
    var firstPending: Int64
    /// Beyond `firstPending`, only sampled facts are settled.
    var settledEnd: Int64
    /// Facts in delivery, which stay until the verdict.
    var leased: SequenceRanges
    /// From source time to wall time by the latest anchor.
    var wallOffset: Int64?

    static func all(_ connection: Connection) throws(WaybillError) -> [RetentionOwner] {
        let rows = try connection.statement(
            """
            SELECT born_us, (SELECT offset_us FROM clocks WHERE source = id ORDER BY at_us DESC LIMIT 1), \
            \(SourceRow.columns) FROM sources WHERE heard_us IS NULL ORDER BY id
            """
        ).rows { row in (row: SourceRow(row.dropFirst(2)), born: row.int(0), wall: row.optionalInt(1)) }
        var owners: [RetentionOwner] = []
        for source in rows {
            let id = source.row.id
            let firstPending =
                try connection.deliverableSequences(of: id, recorded: source.row.recorded).ranges.first?.lowerBound
                ?? source.row.recorded + 1
            let lastSampled = try connection.integer(
                "SELECT ifnull(max(last), 0) FROM dropped WHERE source = ? AND reason = 'sampled'", id)
            owners.append(
                RetentionOwner(
                    row: source.row, born: source.born,
                    firstPending: firstPending, settledEnd: max(firstPending, lastSampled + 1),
                    leased: try connection.leasedRanges.sequences(of: id), wallOffset: source.wall))
        }
        return owners
    }

    /// Returns the source time before which facts are too old. For settled facts, the wall clock counts, too: a wrong
    /// one can't lose data.
    func cutoff(_ retention: Retention, isSettled: Bool, device: DeviceTime, wall: Int64) -> Int64 {
        let age = max(0, retention.maximumAge.microseconds)
        let byDevice = device.now - born - age
        guard isSettled else { return byDevice }
        if retention.isForThisLaunchOnly && row.hasEnded { return .max }
        guard born < device.bootBegan, let wallOffset else { return byDevice }
        return max(byDevice, wall - age - wallOffset)
    }
}

/// One retention step inside one SQLite transaction, which deletes transactions, and exchanges outside of one.
///
/// Only a transaction's parts in own sources count.
struct RetentionSweep {
    private(set) var transactions: Set<GUID> = []
    private(set) var factCount = 0

    private let connection: Connection
    private let budget: Int
    private let owners: [Int64: RetentionOwner]

    private static let chunk = 100

    enum Class: Int, CaseIterable, Comparable {
        case settled
        case pending
        case open

        static func < (left: Class, right: Class) -> Bool { left.rawValue < right.rawValue }
    }

    init(_ connection: Connection, budget: Int) throws(WaybillError) {
        self.connection = connection
        self.budget = budget
        // Bounded reads may return the same ID for two rows of a damaged store.
        owners = Dictionary(try RetentionOwner.all(connection).map { ($0.row.id, $0) }) { first, _ in first }
    }

    var isExhausted: Bool { factCount >= budget }

    mutating func removeOld(_ retention: Retention, device: DeviceTime, wall: Int64) throws(WaybillError) {
        for order in Class.allCases {
            let cutoffs = owners.mapValues {
                $0.cutoff(retention, isSettled: order == .settled, device: device, wall: wall)
            }
            try remove(order, beyond: nil, before: cutoffs)
        }
    }

    enum Limit {
        case bytes(Int64)
        /// Without exchanges outside of one.
        case transactions(Int)
    }

    mutating func reduce(to limit: Limit) throws(WaybillError) {
        if case .bytes = limit {
            while try excess(beyond: limit) > 0, try BodyRows(connection: connection).removeOldest() {}
        }
        for order in Class.allCases where try excess(beyond: limit) > 0 {
            try remove(order, beyond: limit, before: owners.mapValues { _ in .max })
        }
    }

    private func excess(beyond limit: Limit?) throws(WaybillError) -> Int {
        switch limit {
        case nil: .max
        case .bytes(let count): try connection.usedByteCount() > count ? .max : 0
        case .transactions(let count):
            try connection.integer(
                """
                SELECT count(*) FROM parts WHERE listed_us IS NOT NULL \
                AND source IN (SELECT id FROM sources WHERE heard_us IS NULL)
                """) - count
        }
    }

    /// Deletes units beyond `limit`, or all before the cutoffs.
    private mutating func remove(
        _ order: Class, beyond limit: Limit?, before cutoffs: [Int64: Int64]
    ) throws(WaybillError) {
        let areTransactions = if case .transactions = limit { true } else { false }
        var fronts: [Int64: Front] = [:]
        for id in owners.keys { fronts[id] = try front(order, of: id, before: cutoffs, areTransactions) }
        while !isExhausted, let (id, front) = fronts.min(by: { ($0.value.began, $0.key) < ($1.value.began, $1.key) }) {
            let excess = try excess(beyond: limit)
            guard excess > 0 else { return }
            var eraser = FactEraser(connection, because: limit == nil ? .age : .quota)
            var roots: [Int64: Set<Int64>] = [:]
            for part in front.units.prefix(excess).joined() {
                roots[part.source, default: []].insert(part.sequence)
            }
            for (source, sequences) in roots {
                guard let owner = owners[source] else { continue }
                try eraser.erase(SequenceRanges(each: sequences), of: owner.row)
            }
            try eraser.finish()
            transactions.formUnion(eraser.transactions)
            factCount += eraser.count
            fronts[id] = try self.front(order, of: id, before: cutoffs, areTransactions)
        }
    }

    // MARK: What may go

    private struct Front {
        /// In device time.
        var began: Int64
        var units: [[Root]] = []
    }

    private func front(
        _ order: Class, of id: Int64, before cutoffs: [Int64: Int64], _ areTransactions: Bool
    ) throws(WaybillError) -> Front? {
        guard let owner = owners[id], let cutoff = cutoffs[id] else { return nil }
        var front: Front?
        var seen: Set<GUID> = []
        try connection.statement(Self.query(order)).forRows(
            id, owner.firstPending, owner.settledEnd, owner.row.hasEnded
        ) { row throws(WaybillError) in
            // Openings are in order of time, so no later one is too old.
            if let began = row.optionalInt(2), began >= cutoff { return false }
            let transaction = row.optionalGUID(1)
            if let transaction, !seen.insert(transaction).inserted { return true }
            guard transaction != nil || !areTransactions else { return true }
            let root = Root(source: id, sequence: row.int(0), last: row.int(3), lastAt: row.int(4), order: order)
            let unit = try transaction.map { guid throws(WaybillError) in try parts(of: guid) } ?? [root]
            guard unit.allSatisfy({ $0.order <= order && isFree($0) && $0.lastAt < cutoffs[$0.source] ?? .min }) else {
                return true
            }
            var found = front ?? Front(began: owner.born + (row.optionalInt(2) ?? root.lastAt))
            found.units.append(unit)
            front = found
            return found.units.count < Self.chunk
        }
        return front
    }

    private struct Root {
        var source: Int64
        var sequence: Int64
        var last: Int64
        var lastAt: Int64
        var order: Class
    }

    private func isFree(_ root: Root) -> Bool {
        owners[root.source].map { !$0.leased.meets(root.sequence...max(root.sequence, root.last)) } ?? false
    }

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

    /// Facts are settled in order, so the search for settled ones ends at the first pending or sampled one.
    private static func query(_ order: Class) -> String {
        let (part, exchange) =
            switch order {
            case .settled:
                (
                    "sequence < ?3 AND settled = 1 AND outcome <> 0",
                    "sequence < ?2 AND ifnull(closed, sequence) < ?2 AND (closed IS NOT NULL OR ?4)"
                )
            case .pending:
                ("settled = 0 AND outcome <> 0", "ifnull(closed, sequence) >= ?2 AND (closed IS NOT NULL OR ?4)")
            case .open: ("outcome = 0", "closed IS NULL AND NOT ?4")
            }
        return """
            SELECT sequence, guid, at_us, last, last_at_us FROM parts WHERE source = ?1 AND sequence > 0 AND \(part) \
            UNION ALL SELECT sequence, NULL, at_us, ifnull(closed, sequence), ifnull(closed_at_us, ifnull(at_us, 0)) FROM exchanges \
            WHERE source = ?1 AND part = 0 AND \(exchange) ORDER BY 1
            """
    }
}

extension Connection {
    /// SQLite reuses free pages before the file grows, so they don't count.
    func usedByteCount() throws(WaybillError) -> Int64 {
        try (integer("PRAGMA page_count") - integer("PRAGMA freelist_count")) * integer("PRAGMA page_size")
    }
}
