import WaybillCore

/// Writes spans as lines of OTLP's JSON encoding, each of which is a whole request: `TracesData` of
/// opentelemetry/proto/trace/v1/trace.proto.
///
/// Its rules (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): names in camelCase, IDs in
/// hexadecimal, enums as numbers, and integers of 64 bits as strings.
struct SpanWriter {
    /// Facts that are in the spans.
    private(set) var factCount = 0
    /// Whether the line is long enough.
    var isFull: Bool { json.bytes.count >= limit }

    private let limit: Int
    private var json = JSONWriter()
    /// The source whose spans are being written; nil: the line is empty.
    private var resource: GUID?

    /// - Parameter limit: Bytes after which it is full.
    init(limit: Int) { self.limit = limit }

    mutating func write(_ part: Redacted<ClosedPart>) {
        let part = part.value
        begin(part.source)
        if part.isWanted {
            write(Span(part))
            factCount += 2 + part.events.count
        }
        for exchange in part.exchanges {
            factCount += 2
            if !part.isOwn(exchange) { write(Span(exchange, of: part)) }
        }
        for event in part.events {
            if let span = part.spans[event.entry.sequence] { write(Span(event, as: span, of: part)) }
        }
    }

    /// Ends the line and hands it over; empty where it has no spans.
    mutating func takeLine() -> [UInt8] {
        guard resource != nil else { return [] }
        endResource()
        json.endArray()
        json.endObject()
        json.endLine()
        defer { json.removeAll() }
        resource = nil
        return json.bytes
    }

    private mutating func begin(_ source: RecordedSource) {
        guard resource != source.id else { return }
        if resource == nil {
            json.beginObject()
            json.key("resourceSpans")
            json.beginArray()
        } else {
            endResource()
        }
        resource = source.id
        json.beginObject()
        json.key("resource")
        json.beginObject()
        json.keyValues(source.resource)
        json.endObject()
        json.key("scopeSpans")
        json.beginArray()
        json.beginObject()
        json.key("scope")
        json.beginObject()
        json.member("name", word: "waybill")
        json.endObject()
        json.key("spans")
        json.beginArray()
    }

    private mutating func endResource() {
        json.endArray()
        json.endObject()
        json.endArray()
        json.endObject()
    }

    private mutating func write(_ span: Span) {
        json.beginObject()
        json.member("traceId", span.trace.traceID)
        json.member("spanId", span.id.description)
        json.member("traceState", span.traceState)
        json.member("parentSpanId", span.parent?.id.description)
        json.member("flags", span.flags)
        // A name must not be empty.
        json.member("name", span.name.isEmpty ? "unnamed" : span.name)
        json.member("kind", span.kind.rawValue)
        json.nanoseconds("startTimeUnixNano", span.startMicroseconds)
        json.nanoseconds("endTimeUnixNano", span.endMicroseconds)
        json.keyValues(span.attributes)
        json.array("events", span.events) { event, json in
            json.nanoseconds("timeUnixNano", event.timeMicroseconds)
            json.member("name", event.name)
            json.keyValues(event.attributes)
        }
        json.array("links", span.links) { link, json in
            json.member("traceId", link.trace.traceID)
            json.member("spanId", link.id.description)
            json.member("flags", link.flags)
        }
        if let status = span.status {
            json.key("status")
            json.beginObject()
            json.member("code", status.rawValue)
            json.member("message", span.statusMessage)
            json.endObject()
        }
        json.endObject()
    }
}

extension JSONWriter {
    /// Microseconds since 1970 as nanoseconds, which must not be negative; before 1970 is 1970.
    fileprivate mutating func nanoseconds(_ name: StaticString, _ microseconds: Int64) {
        let nanoseconds = min(max(0, microseconds), Limits.largestInteger) * 1000
        member(name, "\(nanoseconds)")
    }

    /// By name; nothing where there are none. A name must not be empty: what has none is left out.
    fileprivate mutating func keyValues(_ attributes: Attributes) {
        array("attributes", attributes.filter { !$0.key.isEmpty }.sorted { $0.key < $1.key }) { attribute, json in
            json.member("key", attribute.key)
            json.key("value")
            json.beginObject()
            switch attribute.value {
            case .string(let value):
                json.key("stringValue")
                json.string(value)
            case .integer(let value): json.member("intValue", "\(value)")
            case .double(let value):
                json.key("doubleValue")
                json.double(value)
            case .bool(let value):
                json.key("boolValue")
                json.bool(value)
            }
            json.endObject()
        }
    }
}
