import Dispatch
public import Foundation
import WaybillCore
package import WaybillStore

extension TransactionManager {
    /// Delivers everything that was recorded until now.
    ///
    /// Never throws: what went wrong is in the report, and what could not be delivered stays pending. Flushes run one
    /// after the other. One that is asked for does not wait for the end of a pause that the library makes after
    /// failures; a pause that the collector asked for (`Retry-After`) holds for every flush, and so does a token that
    /// it does not take.
    @discardableResult
    public func flush() async -> FlushReport {
        await flusher.start(sources, isAsked: true)?.value ?? FlushReport()
    }

    /// Delivers what can be delivered within a time, for the moment before an app goes into the background.
    ///
    /// - Returns: The report, after the given time at the latest; what was not delivered by then stays pending.
    @discardableResult
    public func flush(deadline: Duration) async -> FlushReport { await flush(deadline: deadline, until: FlushEnd()) }

    /// As ``flush(deadline:)``, which something else may end before.
    func flush(deadline: Duration, until end: FlushEnd) async -> FlushReport {
        guard let source = sources.readableSource, let task = flusher.start(sources, isAsked: true) else {
            return FlushReport()
        }
        return await withCheckedContinuation { continuation in
            let first = Locked<CheckedContinuation<FlushReport, Never>?>(continuation)
            let finish: @Sendable (FlushReport) -> Void = { report in
                first.withLock { continuation in
                    defer { continuation = nil }
                    return continuation
                }?.resume(returning: report)
            }
            end.whenEnded {
                task.cancel()
                Task {
                    var report = FlushReport()
                    report.error = WaybillError(
                        .transport, "The flush did not end in time; what was not delivered stays pending.")
                    await report.count(from: source)
                    finish(report)
                }
            }
            let timer = Task { if (try? await Task.sleep(for: deadline)) != nil { end.end() } }
            Task {
                let report = await task.value
                timer.cancel()
                // What was canceled because of the end has an error that says less than the report of the end.
                if report.error == nil || !end.hasEnded { finish(report) }
            }
        }
    }

    /// As ``flush()``, for callers without async.
    ///
    /// - Parameter completion: Called on a thread of the library's.
    public func flush(completion: @escaping @Sendable (FlushReport) -> Void) {
        Task { completion(await flush()) }
    }

    /// As ``flush(deadline:)``, for callers without async.
    public func flush(deadline: Duration, completion: @escaping @Sendable (FlushReport) -> Void) {
        Task { completion(await flush(deadline: deadline)) }
    }

    /// Delivers now and then, from any thread and without a task of the caller's, until ``stopDelivery()`` or the end
    /// of the manager.
    ///
    /// Call it once, when the manager was made; called again, it goes on with the new interval. It needs no actor: it
    /// delivers also while the main thread is busy or waits. Pauses are those of ``run(every:)``.
    ///
    /// ```swift
    /// let transactions = TransactionManager(delivery: .collector(url, token: token))
    /// transactions.startDelivery()
    /// ```
    ///
    /// - Parameter interval: Between the end of a flush and the next, or, where everything was delivered, between what is
    ///   recorded then and the flush that takes it along; a tenth of a second at least.
    public func startDelivery(every interval: Duration = .seconds(30)) {
        flusher.startTurns(of: sources, every: interval)
    }

    /// Ends what ``startDelivery(every:)`` began, after a last flush; does nothing where it was not called.
    ///
    /// Does not wait for that flush: a tool that is about to exit calls `await flush()` instead.
    public func stopDelivery() { flusher.stopTurns(of: sources) }

    /// Delivers now and then for as long as the calling task lives; call it once, in a task of its own. Without a task
    /// at hand: ``startDelivery(every:)``.
    ///
    /// After failures it makes pauses, at random up to 10 seconds after the first and up to an hour in the end, which
    /// outlive the process; while one lasts, a turn of the loop costs a look at the clock. Where everything was delivered,
    /// there is no turn before something is recorded. Ends when the task is canceled, after a last flush.
    public func run(every interval: Duration = .seconds(30)) async {
        await flusher.takeTurns(sources, every: interval)
        await flush()
    }

    /// Delivers as ``run(every:)`` does: not while a pause lasts.
    package func flushIfDue() async { await flusher.flushIfDue(sources) }

    /// What happens to delivery from now on: verdicts, failures, pauses, ends of flushes.
    ///
    /// Each reader asks for its own. One that falls more than 100 events behind misses the oldest. Ends with the
    /// manager.
    ///
    /// ```swift
    /// for await event in transactions.deliveryEvents {
    ///     if case .stopped(let error) = event { askForToken(because: error) }
    /// }
    /// ```
    public var deliveryEvents: AsyncStream<Delivery.Event> { flusher.events.stream() }

    /// Waits until everything recorded until now is on the disk, where it survives a power cut; and until it is
    /// remembered whether ``recording`` is on.
    ///
    /// What `log` called `.journaled` survives the death of the process without it, and a power cut five seconds later.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` when it could not be written; what was recorded stays in memory and is
    ///   tried again.
    public func sync() async throws {
        for source in sources.liveForerunners + [sources.current].compactMap({ $0 }) {
            await source.bodies?.settle()
            try await source.writer.sync()
        }
        if let problem = sources.problem { throw problem }
    }

    /// Writes a copy of the whole store into one file, which opens anywhere without the files beside it.
    ///
    /// It has no bodies, and not the secrets by which the collector knows this installation: as a store of its own it is
    /// another one.
    ///
    /// - Parameter file: Where to; must not exist.
    /// - Throws: ``WaybillCore/WaybillError`` when it cannot be written, or recording is off.
    public func snapshot(to file: URL) async throws {
        guard let source = await sources.drainedSource() else {
            throw WaybillError(.store, "There is no store to copy: nothing was recorded.")
        }
        try await source.writer.run { _, store in try store.snapshot(to: file) }
    }
}

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
