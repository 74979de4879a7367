import Dispatch
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
    /// What limits the waits of a store that several processes share; `nil` if each wait has SQLite's own limit.
    let patience: Patience?
    private let lock: Int32
    private let queue: Int32
    private let path: String
    private var parents: [ParentsFile]

    /// Opens the files beside a store, with mode 0600.
    init(of store: String, patience: Patience? = nil) throws(WaybillError) {
        path = store + "-lock"
        self.patience = patience
        lock = try Self.opened(path)
        do { queue = try Self.opened(store + "-queue") } catch {
            close(lock)
            throw error
        }
        parents = [ParentsFile(lock), ParentsFile(queue)]
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
        parents = []
        close(lock)
        close(queue)
    }

    /// Waits as long as ``patience`` allows, or as long as SQLite waits for one of its own locks.
    func acquire() throws(WaybillError) {
        let patience = patience ?? Patience(milliseconds: Connection.busyMilliseconds)
        try take(queue, patience)
        defer { flock(queue, LOCK_UN) }
        try take(lock, patience)
        patience.rewarded()
    }

    private func take(_ descriptor: Int32, _ patience: Patience) throws(WaybillError) {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let reason = errno
            guard reason == EWOULDBLOCK || reason == EINTR, patience.wait() else {
                throw WaybillError(
                    .store, "Another process is writing to the store of \(path). Try again when it has finished.",
                    cause: String(cString: strerror(reason)))
            }
        }
    }

    /// Takes the lock without waiting.
    ///
    /// - Returns: Whether it was free.
    func acquireIfFree() -> Bool { flock(lock, LOCK_EX | LOCK_NB) == 0 }

    func release() { flock(lock, LOCK_UN) }
}

/// How long one piece of work may wait for other processes: all its waits together, for the store's lock and for SQLite's.
///
/// A process that was suspended in the middle of a write may have a lock for hours. Confined to one thread.
final class Patience {
    /// A piece of work waits a second at most where processes may be suspended.
    static let sharedMilliseconds: Int32 = 1_000
    /// Enough where another process is just writing.
    private static let shortNanoseconds: UInt64 = 50_000_000

    private let limit: UInt64
    private var left: UInt64
    /// The longest that any piece of work has waited, in nanoseconds.
    private(set) var longestNanoseconds: UInt64 = 0
    private var waited: UInt64 = 0
    /// Whether the last wait was in vain, so that another process may be suspended. From then on each piece of work hardly
    /// waits, or everything that a process asks of its store would be late for as long as that lasts.
    private(set) var isHeldUp = false

    init(milliseconds: Int32) {
        limit = UInt64(max(0, milliseconds)) * 1_000_000
        left = limit
    }

    /// Begins another piece of work.
    func renew() { (left, waited) = (isHeldUp ? min(limit, Self.shortNanoseconds) : limit, 0) }

    /// Sleeps for about a millisecond.
    ///
    /// - Returns: `false`, without a sleep, if the time is up.
    func wait() -> Bool {
        guard left > 0 else {
            isHeldUp = true
            return false
        }
        // Measured, because a sleep takes much longer than asked for on a busy machine.
        let start = DispatchTime.now().uptimeNanoseconds
        usleep(1_000)
        let passed = DispatchTime.now().uptimeNanoseconds &- start
        left -= min(left, passed)
        waited &+= passed
        longestNanoseconds = max(longestNanoseconds, waited)
        return true
    }

    /// Notes that what was waited for came. The time that this piece of work may still wait stays as it is.
    func rewarded() { isHeldUp = false }
}
