import Dispatch
import WaybillCore
package import WaybillStore

// Delivery in the seconds that a system gives to an app that it is about to suspend, or has woken.
extension TransactionManager {
    /// Delivers what can be delivered before the system suspends the app: call it where the app goes into the
    /// background, and where the system wakes it for a refresh.
    ///
    /// ```swift
    /// .backgroundTask(.appRefresh("deliver")) { await transactions.flushInBackground() }
    /// ```
    ///
    /// On iOS, tvOS, watchOS and visionOS it asks the system not to suspend the process meanwhile
    /// (`performExpiringActivity`), in app extensions, too; elsewhere it is ``flush(deadline:)``. It ends at the
    /// deadline, when the system says that time is up, or when the calling task is canceled, whichever is first; what was
    /// not delivered by then stays pending, and is free to be sent again.
    ///
    /// - Parameter deadline: Within which it ends by itself; 20 seconds unless said otherwise, of the 30 that the system
    ///   gives as a rule.
    @discardableResult
    public func flushInBackground(deadline: Duration = .seconds(20)) async -> FlushReport {
        await flushInBackground(deadline: deadline, activity: .system)
    }

    /// As ``flushInBackground(deadline:)``, for callers without async.
    ///
    /// ```swift
    /// task.expirationHandler = transactions.flushInBackground { task.setTaskCompleted(success: $0.error == nil) }
    /// ```
    ///
    /// - Parameters:
    ///   - deadline: Within which it ends by itself; 20 seconds unless said otherwise.
    ///   - completion: Called on a thread of the library's; nothing unless said otherwise.
    /// - Returns: What ends it before its time.
    @discardableResult
    public func flushInBackground(
        deadline: Duration = .seconds(20), completion: @escaping @Sendable (FlushReport) -> Void = { _ in }
    ) -> @Sendable () -> Void {
        let task = Task { completion(await flushInBackground(deadline: deadline)) }
        return { task.cancel() }
    }

    /// As ``flushInBackground(deadline:)``, with the system that a test brings.
    package func flushInBackground(deadline: Duration, activity: ExpiringActivity?) async -> FlushReport {
        let end = FlushEnd()
        return await withTaskCancellationHandler {
            guard let activity else { return await flush(deadline: deadline, until: end) }
            return await withCheckedContinuation { continuation in
                let first = Locked<CheckedContinuation<FlushReport, Never>?>(continuation)
                let flush: @Sendable () async -> Void = {
                    let waiting = first.withLock { continuation in
                        defer { continuation = nil }
                        return continuation
                    }
                    guard let waiting else { return }
                    waiting.resume(returning: await self.flush(deadline: deadline, until: end))
                }
                activity.begin("deliver what was recorded") { isExpired in
                    if isExpired { end.end() }
                    // On a thread of the system's, which lets the process run until this returns.
                    let done = DispatchSemaphore(value: 0)
                    Task {
                        await flush()
                        done.signal()
                    }
                    done.wait()
                }
            }
        } onCancel: {
            end.end()
        }
    }
}
