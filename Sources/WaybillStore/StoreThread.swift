package import Dispatch
import Foundation
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

/// Runs what a store's thread has to do later; tests bring their own, and let time pass by hand.
package protocol StoreTimer: Sendable {
    /// Runs work on a queue, not before so much time has passed.
    func run(after delay: Duration, on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void)
}

/// Timers of the system, which stand still while the device sleeps.
package struct SystemTimer: StoreTimer {
    package init() {}

    package func run(after delay: Duration, on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        let (seconds, attoseconds) = delay.components
        // Dispatch's own intervals are an `Int`, which holds two seconds in nanoseconds where it has 32 bits: whole
        // seconds go by themselves.
        let (whole, rest) = (Int(clamping: seconds), Int(attoseconds / 1_000_000_000))
        queue.asyncAfter(deadline: .now() + .seconds(whole) + .nanoseconds(rest), execute: work)
    }
}

/// What keeps the system from suspending this process in the middle of something, for seconds at most.
package struct ExpiringActivity: Sendable {
    /// Calls `body` on a thread of its own, and lets the process run until that returns. Calls it with `true` where the
    /// process may not go on, also while the first call has not returned.
    package let begin: @Sendable (_ reason: String, _ body: @escaping @Sendable (_ isExpired: Bool) -> Void) -> Void

    package init(
        begin: @escaping @Sendable (_ reason: String, _ body: @escaping @Sendable (_ isExpired: Bool) -> Void) -> Void
    ) {
        self.begin = begin
    }

    /// The system's; nil where it suspends no process, on Macs and Linux.
    package static let system: ExpiringActivity? = {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        ExpiringActivity { ProcessInfo.processInfo.performExpiringActivity(withReason: $0, using: $1) }
        #else
        nil
        #endif
    }()

    /// How long to wait for the system to say yes or no.
    private static let patience = DispatchTimeInterval.seconds(5)

    /// Keeps the process running for as long as what is returned lives.
    ///
    /// - Returns: nil where the system says no: the process is about to be suspended.
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
            // What is done meanwhile takes milliseconds: it is ended by itself before the system runs out of patience.
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
