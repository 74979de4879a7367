/// What is done about W3C Trace Context (https://www.w3.org/TR/trace-context-2/), by which OpenTelemetry and many others tie
/// requests together.
///
/// A transaction is a trace: the trace's ID is the GUID of the topmost transaction, and `parent-id` the exchange, as the
/// spans of an export have it. So the spans of services that know nothing of Waybill land in the same trace. Where a
/// request has a `traceparent` already it is kept, and recorded as a link.
///
/// ## Usage
///
/// ```swift
/// options.traceContext = .join
/// ```
public enum TraceContextPolicy: Hashable, Sendable {
    /// Neither sent nor read.
    case off
    /// Requests to the correlated hosts carry `traceparent` and, with the use case, `tracestate` (`waybill=u:17`) beside
    /// the transaction's own header field; never over the caller's, nor along to another origin. A server keeps what came
    /// in as a link.
    case propagate
    /// As ``propagate``, and a request that has only a `traceparent` joins the transaction whose ID the trace has, where it
    /// has the shape of one: a UUIDv7.
    ///
    /// Anybody can make one up: it grants nothing, one that cannot be read is ignored and counted, and the limits of
    /// ``TransactionManager/Options/joinsPerMinute`` hold. Which use case it is, the `tracestate` says; where that does
    /// not, it is the only one of ``TransactionManager/Options/useCases``, and with several of those the request leaves no
    /// trace but a count.
    case join
}
