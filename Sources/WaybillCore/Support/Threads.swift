import CAtomicWords
import Dispatch
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

/// Does several things at once, each on a thread of its own, and returns when all are done.
///
/// What they use must be made for it: each has a connection of its own.
///
/// - Parameter body: Given the number of the thing, from 0.
/// - Throws: What the first of those has thrown that have.
package func onThreads<Result, Failure: Error>(
    _ count: Int, _ body: (Int) throws(Failure) -> Result
) throws(Failure) -> [Result] {
    guard count > 1 else { return count == 1 ? [try body(0)] : [] }
    var results = [Swift.Result<Result, Failure>?](repeating: nil, count: count)
    results.withUnsafeMutableBufferPointer { results in
        // Right because each number is given to one thread, which writes to a place of its own.
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
    /// What becomes of each, by as many threads as there are processors; `body` may change it.
    package mutating func onThreads<Result, Failure: Error>(
        _ body: (inout Element) throws(Failure) -> Result
    ) throws(Failure) -> [Result] {
        try withUnsafeMutableBufferPointer { (elements) throws(Failure) in
            // Right because each number is given to one thread.
            nonisolated(unsafe) let elements = elements
            return try WaybillCore.onThreads(elements.count) { (number) throws(Failure) in
                try body(&elements[number])
            }
        }
    }
}

extension Array where Element: Sendable {
    /// The same as `map`, by all processors: for what takes long for each of many.
    package func mapOnThreads<Result>(_ transform: (Element) -> Result) -> [Result] {
        // Several for each processor, since one may take longer than another.
        let pieceCount = Swift.min(count, 4 * ProcessInfo.processInfo.activeProcessorCount)
        return WaybillCore.onThreads(pieceCount) { piece in
            self[count * piece / pieceCount..<count * (piece + 1) / pieceCount].map(transform)
        }.flatMap(\.self)
    }
}

/// Tells a process from what it was cloned from: each has a number of its own.
///
/// A source is one running recorder, so a forked child must become a new source and must not hand out its parent's IDs.
package enum ProcessGeneration {
    /// Never 0.
    package static var current: Int {
        _ = registered
        // Wiped by the system: this process was cloned without the C library, which would have called `renew()`.
        if latest == 0 { renew() }
        return latest
    }

    // None of these is inlined, here or in other modules: each would have a word of its own.

    /// As ``current``, for callers that have asked for that before: a load, and nothing to make sure of first. 0 in a
    /// child that has not asked.
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
        // A page that a child finds zeroed, whichever way it was made (MADV_WIPEONFORK, madvise(2), since Linux 4.14).
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
