import CAtomicWords
import Foundation

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
