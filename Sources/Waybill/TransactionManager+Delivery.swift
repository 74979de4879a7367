import Dispatch
public import Foundation
import WaybillCore
import WaybillStore

extension TransactionManager {
    /// Delivers everything recorded so far, such as before a tool exits, or when the app enters the background.
    ///
    /// It never throws: the report has the error, and undelivered facts stay pending. Flushes run one after another. It
    /// skips a pause after failures, but obeys the collector's `Retry-After`, and a rejected token stops it.
    ///
    /// ```swift
    /// .backgroundTask(.appRefresh("deliver")) { await transactions.flush() }
    /// ```
    ///
    /// On iOS, tvOS, watchOS and visionOS, also in app extensions, it asks the system not to suspend the process
    /// (`performExpiringActivity`). The system usually grants 30 seconds.
    ///
    /// - Parameter deadline: The time after which it returns. Default: 20 seconds. It returns earlier when the system's
    ///   time is up, or when the calling task is cancelled meanwhile. A task that is already cancelled can still flush.
    @discardableResult
    public func flush(deadline: Duration = .seconds(20)) async -> FlushReport {
        let (end, wasCancelled) = (FlushEnd(), Task.isCancelled)
        return await withTaskCancellationHandler {
            await flush(deadline: deadline, until: end)
        } onCancel: {
            if !wasCancelled { end.end() }
        }
    }

    /// Delivers everything recorded so far, and calls a closure on a background thread; see ``flush(deadline:)``.
    ///
    /// ```swift
    /// task.expirationHandler = transactions.flush { task.setTaskCompleted(success: $0.error == nil) }
    /// ```
    ///
    /// - Returns: A closure that ends the flush early.
    @discardableResult
    public func flush(
        deadline: Duration = .seconds(20), completion: @escaping @Sendable (FlushReport) -> Void
    ) -> @Sendable () -> Void {
        let end = FlushEnd()
        Task { completion(await flush(deadline: deadline, until: end)) }
        return { end.end() }
    }

    func flush(deadline: Duration, until end: FlushEnd, activity: ExpiringActivity? = .system) async -> FlushReport {
        let done = DispatchSemaphore(value: 0)
        defer { done.signal() }
        if let activity {
            await withCheckedContinuation { continuation in
                let first = Locked<CheckedContinuation<Void, Never>?>(continuation)
                activity.begin("deliver what was recorded") { isExpired in
                    if isExpired { end.end() }
                    first.withLock { $0.take() }?.resume()
                    // The system keeps the process running until this closure returns. It may call it twice.
                    done.wait()
                    done.signal()
                }
            }
        }
        // Started by the calling task, to find a flush inside a flush.
        guard let source = sources.readableSource, let task = flusher.start(sources, isAsked: true) else {
            return FlushReport()
        }
        return await withCheckedContinuation { continuation in
            let first = Locked<CheckedContinuation<FlushReport, Never>?>(continuation)
            let timer = Task { if (try? await Task.sleep(for: deadline.bounded)) != nil { end.end() } }
            let ending = Task {
                await end.reached()
                guard !Task.isCancelled else { return }
                task.cancel()
                var report = FlushReport()
                report.error = WaybillError(
                    .transport, "The flush did not end in time; what was not delivered stays pending.")
                await report.count(from: source)
                first.withLock { $0.take() }?.resume(returning: report)
            }
            Task {
                let report = await task.value
                timer.cancel()
                // A cancelled flush has an error that says less than the report of the deadline.
                guard report.error == nil || !task.isCancelled else { return }
                ending.cancel()
                first.withLock { $0.take() }?.resume(returning: report)
            }
        }
    }

    /// Delivers regularly in the background, until ``stopDelivery()`` or the end of the manager.
    ///
    /// Call it once, after you create the manager. Another call changes the interval.
    ///
    /// ```swift
    /// let transactions = TransactionManager(delivery: .collector(url, token: token))
    /// transactions.startDelivery()
    /// ```
    ///
    /// - Parameter interval: The time between two flushes, or from the first new fact to its flush; at least 0.1 s.
    public func startDelivery(every interval: Duration = .seconds(30)) {
        flusher.startTurns(of: sources, every: interval)
    }

    /// Stops the delivery that ``startDelivery(every:)`` started, after a last flush that it does not wait for.
    public func stopDelivery() { flusher.stopTurns(of: sources) }

    /// Delivers regularly until the calling task is cancelled, and then flushes once more, for at most 20 seconds.
    ///
    /// After failures it pauses for a random time: up to 10 seconds after the first, later up to an hour. Pauses
    /// outlive the process. If everything was delivered, it waits for the next fact.
    public func deliver(every interval: Duration = .seconds(30)) async {
        await flusher.takeTurns(sources, every: interval)
        await flush()
    }

    package func flushIfDue() async { await flusher.flushIfDue(sources) }

    /// The events of delivery from now on: receipts, failures, pauses and ends of flushes.
    ///
    /// Each access returns a new stream. A reader that falls more than 100 events behind misses the oldest.
    ///
    /// ```swift
    /// for await event in transactions.deliveryEvents {
    ///     if case .stopped(let error) = event { askForToken(because: error) }
    /// }
    /// ```
    public var deliveryEvents: AsyncStream<Delivery.Event> { flusher.events.stream() }

    /// Waits until everything recorded so far, and the mode of ``recording``, is safely on disk.
    ///
    /// Without it, facts that `log` reported as `.journaled` survive a crash, and a power failure after five seconds.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` if the write failed. The facts stay in memory, and Waybill retries.
    public func sync() async throws(WaybillError) {
        for source in sources.liveForerunners + [sources.current].compactMap({ $0 }) {
            await source.bodies?.settle()
            try await source.writer.sync()
        }
        if let problem = sources.problem { throw problem }
    }

    /// Writes a copy of the store to a single file, without bodies and installation secrets.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` if the file exists or can't be written, or if there is no store.
    public func snapshot(to file: URL) async throws(WaybillError) {
        guard let source = await sources.drainedSource() else {
            throw WaybillError(.store, "There is no store to copy: nothing was recorded.")
        }
        try await source.writer.run { _, store in try store.snapshot(to: file) }
    }
}
