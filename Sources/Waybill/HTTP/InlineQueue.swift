#if canImport(FoundationNetworking)
import Foundation

/// A hop to another queue is a third of the cost of a small request. A fast response would also pile up, since corelibs
/// can't pause a transfer. Code on this queue must not wait or call URLSession.
final class InlineQueue: OperationQueue, @unchecked Sendable {  // right because it has no state
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}
#endif
