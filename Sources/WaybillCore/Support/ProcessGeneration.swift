import Foundation
import Synchronization

/// Counts forks: a child process sees a higher number than its parent.
///
/// A source is one running recorder, so a forked child must become a new source and must not hand out its parent's IDs.
package enum ProcessGeneration {
    /// 0 in a process that was not forked since the library was loaded.
    package static var current: Int {
        _ = registered
        return count.load(ordering: .relaxed)
    }

    /// As ``current``, for callers that have asked for that before: a load, and nothing to make sure of first.
    @inline(__always)
    package static var latest: Int { count.load(ordering: .relaxed) }

    private static let count = Atomic<Int>(0)
    private static let registered: Void = {
        _ = pthread_atfork(nil, nil) { ProcessGeneration.count.add(1, ordering: .relaxed) }
    }()
}
