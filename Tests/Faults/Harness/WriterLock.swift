#if Collector
import Foundation

/// The lock that a process holds while it writes to a store, as another process sees it.
struct WriterLock {
    private let path: String

    init(in folder: URL) { path = folder.appending(path: "waybill.sqlite-lock").path() }

    /// Waits until another process holds the lock.
    func waitUntilHeld(seconds: Double = 20) throws {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Trouble("There is no lock \(path).") }
        defer { close(descriptor) }
        let limit = Date(timeIntervalSinceNow: seconds)
        while flock(descriptor, LOCK_SH | LOCK_NB) == 0 {
            flock(descriptor, LOCK_UN)
            guard Date() < limit else { throw Trouble("Nobody has written to the store for \(seconds) s.") }
            usleep(100)
        }
    }

    /// Runs `body` while nobody else can write.
    func whileHeld(_ body: () throws -> Void) throws {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX) == 0 else { throw Trouble("There is no lock \(path).") }
        defer { close(descriptor) }
        try body()
    }
}
#endif
