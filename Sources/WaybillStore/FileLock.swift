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

    /// Opens the files beside a store, with mode 0600.
    init(of store: String) throws(WaybillError) {
        path = store + "-lock"
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

    /// Waits as long as SQLite would for one of its own locks.
    func acquire() throws(WaybillError) {
        var waited: UInt32 = 0
        try take(queue, &waited)
        defer { flock(queue, LOCK_UN) }
        try take(lock, &waited)
    }

    private func take(_ descriptor: Int32, _ waited: inout UInt32) throws(WaybillError) {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let reason = errno
            guard reason == EWOULDBLOCK || reason == EINTR, waited < UInt32(Connection.busyMilliseconds) * 1000 else {
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
