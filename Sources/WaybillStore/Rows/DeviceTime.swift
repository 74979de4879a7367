import Foundation
package import WaybillCore

/// How long the device was seen running since the store was created; it measures age, because nobody can set it.
///
/// Within a boot, it follows the uptime. It never exceeds the elapsed time, because it omits the unseen end of each
/// boot.
struct DeviceTime: Equatable {
    private(set) var now: Int64 = 0
    /// The value at the last boot; sources that began later belong to this boot.
    private(set) var bootBegan: Int64 = 0

    private var uptime: Int64 = 0
    private var boot = ""

    init(_ moment: Moment) {
        uptime = moment.uptime
        boot = moment.boot
        bootBegan = -moment.uptime
    }

    mutating func pass(to moment: Moment) {
        if moment.boot != boot || moment.uptime < uptime {
            // Later than everything before.
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
    init?(_ connection: Connection) throws(WaybillError) {
        let row = try connection.statement("SELECT seen_us, boot_us, uptime_us, boot FROM device_time").first { row in
            (now: row.int(0), bootBegan: row.int(1), uptime: row.int(2), boot: row.text(3))
        }
        guard let row else { return nil }
        (now, bootBegan, uptime, boot) = row
    }

    func save(_ connection: Connection) throws(WaybillError) {
        try connection.statement(
            """
            INSERT INTO device_time(id, seen_us, boot_us, uptime_us, boot) VALUES (1, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET \
            seen_us = excluded.seen_us, boot_us = excluded.boot_us, uptime_us = excluded.uptime_us, boot = excluded.boot
            """
        ).run(now, bootBegan, uptime, boot)
    }
}

struct Moment: Sendable {
    /// The device's uptime, including sleep, in microseconds.
    var uptime: Int64
    /// In microseconds since 1970.
    var wall: Int64
    /// The boot of the uptime; it never leaves the device.
    var boot = Self.thisBoot

    /// The current boot. If it is unknown and empty, a lower uptime reveals a new boot.
    static let thisBoot: String = {
        #if canImport(Darwin)
        var bytes = [UInt8](repeating: 0, count: 64)
        var count = bytes.count - 1
        guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else { return "" }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        #else
        // A random UUID, created at boot (random(4)).
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        #endif
    }()
}

extension Moment {
    init(_ clock: any TransactionClock) {
        self.init(uptime: clock.uptimeMicroseconds(), wall: clock.wallMicroseconds())
    }
}

/// The clock anchors of a source, which convert its times into microseconds since 1970.
package struct WallClock: Equatable, Sendable {
    package private(set) var anchors: [ClockAnchor]

    package init(_ anchors: [ClockAnchor]) {
        self.anchors = anchors.count < 2 ? anchors : anchors.sorted { $0.atMicroseconds < $1.atMicroseconds }
    }

    /// The latest earlier anchor counts, or else the first; a source without anchors starts in 1970.
    package func wall(_ atMicroseconds: Int64) -> Int64 { atMicroseconds.adding(offset(at: atMicroseconds)) }

    package func offset(at atMicroseconds: Int64) -> Int64 {
        (anchors.last { $0.atMicroseconds <= atMicroseconds } ?? anchors.first)?.offsetMicroseconds ?? 0
    }
}

extension WallClock {
    package func anchors(dating times: [Int64]) -> [ClockAnchor] {
        guard let last = anchors.indices.last else { return [] }
        var dating: Set<Int> = [0, last]
        var index = 0
        for time in times.sorted() {
            while index < last, anchors[index + 1].atMicroseconds <= time { index += 1 }
            dating.insert(index)
        }
        return dating.sorted().map { anchors[$0] }
    }

    package init(of source: Int64, _ connection: Connection) throws(WaybillError) {
        let statement = try connection.statement("SELECT at_us, offset_us FROM clocks WHERE source = ? ORDER BY at_us")
        anchors = try statement.rows(source) { row in
            ClockAnchor(atMicroseconds: row.int(0), offsetMicroseconds: row.int(1))
        }
    }
}
