import Foundation
import WaybillCore

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
