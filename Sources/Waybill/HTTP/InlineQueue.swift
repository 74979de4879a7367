#if canImport(FoundationNetworking)
import Foundation

/// Runs what a session has to tell its delegate at once, where it is told.
///
/// On any other queue each step of a request is a hop from URLSession's own queue, a third of what a small request
/// costs, and the body of an answer that comes faster than it is written piles up in between, because corelibs cannot
/// hold a transfer. What runs here must not wait, and must not call URLSession, whose queue it is on: see
/// ``HTTPEvents``.
final class InlineQueue: OperationQueue, @unchecked Sendable {  // right because it has no state
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}
#endif
