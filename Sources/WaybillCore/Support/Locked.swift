package import Foundation

/// A value behind one lock.
///
/// `NSLock` rather than `Synchronization.Mutex`, because the thread sanitizer on Linux reports races inside `Mutex`
/// that are not there.
package final class Locked<Value>: @unchecked Sendable {  // right because `value` is only touched with `lock` held
    private let lock = NSLock()
    /// Behind a pointer, because the run-time's check for exclusive access costs as much as the lock, which makes it
    /// certain.
    private let value: UnsafeMutablePointer<Value>

    package init(_ value: Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
    }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value.pointee)
    }

    /// As ``withLock(_:)``; returns `nil` if another thread has the lock until then.
    package func withLock<Result>(before limit: Date, _ body: (inout Value) throws -> Result) rethrows -> Result? {
        guard lock.lock(before: limit) else { return nil }
        defer { lock.unlock() }
        return try body(&value.pointee)
    }
}
