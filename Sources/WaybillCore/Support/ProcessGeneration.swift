import CAtomicWords
import Foundation

/// Counts forks: a child process sees a higher number than its parent.
///
/// A source is one running recorder, so a forked child must become a new source and must not hand out its parent's IDs.
package enum ProcessGeneration {
    /// 0 in a process that was not forked since the library was loaded.
    package static var current: Int {
        _ = registered
        return latest
    }

    // Neither is inlined, here or in other modules: each would have a count of its own.

    /// As ``current``, for callers that have asked for that before: a load, and nothing to make sure of first.
    @inline(never)
    package static var latest: Int { Int(truncatingIfNeeded: waybill_load_relaxed(waybill_fork_count())) }

    @inline(never)
    private static func count() { _ = waybill_add(waybill_fork_count(), 1) }

    private static let registered: Void = { _ = pthread_atfork(nil, nil) { ProcessGeneration.count() } }()
}
