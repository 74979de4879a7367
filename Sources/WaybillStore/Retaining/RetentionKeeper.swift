import WaybillCore

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
