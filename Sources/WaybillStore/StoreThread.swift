package import Dispatch
import Foundation
import WaybillCore

/// A serial thread that owns a resource, such as a ``Store``, to keep SQLite off the cooperative thread pool.
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

    /// Creates the resource on the thread and waits for it. `begins` and `ends` run around each piece of work.
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

    package func run<Value: Sendable, Failure>(
        _ body: @escaping @Sendable (Resource) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.resultInTurn(of: body)) }
        }.get()
    }

    /// Runs `body` after all earlier work, and not before `delay`.
    package func perform(after delay: Duration = .zero, _ body: @escaping @Sendable (Resource) -> Void) {
        guard delay > .zero else { return queue.async { self.resultInTurn(of: body).get() } }
        timer.run(after: delay, on: queue) { self.resultInTurn(of: body).get() }
    }

    /// Runs `body` and blocks the caller. Do not call it on the thread itself.
    package func sync<Value, Failure>(_ body: (Resource) throws(Failure) -> Value) throws(Failure) -> Value {
        try queue.sync { result(of: body) }.get()
    }

    /// On Linux, a thread that was just woken may take the processor from the caller for a whole time slice (`log.oneCore`
    /// in Benchmarks). Not for `sync`, which runs on the caller's thread.
    private func resultInTurn<Value, Failure>(
        of body: (Resource) throws(Failure) -> Value
    ) -> Result<Value, Failure> {
        #if os(Linux)
        if queue.qos == .utility { sched_yield() }
        #endif
        return result(of: body)
    }

    private func result<Value, Failure>(of body: (Resource) throws(Failure) -> Value) -> Result<Value, Failure> {
        begins(resource)
        defer { ends(resource) }
        return Result { () throws(Failure) in try body(resource) }
    }
}

package protocol StoreTimer: Sendable {
    func run(after delay: Duration, on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void)
}

package struct SystemTimer: StoreTimer {
    package init() {}

    package func run(after delay: Duration, on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        let (seconds, attoseconds) = delay.bounded.components
        // Whole seconds are passed separately: a 32-bit `Int` holds only two seconds in nanoseconds.
        let (whole, rest) = (Int(clamping: seconds), Int(attoseconds / 1_000_000_000))
        queue.asyncAfter(deadline: .now() + .seconds(whole) + .nanoseconds(rest), execute: work)
    }
}

package struct ExpiringActivity: Sendable {
    /// Keeps the process running until `body` returns. Calls it again with `true` if the process must stop, even during
    /// the first call.
    package let begin: @Sendable (_ reason: String, _ body: @escaping @Sendable (_ isExpired: Bool) -> Void) -> Void

    package init(
        begin: @escaping @Sendable (_ reason: String, _ body: @escaping @Sendable (_ isExpired: Bool) -> Void) -> Void
    ) {
        self.begin = begin
    }

    /// `nil` on macOS and Linux, which suspend no process.
    package static let system: ExpiringActivity? = {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        ExpiringActivity { ProcessInfo.processInfo.performExpiringActivity(withReason: $0, using: $1) }
        #else
        nil
        #endif
    }()

    private static let patience = DispatchTimeInterval.seconds(5)

    /// Keeps the process running while the object lives; returns `nil` if the process is about to be suspended.
    package func hold(_ reason: String) -> AnyObject? {
        let hold = Hold()
        let end = hold.end
        let isGranted = Locked(false)
        let answered = DispatchSemaphore(value: 0)
        begin(reason) { isExpired in
            guard !isExpired else {
                answered.signal()
                return
            }
            isGranted.withLock { $0 = true }
            answered.signal()
            // The work takes milliseconds, so it ends before the system's time is up.
            end.wait()
        }
        guard answered.wait(timeout: .now() + Self.patience) == .success, isGranted.withLock({ $0 }) else { return nil }
        return hold
    }

    private final class Hold: Sendable {
        let end = DispatchSemaphore(value: 0)
        deinit { end.signal() }
    }
}
