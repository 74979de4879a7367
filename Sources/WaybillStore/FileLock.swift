import Foundation
import WaybillCore

/// The lock that lets one process at a time write or checkpoint a store.
///
/// SQLite before 3.51.3 can corrupt a WAL that two connections reset at the same time, so SQLite's own locks are not
/// enough. `flock`, never `fcntl`: a lock of `fcntl` goes when any descriptor of the file is closed. Held only while
/// writing, since an app that is suspended with a lock in a shared container is killed.
///
/// A second file is the queue for it: one waits for the lock and the others for the queue. Without that, a process that
/// writes on and on has taken the lock again each time that one who waits looks.
final class FileLock {
    private let lock: Int32
    private let queue: Int32
    private let path: String
    private let waitLimit: UInt32
    /// Microseconds that are enough where somebody is just writing.
    private static let shortWait: UInt32 = 50_000
    /// Whether somebody had the lock for longer than one waits, and may be suspended. From then on one hardly waits for
    /// it, or all that a process asks of its store would be late for as long as that lasts.
    private(set) var isHeldUp = false

    /// Opens the files beside a store, with mode 0600.
    ///
    /// - Parameter isShared: Whether the one who has the lock may be suspended: then there is less waiting for it.
    init(of store: String, isShared: Bool = false) throws(WaybillError) {
        path = store + "-lock"
        waitLimit = isShared ? 1_000_000 : UInt32(Connection.busyMilliseconds) * 1000
        lock = try Self.opened(path)
        do { queue = try Self.opened(store + "-queue") } catch {
            close(lock)
            throw error
        }
    }

    private static func opened(_ path: String) throws(WaybillError) -> Int32 {
        let descriptor = DurableFile.openOwn(path, O_RDWR | O_CREAT)
        guard descriptor >= 0 else {
            throw WaybillError(
                .store,
                "The store's lock \(path) cannot be opened. Check the permissions of its folder, and that it is a file of yours.",
                cause: String(cString: strerror(errno)))
        }
        return descriptor
    }

    deinit {
        close(lock)
        close(queue)
    }

    /// Waits as long as SQLite would for one of its own locks; where processes may be suspended, a second.
    func acquire() throws(WaybillError) {
        var waited: UInt32 = isHeldUp ? waitLimit - Self.shortWait : 0
        try take(queue, &waited)
        defer { flock(queue, LOCK_UN) }
        try take(lock, &waited)
        isHeldUp = false
    }

    private func take(_ descriptor: Int32, _ waited: inout UInt32) throws(WaybillError) {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let reason = errno
            guard reason == EWOULDBLOCK || reason == EINTR, waited < waitLimit else {
                isHeldUp = reason == EWOULDBLOCK && waitLimit < UInt32(Connection.busyMilliseconds) * 1000
                throw WaybillError(
                    .store, "Another process is writing to the store of \(path). Try again when it has finished.",
                    cause: String(cString: strerror(reason)))
            }
            usleep(1_000)
            waited += 1_000
        }
    }

    func release() { flock(lock, LOCK_UN) }
}
