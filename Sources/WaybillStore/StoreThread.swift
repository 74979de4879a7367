import Dispatch
import WaybillCore

/// One serial thread that owns a resource which must not be shared, e.g. a ``Store``: SQLite work never runs on the
/// cooperative pool.
///
/// ## Usage
///
/// ```swift
/// let thread = try StoreThread(label: "waybill.writer") { () throws(WaybillError) in try Store(.folder(url)) }
/// let count = try await thread.run { store in try store.pendingCount() }
/// ```
package final class StoreThread<Resource>: @unchecked Sendable {  // right because `resource` is only touched on `queue`
    private let queue: DispatchQueue
    private let resource: Resource
    private let timer: any StoreTimer

    /// Makes the resource on the thread and waits for it.
    package init<Failure>(label: String, timer: any StoreTimer = SystemTimer(), make: () throws(Failure) -> Resource)
        throws(Failure)
    {
        let queue = DispatchQueue(label: label)
        self.queue = queue
        self.timer = timer
        resource = try queue.sync { Result(catching: make) }.get()
    }

    /// Runs `body` after what was asked for before, and hands over its result.
    package func run<Value: Sendable, Failure>(
        _ body: @escaping @Sendable (Resource) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { () throws(Failure) in try body(self.resource) }) }
        }.get()
    }

    /// Runs `body` after what was asked for before, and does not wait.
    ///
    /// - Parameter delay: Not before this much time has passed. Default: none.
    package func perform(after delay: Duration = .zero, _ body: @escaping @Sendable (Resource) -> Void) {
        guard delay > .zero else { return queue.async { body(self.resource) } }
        timer.run(after: delay, on: queue) { body(self.resource) }
    }

    /// Runs `body` after what was asked for before, and blocks the caller until it is done; never to be called on the
    /// thread itself.
    package func sync<Value, Failure>(_ body: (Resource) throws(Failure) -> Value) throws(Failure) -> Value {
        try queue.sync { Result { () throws(Failure) in try body(resource) } }.get()
    }
}
