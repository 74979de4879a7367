import WaybillCore

/// How much of what was recorded a device keeps, and for how long.
///
/// Whole transactions go, the oldest first: those that were delivered before those that were not, and open ones last.
/// What was not delivered is counted and told to the collector as dropped. What is being delivered stays until the
/// collector has answered.
public struct Retention: Sendable, Hashable {
    /// The number of bytes that the store's rows, indexes and write-ahead log may take. Its files stop growing there.
    /// Default: 64 MiB, at least 1 MiB.
    public var maximumBytes: Int64 = 64 << 20
    /// How long after its last event a transaction is kept. Default: 30 days.
    ///
    /// Measured by a clock that cannot be set: within one boot of the device it is the time that has passed, asleep or
    /// not. Of transactions from earlier boots, those that were delivered go by the wall clock, too; those that were
    /// not go by the time that the device was seen running, which is never more than has really passed.
    public var maximumAge: Duration = .seconds(30 * 86_400)
    /// How many transactions are kept, exchanges outside of one not counted; nil, the default: as many as there is room
    /// for. At least 1.
    ///
    /// Of very many, up to a hundredth more may be there for a moment.
    public var maximumTransactions: Int?
    /// Whether transactions of earlier launches go as soon as they are delivered. Default: false.
    ///
    /// Those that are not delivered stay until they are, or until bytes or age say otherwise: what led to a crash is
    /// worth the most.
    public var isForThisLaunchOnly = false

    /// Below this the tables alone would not fit.
    package static let leastBytes: Int64 = 1 << 20

    /// The defaults.
    public init() {}

    /// Keeps what this launch records, and of earlier ones only what is still to be delivered.
    public static var thisLaunchOnly: Retention {
        var retention = Retention()
        retention.isForThisLaunchOnly = true
        return retention
    }
}

/// Keeps a store within its limits, a step at a time.
struct RetentionKeeper {
    let retention: Retention

    private var device: DeviceTime?
    /// ``DeviceTime/now`` when age was looked at last; nil: there is something left to do.
    private var ageChecked: Int64?
    /// Facts that were written since the transactions were counted; nil: they were not yet, or there are too many still.
    private var uncounted: Int?

    private static let minuteMicroseconds: Int64 = 60_000_000
    private static let hourMicroseconds = 60 * minuteMicroseconds

    init(_ retention: Retention = Retention()) { self.retention = retention }

    /// Notes how long the device was seen running; to be done before a source is registered, whose birth goes by it.
    mutating func look(at moment: Moment, in store: Store) throws(WaybillError) {
        let connection = store.connection
        device = try store.write { () throws(WaybillError) in
            var device = try DeviceTime(connection) ?? DeviceTime(moment)
            device.pass(to: moment)
            try device.save(connection)
            return device
        }
    }

    /// One step: takes away what is too old, and then the oldest until the bytes suffice.
    ///
    /// - Parameters:
    ///   - written: Facts that came since the step before.
    ///   - budget: About how many facts may go at once.
    ///   - hasJournal: Whether there is a journal of a source still, which would bring its facts back.
    /// - Returns: The transactions that went.
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
        let byteLimit = try store.rowByteLimit(within: retention.maximumBytes)
        if let uncounted { self.uncounted = uncounted + written }
        // Each transaction begins with a fact.
        let isCountDue = retention.maximumTransactions.map { uncounted ?? .max >= max(1, $0 / 100) } ?? false
        guard isAgeDue || byteLimit != nil || isCountDue else { return [] }
        let sweep = try store.write { () throws(WaybillError) in
            var sweep = try RetentionSweep(connection, budget: budget)
            if isAgeDue { try sweep.removeOld(retention, device: now, wall: moment.wall) }
            if let byteLimit, !sweep.isExhausted { try sweep.shrink(to: byteLimit) }
            if isCountDue, !sweep.isExhausted, let count = retention.maximumTransactions {
                try sweep.reduce(to: count)
            }
            if isAgeDue { try Totals(connection: connection).fold(hasJournal: hasJournal) }
            return sweep
        }
        if isAgeDue { ageChecked = sweep.isExhausted ? nil : now.now }
        if isCountDue { uncounted = sweep.isExhausted ? nil : 0 }
        return sweep.transactions
    }

    /// Has the next step look at age again, because something was settled.
    mutating func checkAgeSoon() { ageChecked = nil }

    /// A hundredth of the age is precise enough, and an hour seldom enough to cost nothing.
    private var ageInterval: Int64 { min(Self.hourMicroseconds, max(0, retention.maximumAge.microseconds) / 100) }
}

/// An own source, as far as it matters for what may go.
struct RetentionOwner {
    var row: SourceRow
    /// ``DeviceTime/now`` when it was registered.
    var born: Int64
    /// The first sequence that is neither settled nor given up nor held back.
    var firstPending: Int64
    /// Behind all parts that may be settled: beyond the first pending fact those that were sampled away.
    var settledEnd: Int64
    /// What is being delivered, and stays until its verdict.
    var leased: SequenceRanges
    /// From its time to wall time, by its latest anchor; nil: it has none.
    var wallOffset: Int64?

    /// The own sources, oldest first.
    static func all(_ connection: Connection) throws(WaybillError) -> [RetentionOwner] {
        let ranges = RangeRows(connection: connection)
        let rows = try connection.statement(
            """
            SELECT id, ended, recorded, born_us, (SELECT offset_us FROM clocks WHERE source = id ORDER BY at_us DESC LIMIT 1) \
            FROM sources WHERE heard_us IS NULL ORDER BY id
            """
        ).rows { row in
            (
                row: SourceRow(id: row.int(0), isOwn: true, hasEnded: row.bool(1), recorded: row.int(2)),
                born: row.int(3),
                wall: row.optionalInt(4)
            )
        }
        var owners: [RetentionOwner] = []
        for source in rows {
            let id = source.row.id
            let firstPending =
                try ranges.deliverable(of: id, recorded: source.row.recorded).ranges.first?.lowerBound
                ?? source.row.recorded + 1
            let lastSampled = try connection.integer(
                "SELECT ifnull(max(last), 0) FROM dropped WHERE source = ? AND reason = 'sampled'", id)
            owners.append(
                RetentionOwner(
                    row: source.row, born: source.born,
                    firstPending: firstPending, settledEnd: max(firstPending, lastSampled + 1),
                    leased: try ranges.taken(of: id).subtracting(try ranges.booked(of: id)), wallOffset: source.wall))
        }
        return owners
    }

    /// The time in the source before which something is too old.
    ///
    /// - Parameter isSettled: Whether a wrong wall clock could do no more than to take it from sight.
    func cutoff(_ retention: Retention, isSettled: Bool, device: DeviceTime, wall: Int64) -> Int64 {
        let age = max(0, retention.maximumAge.microseconds)
        let byDevice = device.now - born - age
        guard isSettled else { return byDevice }
        if retention.isForThisLaunchOnly && row.hasEnded { return .max }
        guard born < device.bootBegan, let wallOffset else { return byDevice }
        return max(byDevice, wall - age - wallOffset)
    }
}

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
    private let owners: [Int64: RetentionOwner]

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
        // Numbers that are read are bounded, so that two rows of a damaged store may have the same.
        owners = Dictionary(try RetentionOwner.all(connection).map { ($0.row.id, $0) }) { first, _ in first }
    }

    /// Whether it has done what one step may.
    var isExhausted: Bool { factCount >= budget }

    /// Takes away what is too old.
    mutating func removeOld(_ retention: Retention, device: DeviceTime, wall: Int64) throws(WaybillError) {
        for order in Class.allCases {
            let cutoffs = owners.mapValues {
                $0.cutoff(retention, isSettled: order == .settled, device: device, wall: wall)
            }
            try remove(order, because: .age, while: { .max }, before: cutoffs)
        }
    }

    /// Takes away the oldest, bodies first, until the store takes no more than so many bytes.
    mutating func shrink(to byteCount: Int64) throws(WaybillError) {
        let connection = connection
        let isTooLarge = { () throws(WaybillError) in try connection.usedByteCount() > byteCount }
        let room = { () throws(WaybillError) in try isTooLarge() ? Int.max : 0 }
        while try isTooLarge(), try BodyRows(connection: connection).removeOldest() {}
        for order in Class.allCases where try isTooLarge() {
            try remove(order, because: .quota, while: room, before: owners.mapValues { _ in .max })
        }
    }

    /// Takes away the oldest transactions, until there are no more than so many.
    mutating func reduce(to count: Int) throws(WaybillError) {
        let connection = connection
        let excess = { () throws(WaybillError) in
            try connection.integer(
                """
                SELECT count(*) FROM parts WHERE listed_us IS NOT NULL \
                AND source IN (SELECT id FROM sources WHERE heard_us IS NULL)
                """) - count
        }
        for order in Class.allCases where try excess() > 0 {
            try remove(
                order, because: .quota, while: excess, before: owners.mapValues { _ in .max }, areTransactions: true)
        }
    }

    /// - Parameters:
    ///   - excess: How many more should go; 0, or less: enough have gone.
    ///   - areTransactions: Whether what is outside of one stays.
    private mutating func remove(
        _ order: Class, because reason: Ledger.DropReason, while excess: () throws(WaybillError) -> Int,
        before cutoffs: [Int64: Int64], areTransactions: Bool = false
    ) throws(WaybillError) {
        var fronts: [Int64: Front] = [:]
        for id in owners.keys { fronts[id] = try front(order, of: id, before: cutoffs, areTransactions) }
        while !isExhausted, let (id, front) = fronts.min(by: { ($0.value.began, $0.key) < ($1.value.began, $1.key) }) {
            let excess = try excess()
            guard excess > 0 else { return }
            var eraser = FactEraser(connection, because: reason)
            var roots: [Int64: Set<Int64>] = [:]
            for part in front.units.prefix(excess).joined() {
                roots[part.source, default: []].insert(part.sequence)
            }
            for (source, sequences) in roots {
                guard let owner = owners[source] else { continue }
                try eraser.erase(SequenceRanges(sequences.sorted().lazy.map { $0...$0 }), of: owner.row)
            }
            try eraser.finish()
            transactions.formUnion(eraser.transactions)
            factCount += eraser.count
            fronts[id] = try self.front(order, of: id, before: cutoffs, areTransactions)
        }
    }

    // MARK: What may go

    /// The next units of one source.
    private struct Front {
        /// When the first of them began, by the device's time.
        var began: Int64
        /// The openings of each.
        var units: [[Root]] = []
    }

    /// nil: nothing of that source may go.
    private func front(
        _ order: Class, of id: Int64, before cutoffs: [Int64: Int64], _ areTransactions: Bool
    ) throws(WaybillError) -> Front? {
        guard let owner = owners[id], let cutoff = cutoffs[id] else { return nil }
        var front: Front?
        var seen: Set<GUID> = []
        try connection.statement(Self.query(order)).forRows(
            id, owner.firstPending, owner.settledEnd, owner.row.hasEnded
        ) { row throws(WaybillError) in
            // Openings are in order of time, so that none behind this one is too old either.
            if let began = row.optionalInt(2), began >= cutoff { return false }
            let transaction = row.optionalGUID(1)
            // A source may have several parts of one transaction.
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
    /// Facts are settled in order, so that nothing behind the first pending one, and behind what was sampled away, is
    /// looked at in vain for what is settled.
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
            UNION ALL SELECT sequence, NULL, at_us, ifnull(closed, sequence), ifnull(closed_at_us, ifnull(at_us, 0)) FROM network_logs \
            WHERE source = ?1 AND part = 0 AND \(exchange) ORDER BY 1
            """
    }
}

extension Connection {
    /// Bytes of the pages that hold something. Freed ones are used again before the file grows.
    func usedByteCount() throws(WaybillError) -> Int64 {
        try (integer("PRAGMA page_count") - integer("PRAGMA freelist_count")) * integer("PRAGMA page_size")
    }
}
