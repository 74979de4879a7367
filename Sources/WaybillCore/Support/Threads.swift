import CAtomicWords
import Dispatch
package import Foundation

/// Uses `NSLock`, because the Linux thread sanitizer reports false races inside `Synchronization.Mutex`.
package final class Locked<Value>: @unchecked Sendable {  // right because `value` is only touched with `lock` held
    private let lock = NSLock()
    /// A pointer avoids the runtime's exclusivity check, which costs as much as the lock that makes it redundant.
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

    /// Like ``withLock(_:)``, but returns `nil` if the lock is not available before `limit`.
    package func withLock<Result>(before limit: Date, _ body: (inout Value) throws -> Result) rethrows -> Result? {
        guard lock.lock(before: limit) else { return nil }
        defer { lock.unlock() }
        return try body(&value.pointee)
    }
}

/// Calls `body` in parallel with the numbers from 0, and throws the error with the lowest number.
package func onThreads<Result, Failure: Error>(
    _ count: Int, _ body: (Int) throws(Failure) -> Result
) throws(Failure) -> [Result] {
    guard count > 1 else { return count == 1 ? [try body(0)] : [] }
    var results = [Swift.Result<Result, Failure>?](repeating: nil, count: count)
    results.withUnsafeMutableBufferPointer { results in
        // Safe because each number belongs to one thread, which writes to its own element.
        nonisolated(unsafe) let (body, results) = (body, results)
        DispatchQueue.concurrentPerform(iterations: count) { index in
            results[index] = Swift.Result { () throws(Failure) in try body(index) }
        }
    }
    var all: [Result] = []
    for case let result? in results { all.append(try result.get()) }
    return all
}

extension Array {
    package mutating func onThreads<Result, Failure: Error>(
        _ body: (inout Element) throws(Failure) -> Result
    ) throws(Failure) -> [Result] {
        try withUnsafeMutableBufferPointer { (elements) throws(Failure) in
            // Safe because each number belongs to one thread.
            nonisolated(unsafe) let elements = elements
            return try WaybillCore.onThreads(elements.count) { (number) throws(Failure) in
                try body(&elements[number])
            }
        }
    }
}

extension Array where Element: Sendable {
    package func mapOnThreads<Result>(_ transform: (Element) -> Result) -> [Result] {
        let pieceCount = Swift.min(count, 4 * ProcessInfo.processInfo.activeProcessorCount)
        return WaybillCore.onThreads(pieceCount) { piece in
            self[count * piece / pieceCount..<count * (piece + 1) / pieceCount].map(transform)
        }.flatMap(\.self)
    }
}

/// Identifies a process. A forked child must become a new source, and must not create its parent's IDs.
package enum ProcessGeneration {
    package static var current: Int {
        _ = registered
        // The kernel wiped the page: the process was cloned without the C library, which calls `renew()`.
        if latest == 0 { renew() }
        return latest
    }

    // Not inlined, because each inlined copy would have a separate word.

    /// Like ``current``, for callers after its first use: a single load. 0 in a child that has not called ``current``.
    @inline(never)
    package static var latest: Int {
        guard let word = waybill_generation().pointee else { return 0 }
        return Int(truncatingIfNeeded: waybill_load_relaxed(word))
    }

    @inline(never)
    private static func renew() {
        guard let word = waybill_generation().pointee else { return }
        waybill_store_relaxed(word, .random(in: 1...UInt64(Int32.max)))
    }

    @inline(never)
    private static func register() {
        #if os(Linux)
        // A child finds this page zeroed, however it was created (MADV_WIPEONFORK, madvise(2), since Linux 4.14).
        let (size, wipeOnFork): (Int, Int32) = (Int(getpagesize()), 18)
        let page = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        if let page, page != MAP_FAILED, madvise(page, size, wipeOnFork) == 0 {
            waybill_generation().pointee = page.bindMemory(to: UInt64.self, capacity: 1)
            renew()
        }
        #endif
        _ = pthread_atfork(nil, nil) { ProcessGeneration.renew() }
    }

    private static let registered: Void = register()
}
