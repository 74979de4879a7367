#if Tracing
public import Tracing
import WaybillCore

/// A span of ``TransactionTracer``: an exchange of its transaction, or an event of it.
///
/// Nothing here throws or waits, and every call may come from any thread. What has no place in an exchange, e.g. an
/// attribute of your own on a client's span, goes to the tracer that is forwarded to, and nowhere else.
public struct TransactionSpan: Tracing.Span {
    /// Carries the transaction to what is below.
    public let context: ServiceContext
    /// nil where nothing comes of it.
    let record: SpanRecord?

    /// Whether anything comes of it: it belongs to a transaction, or the tracer that is forwarded to records it.
    public var isRecording: Bool { record?.isRecording ?? false }

    /// What the event is called; set until the span ends. Empty where nothing is recorded.
    public var operationName: String {
        get { record?.name ?? "" }
        nonmutating set { record?.name = newValue }
    }

    /// What is said of it, by OpenTelemetry's names, the old ones as well. A server's exchange is opened once its method
    /// and path are among them.
    public var attributes: SpanAttributes {
        get { record?.attributes ?? [:] }
        nonmutating set { record?.attributes = newValue }
    }

    /// Says how it ended: an event has it in `otel.status_code` and `otel.status_description`.
    public func setStatus(_ status: SpanStatus) { record?.set(status) }

    /// Records an event of that name in the transaction, at once; 128 of each span at most.
    public func addEvent(_ event: SpanEvent) { record?.add(event) }

    /// Says what went wrong; of several errors the last one counts.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        record?.note(error, attributes, at: instant())
    }

    /// Records an event `link` with the transaction that the other span belongs to; 128 links and events at most.
    public func addLink(_ link: SpanLink) { record?.add(link) }

    /// Ends it; only the first call counts.
    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) { record?.end(at: instant()) }
}
#endif
