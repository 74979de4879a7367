public import Foundation
public import WaybillCore

/// Where sets go.
public struct Delivery: Sendable {
    let transport: any FlushTransport

    /// A collector.
    ///
    /// - Parameters:
    ///   - url: The address it serves at, e.g. `https://collector.example.com`.
    ///   - token: Sent as `Authorization: Bearer`; nil: not sent.
    ///   - format: In which version sets go out. Default: version 1; for a server of the first framework see
    ///     ``SetFormat/v0_0_1(prefix:scheme:parameter:mediaTypeVersion:)``.
    public static func collector(_ url: URL, token: String? = nil, format: SetFormat = .v1) -> Delivery {
        .transport(URLSessionTransport(collector: url, token: token, format: format))
    }

    /// Files, one for each set, for `waybill import` to pick up.
    public static func files(in folder: URL) -> Delivery { .transport(FileTransport(folder: folder)) }

    /// A transport of your own.
    public static func transport(_ transport: any FlushTransport) -> Delivery { Delivery(transport: transport) }
}

/// Carries sets to wherever they are kept: to a collector, into files, to two places at once.
///
/// A transport hands over one set at a time, whole. It returns a receipt once the other side has the facts for good,
/// and throws otherwise: then nothing is settled, and the same facts are sent again later, in a set of another ID. The
/// receipt lists the facts that were refused; with an empty list all are accepted. A transport that cannot tell new
/// facts from known ones says that all were accepted.
///
/// After every error that it throws, sets are tried again after a pause that grows; a ``Delivery/Failure`` says more.
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
///             throw Delivery.Failure(WaybillError(.refused, "The queue takes no such large messages."), remedy: .sendLess)
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

/// A set on its way out, encoded, with what a transport has to know of it.
public struct OutgoingSet: Sendable, Hashable {
    /// The set's own ID, which the receipt has to name.
    public let id: GUID
    /// The set as JSON, to be sent as it is.
    public let body: [UInt8]
    /// How many facts are in it: accepted, known and rejected ones of the receipt together.
    public let factCount: Int
    /// What `body` is, for a `Content-Type`.
    public let mediaType: String
    /// The openings of parts that it goes on with, which earlier sets have delivered: for formats that name the
    /// transaction with each event.
    package var openings: [FactID: Fact.Opened] = [:]

    /// Creates a set from its encoded form. A `mediaType` of `nil` is that of version 1 of the format.
    public init(id: GUID, body: [UInt8], factCount: Int, mediaType: String? = nil) {
        self.id = id
        self.body = body
        self.factCount = factCount
        self.mediaType = mediaType ?? TransactionSet.mediaType
    }
}

/// In which version of the format sets go out, and what is understood as their receipt.
///
/// Version 1 is the only one here; `import WaybillLegacy` adds version 0.0.1.
public struct SetFormat: Sendable {
    let wire: any SetWire

    package init(wire: any SetWire) { self.wire = wire }

    /// Version 1, which collectors of Waybill take: everything that was recorded, compressed, and a receipt with a
    /// verdict on each fact.
    public static let v1 = SetFormat(wire: CollectorWire())
}

/// What differs between the versions of the format on the wire: where a set goes, what it looks like, and what its
/// answer says.
package protocol SetWire: Sendable {
    /// Whether bodies may be compressed.
    var compresses: Bool { get }
    /// The media type of the answer; nil: any, or none.
    var accepted: String? { get }
    /// Where sets go, by the address that the delivery was given.
    func address(at collector: URL) -> URL
    /// The value of `Authorization`, for a token of visible ASCII.
    func authorization(_ token: String) -> String
    /// The set as it is sent.
    func message(of set: OutgoingSet) throws(Delivery.Failure) -> SetMessage
    /// The receipt, if the answer settles anything.
    func receipt(of set: OutgoingSet, sentAs message: SetMessage, from answer: CollectorResponse, now: Date)
        throws(Delivery.Failure)
        -> Receipt
}

/// A set as it is sent.
package struct SetMessage {
    package var mediaType: String
    /// nil: nothing of the set can be said in that version, so that nothing is sent.
    package var body: [UInt8]?
    /// The facts that are not in it.
    package var leftOut: [Receipt.Rejection]

    package init(mediaType: String, body: [UInt8]?, leftOut: [Receipt.Rejection] = []) {
        self.mediaType = mediaType
        self.body = body
        self.leftOut = leftOut
    }
}

/// Version 1: sets go as they are, to a collector, which answers with a receipt.
package struct CollectorWire: SetWire {
    package var compresses: Bool { true }
    package var accepted: String? { Receipt.mediaType }

    package func address(at collector: URL) -> URL { collector.appending(path: "v1/sets") }

    /// RFC 6750, section 2.1.
    package func authorization(_ token: String) -> String { "Bearer \(token)" }

    package func message(of set: OutgoingSet) -> SetMessage { SetMessage(mediaType: set.mediaType, body: set.body) }

    package func receipt(
        of set: OutgoingSet, sentAs message: SetMessage, from answer: CollectorResponse, now: Date
    ) throws(Delivery.Failure) -> Receipt {
        try answer.receipt(for: set, now: now)
    }
}

/// What a flush did.
public struct FlushReport: Sendable, Hashable {
    /// Facts that the collector accepted or knew already.
    public var delivered = 0
    /// Facts that the collector rejected, or that the format of a delivery has no place for; they are kept in
    /// quarantine.
    public var rejected = 0
    /// Facts that are still to be delivered.
    public var pending = 0
    /// Facts of transactions that sampling did not choose, and whose end is awaited; not among the pending.
    public var held = 0
    /// Why it stopped before everything was delivered; nil when nothing went wrong.
    public var error: WaybillError?

    /// Makes a report.
    public init(
        delivered: Int = 0, rejected: Int = 0, pending: Int = 0, held: Int = 0, error: WaybillError? = nil
    ) {
        self.delivered = delivered
        self.rejected = rejected
        self.pending = pending
        self.held = held
        self.error = error
    }

    /// Whether nothing is left to deliver.
    public var isComplete: Bool { pending == 0 && error == nil }
}

extension Delivery {
    /// Something that happened to delivery; see ``TransactionManager/deliveryEvents``.
    public enum Event: Sendable, Hashable {
        /// Verdicts on a set were booked: facts that were delivered, and facts that went into quarantine.
        case settled(set: GUID, delivered: Int, quarantined: Int)
        /// A set was not taken; nothing goes out by itself before so much time has passed.
        case failed(WaybillError, retryAfter: Duration)
        /// The other side wants to be left alone for so long.
        case quieted(Duration)
        /// Sets hold so many facts at most from now on, since one was too large.
        case lessened(factCount: Int)
        /// Nothing goes out until ``TransactionManager/delivery`` is set anew.
        case stopped(WaybillError)
        /// `canFlush` said no.
        case heldBack
        /// A flush has ended.
        case ended(FlushReport)
    }
}

/// Hands events to all listeners.
final class DeliveryEvents: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: AsyncStream<Delivery.Event>.Continuation] = [:]
    }

    private let state = Locked(State())

    /// A stream of its own for each listener, from now on. One that does not keep up misses the oldest: delivery waits
    /// for no listener.
    func stream() -> AsyncStream<Delivery.Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Delivery.Event.self, bufferingPolicy: .bufferingNewest(100))
        let number = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        // Set without the lock held: it may be called at once.
        continuation.onTermination = { [weak self] _ in self?.forget(number) }
        return stream
    }

    func tell(_ event: Delivery.Event) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.yield(event) }
    }

    deinit { for listener in state.withLock({ $0.listeners.values.map(\.self) }) { listener.finish() } }

    private func forget(_ number: Int) {
        // Let go outside the lock, as its termination may come back here.
        _ = state.withLock { $0.listeners.removeValue(forKey: number) }
    }
}
