import Dispatch
import Foundation
import WaybillCore

/// The lock that lets one process at a time write or checkpoint a store.
///
/// SQLite before 3.51.3 can corrupt a WAL that two connections reset at the same time, despite SQLite's own locks. This
/// lock uses `flock`, because closing any descriptor of the file releases a lock of `fcntl`. The system kills an app
/// that it suspends with a lock in a shared container, so the lock is held only during writes.
///
/// A second lock forms a queue. Without it, a process that writes constantly would starve a waiting one.
final class FileLock {
    /// Limits the waits for a shared store; `nil` means SQLite's own limit.
    let patience: Patience?
    private let lock: Int32
    private let queue: Int32
    private let path: String
    private var parents: [ParentsFile]

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

    /// Waits as long as ``patience`` allows, or as long as SQLite waits for its own locks.
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

    /// Whether nobody holds the lock of a store, or it can't be opened.
    static func isFree(of store: String) -> Bool {
        guard let lock = try? FileLock(of: store) else { return true }
        defer { lock.release() }
        return lock.acquireIfFree()
    }

    func acquireIfFree() -> Bool { flock(lock, LOCK_EX | LOCK_NB) == 0 }

    func release() { flock(lock, LOCK_UN) }
}

/// How long a piece of work may wait in total for processes that may be suspended. Confined to one thread.
final class Patience {
    static let sharedMilliseconds: Int32 = 1_000
    /// Enough if another process is just writing.
    private static let shortNanoseconds: UInt64 = 50_000_000

    private let limit: UInt64
    private var left: UInt64
    private(set) var longestNanoseconds: UInt64 = 0
    private var waited: UInt64 = 0
    /// Whether the last wait timed out. Later pieces of work then wait only briefly.
    private(set) var isHeldUp = false

    init(milliseconds: Int32) {
        limit = UInt64(max(0, milliseconds)) * 1_000_000
        left = limit
    }

    func renew() { (left, waited) = (isHeldUp ? min(limit, Self.shortNanoseconds) : limit, 0) }

    /// Sleeps for about a millisecond; returns `false`, without a sleep, if the time is up.
    func wait() -> Bool {
        guard left > 0 else {
            isHeldUp = true
            return false
        }
        // The time is measured, because a sleep takes much longer than asked for on a busy machine.
        let start = DispatchTime.now().uptimeNanoseconds
        usleep(1_000)
        let passed = DispatchTime.now().uptimeNanoseconds &- start
        left -= min(left, passed)
        waited &+= passed
        longestNanoseconds = max(longestNanoseconds, waited)
        return true
    }

    func rewarded() { isHeldUp = false }
}
