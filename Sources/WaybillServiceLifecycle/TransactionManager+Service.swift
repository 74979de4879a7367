#if ServiceLifecycle
public import ServiceLifecycle
public import Waybill

/// The manager as a service, which delivers while its group runs, and once more at a graceful shutdown. A group stops
/// its services in reverse order. Put the manager before the server, to deliver what the last requests record.
///
/// ```swift
/// let group = ServiceGroup(services: [transactions, server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
extension TransactionManager: Service {
    /// Delivers every 30 seconds until a shutdown or a cancellation, and then once more for at most 10 seconds.
    ///
    /// Facts that are not delivered by then stay pending in the store until the next launch. A later
    /// ``Waybill/TransactionManager/startDelivery(every:)`` changes the interval.
    public func run() async throws { await serve(lastFlush: .seconds(10)) }

    func serve(lastFlush: Duration) async {
        startDelivery()
        // Throws if the task is cancelled, which also ends the service.
        try? await gracefulShutdown()
        stopDelivery()
        await flush(deadline: lastFlush)
    }
}
#endif
