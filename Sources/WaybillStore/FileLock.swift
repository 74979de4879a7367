import Foundation
import WaybillCore

/// The lock that lets one process at a time write or checkpoint a store.
///
/// SQLite before 3.51.3 can corrupt a WAL that two connections reset at the same time, so SQLite's own locks are not enough. `flock`, never `fcntl`:
/// a lock of `fcntl` goes when any descriptor of the file is closed. Held only while writing, since an app that is suspended with a lock in a shared
/// container is killed.
final class FileLock {
    private let descriptor: Int32
    private let path: String

    /// Opens the file beside the store, with mode 0600.
    init(path: String) throws(WaybillError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        self.path = path
        guard descriptor >= 0 else {
            throw WaybillError(
                .store, "The store's lock \(path) cannot be opened. Check the permissions of its folder.",
                cause: String(cString: strerror(errno)))
        }
    }

    deinit { close(descriptor) }

    /// Waits as long as SQLite would for one of its own locks.
    func acquire() throws(WaybillError) {
        var waited: UInt32 = 0
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

    func release() { flock(descriptor, LOCK_UN) }
}
