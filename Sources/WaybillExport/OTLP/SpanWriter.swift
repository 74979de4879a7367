import WaybillCore
import WaybillQueries

/// Writes spans as lines of OTLP JSON, each a `TracesData` of opentelemetry/proto/trace/v1/trace.proto.
///
/// The encoding is https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
struct SpanWriter {
    private(set) var factCount = 0
    var isFull: Bool { json.bytes.count >= limit }

    private let limit: Int
    private var json = JSONWriter()
    private var resource: GUID?
    /// The instrumentation scope of the current spans as a JSON object; `nil` before the first.
    private var scope: [UInt8]?

    init(limit: Int) { self.limit = limit }

    mutating func write(_ part: ClosedPart) {
        begin(part.source)
        if part.isWanted {
            write(Span(part), of: part)
            factCount += 2 + part.events.count
        }
        for exchange in part.exchanges {
            factCount += 2
            if !part.isOwn(exchange) { write(Span(exchange, of: part), of: part) }
        }
        for event in part.events {
            if let span = part.spans[event.entry.sequence] { write(Span(event, as: span, of: part), of: part) }
        }
    }

    /// Ends and returns the line; empty without spans.
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

    private mutating func begin(_ source: SourceIdentity) {
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
        json.object("resource") { $0.keyValues(source.resource) }
        json.key("scopeSpans")
        json.beginArray()
    }

    private mutating func begin(scope: [UInt8]) {
        guard self.scope != scope else { return }
        endScope()
        self.scope = scope
        json.beginObject()
        json.key("scope")
        json.members(scope)
        json.key("spans")
        json.beginArray()
    }

    private mutating func endScope() {
        guard scope != nil else { return }
        json.endArray()
        json.endObject()
        scope = nil
    }

    private mutating func endResource() {
        endScope()
        json.endArray()
        json.endObject()
    }

    private static let ownScope = Array(#"{"name":"waybill"}"#.utf8)

    /// Writes a received span unchanged, except for Waybill's own attributes.
    private mutating func write(_ original: OriginalSpan.JSON, of span: Span) {
        begin(scope: original.scope)
        json.beginObject()
        json.member("traceId", span.trace.traceID)
        json.member("spanId", span.id.description)
        json.member("parentSpanId", span.parent?.id.description)
        json.members(original.members)
        json.key("attributes")
        json.beginArray()
        json.members(original.attributes)
        let own = span.attributes.filter { $0.key.hasPrefix("waybill.") && !$0.key.hasPrefix("waybill.error.") }
        for (name, value) in own.sorted(by: { $0.key < $1.key }) { json.keyValue(name, value) }
        json.endArray()
        json.endObject()
    }

    private mutating func write(_ span: Span, of part: ClosedPart) {
        var span = span
        // Times remain those of the source's clock, and these attributes let backends align them.
        if let offset = part.clockOffset {
            span.attributes["waybill.clock_offset_us"] = .integer(offset.microseconds)
            span.attributes["waybill.clock_uncertainty_us"] = .integer(offset.uncertaintyMicroseconds)
        }
        if let original = span.original { return write(original, of: span) }
        begin(scope: Self.ownScope)
        json.beginObject()
        json.member("traceId", span.trace.traceID)
        json.member("spanId", span.id.description)
        json.member("traceState", span.traceState)
        json.member("parentSpanId", span.parent?.id.description)
        json.member("flags", span.flags)
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
            json.object("status") {
                $0.member("code", status.rawValue)
                $0.member("message", span.statusMessage)
            }
        }
        json.endObject()
    }
}

extension JSONWriter {
    /// OTLP has no negative times, and times before 1970 become 1970.
    fileprivate mutating func nanoseconds(_ name: StaticString, _ microseconds: Int64) {
        let nanoseconds = min(max(0, microseconds), Limits.largestInteger) * 1000
        member(name, "\(nanoseconds)")
    }

    /// OTLP forbids empty names, and such attributes are omitted.
    fileprivate mutating func keyValues(_ attributes: Attributes) {
        let attributes = attributes.filter { !$0.key.isEmpty }
        guard !attributes.isEmpty else { return }
        key("attributes")
        beginArray()
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) { keyValue(name, value) }
        endArray()
    }

    fileprivate mutating func keyValue(_ name: String, _ value: AttributeValue) {
        beginObject()
        member("key", name)
        key("value")
        beginObject()
        switch value {
        case .string(let value): member("stringValue", text: value)
        case .integer(let value): member("intValue", "\(value)")
        case .double(let value):
            key("doubleValue")
            protobufDouble(value)
        case .bool(let value):
            key("boolValue")
            bool(value)
        }
        endObject()
        endObject()
    }
}
