#if Tracing
public import Tracing
import WaybillCore

/// A span of ``TransactionTracer``, which becomes an exchange or an event of its transaction.
///
/// Its methods are thread-safe and do not block. Attributes that an exchange can't hold go only to the other tracer.
public struct TransactionSpan: Tracing.Span {
    /// The context that propagates the transaction to child spans.
    public let context: ServiceContext
    let record: SpanRecord?

    /// Whether the span is recorded: by a transaction, or by the forwarding tracer.
    public var isRecording: Bool { record?.isRecording ?? false }

    /// The event's name, which can change until the span ends; empty if the span is not recorded.
    public var operationName: String {
        get { record?.name ?? "" }
        nonmutating set { record?.name = newValue }
    }

    /// The attributes, by the current or older names of OpenTelemetry. A server's exchange needs method and path.
    public var attributes: SpanAttributes {
        get { record?.attributes ?? [:] }
        nonmutating set { record?.attributes = newValue }
    }

    /// Sets the status, which an event has in `otel.status_code` and `otel.status_description`.
    public func setStatus(_ status: SpanStatus) { record?.set(status) }

    /// Records an event in the transaction immediately. A span can record 128 events and links.
    public func addEvent(_ event: SpanEvent) { record?.add(event) }

    /// Sets the span's error. The last error wins.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        record?.note(error, attributes, at: instant())
    }

    /// Records an event `link` with the other span's transaction. A span can record 128 events and links.
    public func addLink(_ link: SpanLink) { record?.add(link) }

    /// Ends the span. Later calls have no effect.
    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) { record?.end(at: instant()) }
}
#endif
