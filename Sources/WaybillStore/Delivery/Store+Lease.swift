package import WaybillCore

/// Facts go out: claimed under a set's ID, until the collector's verdict or the end of the lease.
extension Store {
    /// How long facts may be leased by no process in particular: for uploads that outlive the one that began them.
    package static let longestLeaseMicroseconds: Int64 = 3_600_000_000

    /// Claims pending facts, the oldest first, and makes a set of them.
    ///
    /// Also sources that have ended or given up facts since the collector last heard of them are in it, with no facts.
    ///
    /// - Parameters:
    ///   - owner: The source of this process, or any ID that `isAlive` knows. What it has leased before is released.
    ///   - uptime: Now, in microseconds of the device's uptime.
    ///   - wall: Now, in microseconds since 1970: what sampling held back and has timed out by then goes out; nil: it
    ///     stays.
    ///   - expiresIn: Microseconds after which the lease ends without a verdict.
    ///   - isAlive: Whether the owner of another lease still runs.
    /// - Returns: nil when there is nothing to deliver, or when another live owner is delivering: one flush per store
    ///   at a time.
    package func lease(
        owner: GUID, now uptime: Int64, at wall: Int64? = nil, expiresIn: Int64, limit: LeaseLimit = LeaseLimit(),
        isAlive: (GUID) -> Bool
    ) throws(WaybillError) -> TransactionSet? {
        guard try hasNews() else { return nil }
        return try write { () throws(WaybillError) in
            guard try endStaleLeases(owner: owner, now: uptime, expiresIn: expiresIn, isAlive: isAlive) else {
                return nil
            }
            if let wall { try HeldParts(connection: connection).releaseTimedOut(at: wall) }
            var claim = Claim(set: GUID(), limit: limit, connection)
            let shares = try claim.shares()
            guard !shares.isEmpty else { return nil }
            try connection.statement("INSERT INTO leases(set_id, owner, expires_us) VALUES (?, ?, ?)").run(
                claim.set, owner, uptime + expiresIn)
            return TransactionSet(id: claim.set, sources: shares)
        }
    }

    /// Whether the facts of a set are claimed still.
    ///
    /// - Parameters:
    ///   - uptime: Now, in microseconds of the device's uptime.
    ///   - expiresIn: Microseconds after which its lease ends.
    package func isLeased(_ set: GUID, now uptime: Int64, expiresIn: Int64) throws(WaybillError) -> Bool {
        let expires = try connection.integer("SELECT ifnull(max(expires_us), 0) FROM leases WHERE set_id = ?", set)
        return expires > uptime && expires <= uptime + 2 * expiresIn
    }

    /// Gives the facts of a set back without a verdict: they go out again under another ID.
    package func release(_ set: GUID) throws(WaybillError) {
        try write { () throws(WaybillError) in try LeaseRows(connection: connection).end(set) }
    }

    /// Facts that are not settled, in all own sources.
    package func pendingCount() throws(WaybillError) -> Int64 {
        try connection.integer(SQL.pendingCount)
    }

    /// An upper bound for the number of sets that report news without facts: ends of sources, and dropped ranges beyond
    /// those that one set can report.
    package func newsSetCount() throws(WaybillError) -> Int64 {
        let sources: Int64 = try connection.integer(
            "SELECT count(*) FROM sources WHERE heard_us IS NULL AND news <> 0")
        guard sources > 0 else { return 0 }
        return sources
            + (try connection.integer(
                """
                SELECT count(*) FROM dropped d JOIN sources s ON s.id = d.source \
                WHERE s.heard_us IS NULL AND s.news <> 0 AND d.last > s.told
                """) / Int64(RangeRows.toldLimit))
    }

    /// Those of them that sampling holds back until their transactions have ended.
    package func heldCount() throws(WaybillError) -> Int64 { try HeldParts(connection: connection).count() }

    /// The ledgers of the sources that recorded into this store.
    package func ledgers() throws(WaybillError) -> [GUID: Ledger] {
        var result: [GUID: Ledger] = [:]
        let sources = try connection.statement("SELECT id, uuid FROM sources WHERE heard_us IS NULL").rows { row in
            (id: row.int(0), source: row.guid(1))
        }
        for (id, source) in sources { result[source] = try Ledgers(connection: connection).ledger(of: id) }
        return result
    }

    /// Whether a look at the leases is worth a write; the common flush finds nothing.
    private func hasNews() throws(WaybillError) -> Bool {
        if try pendingCount() > 0 { return true }
        return try connection.integer("SELECT EXISTS(SELECT 1 FROM sources WHERE news <> 0)") != 0
    }

    /// Ends what died with its owner or has expired; whether there is no lease left.
    private func endStaleLeases(owner: GUID, now uptime: Int64, expiresIn: Int64, isAlive: (GUID) -> Bool)
        throws(WaybillError) -> Bool
    {
        let leases = try connection.statement("SELECT set_id, owner, expires_us FROM leases").rows { row in
            (set: row.guid(0), owner: row.guid(1), expires: row.int(2))
        }
        var isFree = true
        for lease in leases {
            // Much further ahead than a new lease would reach: of an earlier boot, whose uptime was higher. A little
            // further, and another process leased while this one, which had read its clock before, waited for the lock.
            // Leases of no process reach further than those of a flush that waits for its answer.
            let reach = lease.owner.isOfNoProcess ? max(expiresIn, Self.longestLeaseMicroseconds) : expiresIn
            let hasExpired = lease.expires <= uptime || lease.expires > uptime + 2 * reach
            if lease.owner == owner || hasExpired || !isAlive(lease.owner) {
                try LeaseRows(connection: connection).end(lease.set)
            } else {
                isFree = false
            }
        }
        return isFree
    }
}
