public import WaybillCore

/// Carries sets to wherever they are kept: to a collector, into files, to two places at once.
///
/// A transport hands over one set at a time, whole. It returns a receipt once the other side has the facts for good, and throws otherwise:
/// then nothing is settled, and the same facts are sent again later, in a set of another ID. The receipt lists the facts that were refused;
/// with an empty list all are accepted. A transport that cannot tell new facts from known ones says that all were accepted.
///
/// ## Usage
///
/// This one serves two places, and lets the first one judge:
/// ```swift
/// struct TeeTransport: FlushTransport {
///     let first: any FlushTransport
///     let second: any FlushTransport
///
///     func send(_ set: OutgoingSet) async throws -> Receipt {
///         _ = try await second.send(set)
///         return try await first.send(set)
///     }
/// }
/// ```
public protocol FlushTransport: Sendable {
    /// Hands a set over, and returns what was said about it.
    ///
    /// - Throws: Whatever says why the facts are not known to have arrived. They stay pending.
    func send(_ set: OutgoingSet) async throws -> Receipt
}
