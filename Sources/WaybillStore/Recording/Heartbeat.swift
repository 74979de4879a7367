import Foundation
import WaybillCore

/// Says in a folder that several processes use that a source runs, without a lock: a small file with the time of its
/// last beat, by the uptime of the device.
///
/// A process that is suspended has no beats, as one that has ended. Who is silent for too long is taken for ended; who
/// then goes on says so with its next beat, and its source is as it was.
struct Heartbeat {
    /// Between two beats.
    static let age = Duration.seconds(30)
    /// After how long without one a source is taken for ended. Until then its leases have expired.
    static let silence = Duration.seconds(15 * 60)

    private let file: URL
    private let boot: String
    private var last: Int64?

    /// Of a source; nothing is written yet.
    init(of source: GUID, in folder: URL, boot: String = Moment.thisBoot) {
        file = Self.file(of: source, in: folder)
        self.boot = boot
    }

    /// Beats, if it is time; makes the file where it is missing.
    ///
    /// - Returns: Whether the last beat before is so long ago that others may take the source for ended.
    @discardableResult
    mutating func beat(at uptime: Int64) throws(WaybillError) -> Bool {
        let path = file.path(percentEncoded: false)
        let since = last.map { abs(uptime - $0) }
        if let since, since < Self.age.microseconds / 2, access(path, F_OK) == 0 { return false }
        let descriptor = DurableFile.openOwn(path, O_WRONLY | O_CREAT)
        do {
            try DurableFile.check(descriptor)
            defer { close(descriptor) }
            // In one call, and always as long, so that nobody reads half of it.
            let digits = String(uptime)
            let text = String(repeating: "0", count: max(0, 20 - digits.count)) + digits + " \(boot)\n"
            try DurableFile.write(Array(text.utf8), to: descriptor)
        } catch {
            throw WaybillError(
                .store, "\(path) cannot be written, which tells other processes that this one runs.",
                cause: error.localizedDescription)
        }
        last = uptime
        return since ?? 0 > Self.silence.microseconds
    }

    /// Whether a source has a beat that is not too long ago.
    static func isBeating(_ source: GUID, in folder: URL, at moment: Moment) -> Bool {
        let path = file(of: source, in: folder).path(percentEncoded: false)
        let descriptor = DurableFile.openOwn(path, O_RDONLY)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = read(descriptor, &bytes, bytes.count)
        let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard let uptime = words.first.flatMap({ Int64($0) }),
            words.dropFirst().first.map(String.init) ?? "" == moment.boot
        else { return false }
        return abs(moment.uptime - uptime) <= Self.silence.microseconds
    }

    /// Whether a source has one, beating or not: then its journal may be in the folder of its process.
    static func isThere(for source: GUID, in folder: URL) -> Bool {
        access(file(of: source, in: folder).path(percentEncoded: false), F_OK) == 0
    }

    /// The source has ended, and all that it recorded is in the store.
    static func remove(of source: GUID, in folder: URL) {
        unlink(file(of: source, in: folder).path(percentEncoded: false))
    }

    private static func file(of source: GUID, in folder: URL) -> URL { folder.appending(path: "alive-\(source)") }
}
