import WaybillCore

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
