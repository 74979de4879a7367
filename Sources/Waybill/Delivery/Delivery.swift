public import Foundation
public import WaybillCore

/// The destination of sets. It is also a transport, and your own transport can contain it.
public struct Delivery: FlushTransport {
    let transport: any FlushTransport

    /// Returns a collector as the destination, such as `https://collector.example.com`.
    ///
    /// The `token` is sent as `Authorization: Bearer`. For a server of the first framework, see
    /// ``SetFormat/v0_0_1(prefix:scheme:parameter:mediaTypeVersion:)``.
    public static func collector(_ url: URL, token: String? = nil, format: SetFormat = .v1) -> Delivery {
        .transport(URLSessionTransport(collector: url, token: token, format: format))
    }

    /// Returns a folder as the destination, for `waybill import` or for your own upload. It is created with the first
    /// set.
    ///
    /// A file is named `<created>-<set ID>.waybill-set.v1.json`, such as
    /// `20230630T033418Z-01890a5d-ac96-774b-bcce-b302099a8057.waybill-set.v1.json`, and names sort by time. A file
    /// appears whole and synced, and only the user who runs the process can read it.
    public static func files(in folder: URL) -> Delivery { .transport(FileTransport(folder: folder)) }

    /// Sends a set; see ``FlushTransport/send(_:)``.
    public func send(_ set: OutgoingSet) async throws -> Receipt { try await transport.send(set) }

    /// Returns your own transport as the destination.
    public static func transport(_ transport: any FlushTransport) -> Delivery { Delivery(transport: transport) }
}

/// Sends sets to their destination, such as a collector or a folder.
///
/// A transport sends one set at a time. It returns a receipt once the destination has stored the facts, and throws
/// otherwise. After an error, the same facts are sent again in a set with another ID. The receipt lists the rejected
/// facts. A transport that can't tell new facts from known ones reports all as accepted.
///
/// After each error, Waybill retries with a growing pause, unless you throw a ``Delivery/Failure`` with another remedy.
/// Test your transport with `TransportConformance` of the module `WaybillTesting`.
///
/// ## Usage
///
/// This transport adds sets to a queue and reports those that are too large:
/// ```swift
/// struct QueueTransport: FlushTransport {
///     let queue: MessageQueue
///
///     func send(_ set: OutgoingSet) async throws -> Receipt {
///         guard set.body.count <= queue.largestMessage else {
///             throw Delivery.Failure.sendLess(WaybillError(.refused, "The queue takes no such large messages."))
///         }
///         try await queue.add(set.body, type: set.mediaType)
///         return Receipt(set: set.id, acceptedCount: set.factCount)
///     }
/// }
/// ```
public protocol FlushTransport: Sendable {
    /// Sends a set and returns its receipt. After any error, the facts stay pending.
    ///
    /// The method may use the manager, except for `flush()`, which returns at once with an error.
    func send(_ set: OutgoingSet) async throws -> Receipt
}

/// An encoded set, ready to be sent.
public struct OutgoingSet: Sendable, Equatable {
    /// The set's ID, which the receipt must name.
    public let id: GUID
    /// The set as JSON, to be sent unchanged.
    public let body: [UInt8]
    /// The number of facts. It equals the sum of the receipt's accepted, known and rejected facts.
    public let factCount: Int
    /// The media type of `body`, for a `Content-Type`.
    public let mediaType: String

    /// Creates a set from its encoded form. A `mediaType` of `nil` means version 1 of the format.
    public init(id: GUID, body: [UInt8], factCount: Int, mediaType: String? = nil) {
        self.id = id
        self.body = body
        self.factCount = factCount
        self.mediaType = mediaType ?? TransactionSet.mediaType
    }
}

/// A version of the format of sets. `import WaybillLegacy` adds version 0.0.1.
public struct SetFormat: Sendable {
    let wire: any SetWire

    package init(wire: any SetWire) { self.wire = wire }

    /// Version 1, which Waybill's collectors accept: all recorded data, compressed, with a verdict on each fact.
    public static let v1 = SetFormat(wire: CollectorWire())
}

package protocol SetWire: Sendable {
    /// Whether only a receipt settles a set. If not, any 2xx does.
    var hasReceipts: Bool { get }
    func address(at collector: URL) -> URL
    func authorization(_ token: String) -> String
    func message(of set: OutgoingSet) throws(Delivery.Failure) -> SetMessage
}

package struct SetMessage {
    package var mediaType: String
    /// The encoded set; `nil` if that version can express none of its facts, and nothing is sent.
    package var body: [UInt8]?
    package var leftOut: [Receipt.Rejection]

    package init(mediaType: String, body: [UInt8]?, leftOut: [Receipt.Rejection] = []) {
        self.mediaType = mediaType
        self.body = body
        self.leftOut = leftOut
    }
}

package struct CollectorWire: SetWire {
    package var hasReceipts: Bool { true }

    package func address(at collector: URL) -> URL { collector.appending(path: "v1/sets") }

    /// RFC 6750, section 2.1.
    package func authorization(_ token: String) -> String { "Bearer \(token)" }

    package func message(of set: OutgoingSet) -> SetMessage { SetMessage(mediaType: set.mediaType, body: set.body) }
}

/// The result of a flush.
public struct FlushReport: Sendable, Equatable {
    /// The number of facts that the collector accepted or already had.
    public var delivered = 0
    /// The number of facts in quarantine, because the collector rejected them or the format can't express them.
    public var rejected = 0
    /// The number of facts that are still to be delivered.
    public var pending = 0
    /// The number of facts of unsampled transactions that have not ended. They are not in ``pending``.
    public var held = 0
    /// The reason why the flush stopped early; `nil` if nothing failed.
    public var error: WaybillError?

    /// Creates a report.
    public init(
        delivered: Int = 0, rejected: Int = 0, pending: Int = 0, held: Int = 0, error: WaybillError? = nil
    ) {
        self.delivered = delivered
        self.rejected = rejected
        self.pending = pending
        self.held = held
        self.error = error
    }

    /// Whether all facts were delivered without an error.
    public var isComplete: Bool { pending == 0 && error == nil }
}

extension Delivery {
    /// An event of the delivery; see ``TransactionManager/deliveryEvents``.
    public enum Event: Sendable, Equatable {
        /// A receipt settled a set: some facts were delivered, others went into quarantine.
        case settled(set: GUID, delivered: Int, quarantined: Int)
        /// A set failed. Automatic delivery pauses for this time.
        case failed(WaybillError, retryAfter: Duration)
        /// The collector asked for a pause.
        case paused(Duration)
        /// A set was too large. From now on, sets have at most this many facts.
        case limited(factCount: Int)
        /// Delivery stopped until ``TransactionManager/delivery`` is set again.
        case stopped(WaybillError)
        /// `canFlush` returned false.
        case heldBack
        /// A flush ended.
        case ended(FlushReport)
    }
}

final class DeliveryEvents: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: AsyncStream<Delivery.Event>.Continuation] = [:]
    }

    private let state = Locked(State())

    /// A slow listener misses the oldest events, since delivery never waits.
    func stream() -> AsyncStream<Delivery.Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Delivery.Event.self, bufferingPolicy: .bufferingNewest(100))
        let number = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        // The handler may run at once, so set it without the lock.
        continuation.onTermination = { [weak self] _ in self?.forget(number) }
        return stream
    }

    func tell(_ event: Delivery.Event) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.yield(event) }
    }

    deinit { for listener in state.withLock({ $0.listeners.values.map(\.self) }) { listener.finish() } }

    private func forget(_ number: Int) {
        // Release it outside the lock, since its termination handler may call this method again.
        _ = state.withLock { $0.listeners.removeValue(forKey: number) }
    }
}
