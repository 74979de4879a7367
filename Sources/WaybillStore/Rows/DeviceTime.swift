import WaybillCore

/// How long the device was seen running since the store was made: what age goes by, because it cannot be set.
///
/// Within a boot it passes as the uptime does. Over boots only what the uptime proves is added, not what lay between
/// the last look and the end of that boot: it is never ahead of the time that has really passed.
struct DeviceTime: Equatable {
    /// Microseconds until now.
    private(set) var now: Int64 = 0
    /// What it was when the device was last started: a source that began later belongs to this boot.
    private(set) var bootBegan: Int64 = 0

    private var uptime: Int64 = 0
    private var boot = ""

    /// What a store that is looked at for the first time says at this moment.
    init(_ moment: Moment) {
        uptime = moment.uptime
        boot = moment.boot
        bootBegan = -moment.uptime
    }

    /// Passes on to a moment.
    mutating func pass(to moment: Moment) {
        if moment.boot != boot || moment.uptime < uptime {
            // Behind all that began before.
            bootBegan = now + 1
            now = bootBegan + moment.uptime
        } else {
            now += moment.uptime - uptime
        }
        uptime = moment.uptime
        boot = moment.boot
    }
}

extension DeviceTime {
    /// As the store last said; nil where it was not asked yet.
    init?(_ connection: Connection) throws(WaybillError) {
        let row = try connection.statement("SELECT seen_us, boot_us, uptime_us, boot FROM device_time").first { row in
            (now: row.int(0), bootBegan: row.int(1), uptime: row.int(2), boot: row.text(3))
        }
        guard let row else { return nil }
        (now, bootBegan, uptime, boot) = row
    }

    /// Keeps it.
    func save(_ connection: Connection) throws(WaybillError) {
        try connection.statement(
            """
            INSERT INTO device_time(id, seen_us, boot_us, uptime_us, boot) VALUES (1, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET \
            seen_us = excluded.seen_us, boot_us = excluded.boot_us, uptime_us = excluded.uptime_us, boot = excluded.boot
            """
        ).run(now, bootBegan, uptime, boot)
    }
}
