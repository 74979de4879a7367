import Foundation
package import WaybillCore

extension Store {
    /// The longest lease without a process, for uploads that outlive the process that began them.
    package static let longestLeaseMicroseconds: Int64 = 172_800_000_000

    /// Claims the oldest pending facts as a set, with sources that only have news. A `wall` time releases timed-out
    /// parts.
    ///
    /// - Parameter others: The owner's sets that are under way. Its other leases end.
    /// - Returns: `nil` if nothing is pending, or another live owner is delivering. Each store has one flush at a time.
    package func lease(
        owner: GUID, besides others: Set<GUID> = [], now uptime: Int64, at wall: Int64? = nil, expiresIn: Int64,
        limit: LeaseLimit = LeaseLimit(), isAlive: (GUID) -> Bool
    ) throws(WaybillError) -> TransactionSet? {
        guard try hasNews() else { return nil }
        return try write { () throws(WaybillError) in
            let isFree = try endStaleLeases(
                owner: owner, besides: others, now: uptime, expiresIn: expiresIn, isAlive: isAlive)
            guard isFree else { return nil }
            if let wall { try connection.releaseTimedOutParts(at: wall) }
            var claim = Claim(set: GUID(), limit: limit, takesNews: others.isEmpty, connection)
            let shares = try claim.shares()
            guard !shares.isEmpty else { return nil }
            try connection.statement("INSERT INTO leases(set_id, owner, expires_us) VALUES (?, ?, ?)").run(
                claim.set, owner, uptime + expiresIn)
            return TransactionSet(id: claim.set, sources: shares)
        }
    }

    /// Whether the facts of a set are still claimed; the times are in microseconds of the device's uptime.
    package func isLeased(_ set: GUID, now uptime: Int64, expiresIn: Int64) throws(WaybillError) -> Bool {
        let expires = try connection.integer("SELECT ifnull(max(expires_us), 0) FROM leases WHERE set_id = ?", set)
        return expires > uptime && expires <= uptime + 2 * expiresIn
    }

    package func release(_ set: GUID) throws(WaybillError) {
        try write { () throws(WaybillError) in try connection.endLease(of: set) }
    }

    package func pendingCount() throws(WaybillError) -> Int64 {
        try connection.integer(SQL.pendingCount)
    }

    /// Returns an upper bound for the number of sets without facts.
    package func newsSetCount() throws(WaybillError) -> Int64 {
        let sources: Int64 = try connection.integer(
            "SELECT count(*) FROM sources WHERE heard_us IS NULL AND news <> 0")
        guard sources > 0 else { return 0 }
        return sources
            + (try connection.integer(
                """
                SELECT count(*) FROM dropped d JOIN sources s ON s.id = d.source \
                WHERE s.heard_us IS NULL AND s.news <> 0 AND d.last > s.told
                """) / Int64(DroppedRange.toldLimit))
    }

    package func heldCount() throws(WaybillError) -> Int64 { try connection.heldCount() }

    package func ledgers() throws(WaybillError) -> [GUID: Ledger] {
        var result: [GUID: Ledger] = [:]
        let sources = try connection.statement("SELECT id, uuid FROM sources WHERE heard_us IS NULL").rows { row in
            (id: row.int(0), source: row.guid(1))
        }
        for (id, source) in sources { result[source] = try connection.ledger(of: id) }
        return result
    }

    /// Avoids a write if there is nothing to deliver, which is the common case.
    private func hasNews() throws(WaybillError) -> Bool {
        if try pendingCount() > 0 { return true }
        return try connection.integer("SELECT EXISTS(SELECT 1 FROM sources WHERE news <> 0)") != 0
    }

    private func endStaleLeases(
        owner: GUID, besides others: Set<GUID>, now uptime: Int64, expiresIn: Int64, isAlive: (GUID) -> Bool
    ) throws(WaybillError) -> Bool {
        let leases = try connection.statement("SELECT set_id, owner, expires_us FROM leases").rows { row in
            (set: row.guid(0), owner: row.guid(1), expires: row.int(2))
        }
        var isFree = true
        for lease in leases {
            // A lease of an earlier boot can reach much further than a new one. The factor 2 allows for a process that
            // leased while this one waited for the lock. Leases without a process may be longer.
            let reach = lease.owner.isOfNoProcess ? max(expiresIn, Self.longestLeaseMicroseconds) : expiresIn
            let hasExpired = lease.expires <= uptime || lease.expires > uptime + 2 * reach
            if hasExpired || !isAlive(lease.owner) || lease.owner == owner && !others.contains(lease.set) {
                try connection.endLease(of: lease.set)
            } else if lease.owner != owner {
                isFree = false
            }
        }
        return isFree
    }
}

package struct LeaseLimit: Sendable {
    /// Default: 2,000.
    package var factCount: Int
    /// The approximate size of the set as JSON; it contains at least one fact. Default: 512 KB.
    package var byteCount: Int

    package init(factCount: Int = 2_000, byteCount: Int = 512 * 1024) {
        self.factCount = factCount
        self.byteCount = byteCount
    }
}

extension GUID {
    /// Returns the same ID for the same name in every launch.
    package static func ofNoProcess(named name: String) -> GUID {
        // FNV-1a, because Swift's hash differs between processes.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return GUID(high: 0, low: hash)
    }

    /// Whether this is no process, whose leases end only by a verdict or by time.
    var isOfNoProcess: Bool { high == 0 }
}

extension Store {
    /// Returns `false` if the lease is gone, and then the facts are sent again.
    package func settle(_ set: GUID, rejections: [Receipt.Rejection], at wall: Int64) throws(WaybillError) -> Bool {
        try write { () throws(WaybillError) in
            guard try connection.integer("SELECT EXISTS(SELECT 1 FROM leases WHERE set_id = ?)", set) != 0 else {
                return false
            }
            let claimed = try connection.statement(
                "SELECT r.source, s.uuid, s.recorded, r.first, r.last FROM ranges r JOIN sources s ON s.id = r.source WHERE r.lease = ?"
            ).rows(set) { row in
                (id: row.int(0), source: row.guid(1), recorded: row.int(2), range: row.range(3))
            }
            let byReason = Dictionary(grouping: rejections, by: \.source)
            for (id, ranges) in Dictionary(grouping: claimed, by: \.id) {
                guard let source = ranges.first else { continue }
                try settle(
                    SequenceRanges(ranges.lazy.map(\.range)), of: id, recorded: source.recorded,
                    rejections: byReason[source.source] ?? [],
                    at: wall, in: set)
            }
            try connection.statement("DELETE FROM leases WHERE set_id = ?").run(set)
            // With another set under way, it is not known which of them reported the news.
            if try connection.integer("SELECT EXISTS(SELECT 1 FROM leases)") == 0 {
                try connection.confirmTold()
            }
            return true
        }
    }

    private func settle(
        _ claimed: SequenceRanges, of source: Int64, recorded: Int64, rejections: [Receipt.Rejection], at wall: Int64,
        in set: GUID
    ) throws(WaybillError) {
        var quarantined: Set<Int64> = []
        for rejection in rejections {
            // For an unreadable sequence, the collector returns the index in the set, which is sorted.
            guard let sequence = rejection.sequence ?? claimed.element(at: Int64(rejection.index)),
                claimed.contains(sequence)
            else { continue }
            try connection.statement(
                """
                INSERT INTO quarantine(source, sequence, reason, at_us) VALUES (?, ?, ?, ?) \
                ON CONFLICT(source, sequence) DO UPDATE SET reason = excluded.reason, at_us = excluded.at_us
                """
            ).run(source, sequence, rejection.reason, wall)
            quarantined.insert(sequence)
        }
        try connection.statement("UPDATE sources SET delivered = delivered + ? WHERE id = ?").run(
            claimed.count - Int64(quarantined.count), source)
        try connection.statement("DELETE FROM ranges WHERE source = ? AND lease = ?").run(source, set)
        try connection.bookedRanges.add(claimed, to: source)
        try connection.settleParts(of: source, recorded: recorded)
    }
}

extension DeliveryPause {
    /// Limits the count from a damaged store.
    private static let largestFailureCount: Int64 = 1_000_000

    /// Ends at a ``DeviceTime``, which setting the clock does not affect.
    fileprivate init?(_ text: String, now: Int64) {
        guard let kept = try? JSONDecoder().decode([String: AttributeValue].self, from: Data(text.utf8)),
            case .integer(let failures)? = kept["failures"], case .integer(let until)? = kept["until_us"],
            case .bool(let asked)? = kept["asked"]
        else { return nil }
        // No pause is longer than a day; a damaged one must not stop delivery forever.
        let remaining = until.subtracting(now)
        guard remaining <= 86_400_000_000 else { return nil }
        self.init(
            failureCount: Int(min(max(0, failures), Self.largestFailureCount)),
            remainingMicroseconds: max(0, remaining), wasAskedFor: asked)
    }

    fileprivate func text(now: Int64) -> String? {
        let kept: [String: AttributeValue] = [
            "failures": .integer(Int64(failureCount)), "until_us": .integer(now + remainingMicroseconds),
            "asked": .bool(wasAskedFor),
        ]
        return (try? JSONEncoder().encode(kept)).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension StoreReader {
    package func deliveryPause() throws(WaybillError) -> DeliveryPause? {
        guard let text = try connection.setting(Store.pauseKey), let time = try DeviceTime(connection) else {
            return nil
        }
        return DeliveryPause(text, now: time.now)
    }
}

extension Store {
    fileprivate static let pauseKey = "delivery_pause"

    /// Returns the pause since the last success, which may be over; `nil` if there is none.
    package func deliveryPause(by clock: any TransactionClock) throws(WaybillError) -> DeliveryPause? {
        guard let text = try setting(Self.pauseKey) else { return nil }
        return DeliveryPause(text, now: try deviceTime(clock))
    }

    /// Stores a pause that begins now; `nil` ends the current one.
    package func setDeliveryPause(_ pause: DeliveryPause?, by clock: any TransactionClock) throws(WaybillError) {
        let now = try deviceTime(clock)
        try set(Self.pauseKey, to: pause?.text(now: now))
    }

    private func deviceTime(_ clock: any TransactionClock) throws(WaybillError) -> Int64 {
        let moment = Moment(clock)
        var time = try DeviceTime(connection) ?? DeviceTime(moment)
        time.pass(to: moment)
        return time.now
    }
}
