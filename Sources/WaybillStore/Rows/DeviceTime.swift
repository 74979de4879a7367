import Foundation
package import WaybillCore

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

/// One moment by all clocks of a device.
struct Moment: Sendable {
    /// Microseconds of the device's uptime, asleep or not.
    var uptime: Int64
    /// Microseconds since 1970.
    var wall: Int64
    /// Which of its boots the uptime counts from; never leaves the device.
    var boot: String

    init(uptime: Int64, wall: Int64, boot: String = Self.thisBoot) {
        self.uptime = uptime
        self.wall = wall
        self.boot = boot
    }

    /// Now.
    init(_ clock: any TransactionClock) {
        self.init(uptime: clock.uptimeMicroseconds(), wall: clock.wallMicroseconds())
    }

    /// The boot that this process runs in; empty where the system does not say, and then a boot is known by an uptime
    /// that went back.
    static let thisBoot: String = {
        #if canImport(Darwin)
        var bytes = [UInt8](repeating: 0, count: 64)
        var count = bytes.count - 1
        guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else { return "" }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        #else
        // man 4 random: a random UUID, made once at boot.
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        #endif
    }()
}

/// A source's clock anchors: turns times in the source into microseconds since 1970.
package struct WallClock {
    /// In order of time.
    package private(set) var anchors: [ClockAnchor]

    package init(_ anchors: [ClockAnchor]) { self.anchors = anchors.sorted { $0.atMicroseconds < $1.atMicroseconds } }

    /// By the latest anchor before, else by the first; a source without any starts in 1970.
    package func wall(_ atMicroseconds: Int64) -> Int64 { atMicroseconds.adding(offset(at: atMicroseconds)) }

    /// What ``wall(_:)`` adds to a time.
    package func offset(at atMicroseconds: Int64) -> Int64 {
        (anchors.last { $0.atMicroseconds <= atMicroseconds } ?? anchors.first)?.offsetMicroseconds ?? 0
    }
}

extension WallClock {
    /// The first anchor, the last, and those that date these times.
    func anchors(dating times: [Int64]) -> [ClockAnchor] {
        guard let last = anchors.indices.last else { return [] }
        var dating: Set<Int> = [0, last]
        var index = 0
        for time in times.sorted() {
            while index < last, anchors[index + 1].atMicroseconds <= time { index += 1 }
            dating.insert(index)
        }
        return dating.sorted().map { anchors[$0] }
    }

    /// Reads those of a source.
    package init(of source: Int64, _ connection: Connection) throws(WaybillError) {
        let statement = try connection.statement("SELECT at_us, offset_us FROM clocks WHERE source = ? ORDER BY at_us")
        anchors = try statement.rows(source) { row in
            ClockAnchor(atMicroseconds: row.int(0), offsetMicroseconds: row.int(1))
        }
    }
}
