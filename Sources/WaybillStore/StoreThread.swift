package import Dispatch
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
    private let begins: (Resource) -> Void
    private let ends: (Resource) -> Void

    /// Makes the resource on the thread and waits for it.
    ///
    /// - Parameters:
    ///   - qos: What the thread gets of the processors while nobody waits for it.
    ///   - begins: Called on the thread before each piece of work.
    ///   - ends: Called on the thread after each, before whoever asked for it goes on.
    package init<Failure>(
        label: String, qos: DispatchQoS = .unspecified, timer: any StoreTimer = SystemTimer(),
        begins: @escaping (Resource) -> Void = { _ in }, ends: @escaping (Resource) -> Void = { _ in },
        make: () throws(Failure) -> Resource
    ) throws(Failure) {
        let queue = DispatchQueue(label: label, qos: qos)
        self.queue = queue
        self.timer = timer
        self.begins = begins
        self.ends = ends
        resource = try queue.sync { Result(catching: make) }.get()
    }

    /// Runs `body` after what was asked for before, and hands over its result.
    package func run<Value: Sendable, Failure>(
        _ body: @escaping @Sendable (Resource) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.result(of: body)) }
        }.get()
    }

    /// Runs `body` after what was asked for before, and does not wait.
    ///
    /// - Parameter delay: Not before this much time has passed. Default: none.
    package func perform(after delay: Duration = .zero, _ body: @escaping @Sendable (Resource) -> Void) {
        guard delay > .zero else { return queue.async { self.result(of: body).get() } }
        timer.run(after: delay, on: queue) { self.result(of: body).get() }
    }

    /// Runs `body` after what was asked for before, and blocks the caller until it is done; never to be called on the
    /// thread itself.
    package func sync<Value, Failure>(_ body: (Resource) throws(Failure) -> Value) throws(Failure) -> Value {
        try queue.sync { result(of: body) }.get()
    }

    private func result<Value, Failure>(of body: (Resource) throws(Failure) -> Value) -> Result<Value, Failure> {
        begins(resource)
        defer { ends(resource) }
        return Result { () throws(Failure) in try body(resource) }
    }
}
