import Dispatch
import Foundation
import WaybillCore

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
