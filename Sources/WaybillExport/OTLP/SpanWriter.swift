import WaybillCore
import WaybillQueries

/// Writes spans as lines of OTLP JSON, each a `TracesData` of opentelemetry/proto/trace/v1/trace.proto.
///
/// The encoding is https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
struct SpanWriter {
    private struct Resource {
        var source: SourceIdentity
        /// The instrumentation scopes as JSON objects, with their spans.
        var scopes: [(json: [UInt8], spans: [[UInt8]])] = []

        mutating func add(_ span: [UInt8], in scope: [UInt8]) {
            if scopes.last?.json != scope { scopes.append((scope, [])) }
            scopes[scopes.count - 1].spans.append(span)
        }
    }

    private(set) var factCount = 0
    var isFull: Bool { byteCount >= limit }

    private let limit: Int
    private var resources: [Resource] = []
    private var byteCount = 0

    init(limit: Int) { self.limit = limit }

    mutating func write(_ part: ClosedPart) {
        if part.isWanted {
            add(Span(part), of: part)
            factCount += 2 + part.events.count
        }
        for exchange in part.exchanges {
            factCount += 2
            if !part.isOwn(exchange) { add(Span(exchange, of: part), of: part) }
        }
        for event in part.events {
            if let span = part.spans[event.entry.sequence] { add(Span(event, as: span, of: part), of: part) }
        }
    }

    private mutating func add(_ span: Span, of part: ClosedPart) {
        var span = span
        // Times remain those of the source's clock, and these attributes let backends align them.
        if let offset = part.clockOffset {
            span.attributes["waybill.clock_offset_us"] = .integer(offset.microseconds)
            span.attributes["waybill.clock_uncertainty_us"] = .integer(offset.uncertaintyMicroseconds)
        }
        var json = JSONWriter(capacity: 1024)
        json.beginObject()
        json.member("traceId", span.trace.traceID)
        json.member("spanId", span.id.description)
        if let original = span.original { json.members(of: span, as: original) } else { json.members(of: span) }
        json.endObject()
        byteCount += json.bytes.count
        if resources.last?.source.id != part.source.id { resources.append(Resource(source: part.source)) }
        resources[resources.count - 1].add(json.bytes, in: span.original?.scope ?? Self.ownScope)
    }

    private static let ownScope = Array(#"{"name":"waybill"}"#.utf8)

    /// Returns the spans as a line, and begins the next one; empty without spans.
    mutating func takeLine() -> [UInt8] {
        guard !resources.isEmpty else { return [] }
        var json = JSONWriter(capacity: byteCount + 1024)
        json.beginObject()
        json.array("resourceSpans", resources) { resource, json in
            json.object("resource") { $0.keyValues(resource.source.resource) }
            json.array("scopeSpans", resource.scopes) { scope, json in
                json.key("scope")
                json.members(scope.json)
                json.key("spans")
                json.beginArray()
                for span in scope.spans { json.members(span) }
                json.endArray()
            }
        }
        json.endObject()
        json.endLine()
        (resources, byteCount) = ([], 0)
        return json.bytes
    }
}

extension JSONWriter {
    /// Writes a received span unchanged, except for Waybill's own attributes.
    fileprivate mutating func members(of span: Span, as original: OriginalSpan.JSON) {
        member("parentSpanId", span.parent?.id.description)
        members(original.members)
        key("attributes")
        beginArray()
        members(original.attributes)
        let own = span.attributes.filter { $0.key.hasPrefix("waybill.") && !$0.key.hasPrefix("waybill.error.") }
        for (name, value) in own.sorted(by: { $0.key < $1.key }) { keyValue(name, value) }
        endArray()
    }

    fileprivate mutating func members(of span: Span) {
        member("traceState", span.traceState)
        member("parentSpanId", span.parent?.id.description)
        member("flags", span.flags)
        member("name", span.name.isEmpty ? "unnamed" : span.name)
        member("kind", span.kind.rawValue)
        nanoseconds("startTimeUnixNano", span.startMicroseconds)
        nanoseconds("endTimeUnixNano", span.endMicroseconds)
        keyValues(span.attributes)
        array("events", span.events) { event, json in
            json.nanoseconds("timeUnixNano", event.timeMicroseconds)
            json.member("name", event.name)
            json.keyValues(event.attributes)
        }
        array("links", span.links) { link, json in
            json.member("traceId", link.trace.traceID)
            json.member("spanId", link.id.description)
            json.member("flags", link.flags)
        }
        if let status = span.status {
            object("status") {
                $0.member("code", status.rawValue)
                $0.member("message", span.statusMessage)
            }
        }
    }

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
