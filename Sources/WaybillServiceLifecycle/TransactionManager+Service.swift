#if ServiceLifecycle
public import ServiceLifecycle
public import Waybill

/// A manager is a service: it delivers for as long as its group runs, and once more at a graceful shutdown.
///
/// A group shuts its services down in the reverse order: put the manager before the server that records, so that its
/// last delivery has what the last requests recorded.
///
/// ```swift
/// let group = ServiceGroup(services: [transactions, server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
extension TransactionManager: Service {
    /// Delivers every 30 seconds until the group shuts down or the task is canceled; then once more, for 10 seconds at
    /// most.
    ///
    /// What is not delivered by then stays pending in the store, for the next launch. A later
    /// ``Waybill/TransactionManager/startDelivery(every:)`` changes the interval.
    public func run() async throws { await serve(lastFlush: .seconds(10)) }

    func serve(lastFlush: Duration) async {
        startDelivery()
        // Thrown where the task is canceled, which ends it just as well.
        try? await gracefulShutdown()
        stopDelivery()
        await flush(deadline: lastFlush)
    }
}
#endif
