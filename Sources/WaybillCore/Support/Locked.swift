import Foundation

/// A value behind one lock.
///
/// `NSLock` rather than `Synchronization.Mutex`, because the thread sanitizer on Linux reports races inside `Mutex` that are not there.
package final class Locked<Value>: @unchecked Sendable {  // right because `value` is only touched with `lock` held
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) { self.value = value }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
