public import WaybillCore

/// Carries sets to wherever they are kept: to a collector, into files, to two places at once.
///
/// A transport hands over one set at a time, whole. It returns a receipt once the other side has the facts for good,
/// and throws otherwise: then nothing is settled, and the same facts are sent again later, in a set of another ID. The
/// receipt lists the facts that were refused; with an empty list all are accepted. A transport that cannot tell new
/// facts from known ones says that all were accepted.
///
/// After every error that it throws, sets are tried again after a pause that grows; a ``DeliveryFailure`` says more.
/// `TransportConformance` of the module `WaybillTesting` tries a transport out.
///
/// ## Usage
///
/// This one hands sets to a queue, and tells when one is too large for it:
/// ```swift
/// struct QueueTransport: FlushTransport {
///     let queue: MessageQueue
///
///     func send(_ set: OutgoingSet) async throws -> Receipt {
///         guard set.body.count <= queue.largestMessage else {
///             throw DeliveryFailure(WaybillError(.refused, "The queue takes no such large messages."), remedy: .sendLess)
///         }
///         try await queue.add(set.body, type: set.mediaType)
///         return Receipt(set: set.id, acceptedCount: set.factCount)
///     }
/// }
/// ```
public protocol FlushTransport: Sendable {
    /// Hands a set over, and returns what was said about it.
    ///
    /// The flush waits for it with no lock held. It may use the manager, but not call `flush()`, which would wait for
    /// itself: it returns at once, with an error.
    ///
    /// - Throws: Any error that says why the facts are not known to have arrived. They stay pending.
    func send(_ set: OutgoingSet) async throws -> Receipt
}
