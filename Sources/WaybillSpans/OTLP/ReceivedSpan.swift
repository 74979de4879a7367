package import WaybillCore

/// A span as a service sent it: https://opentelemetry.io/docs/specs/otel/trace/api/#span.
package struct ReceivedSpan: Hashable, Sendable {
    /// The numbers of OTLP's `SpanKind`.
    package enum Kind: Int, Sendable {
        case `internal` = 1
        case server = 2
        case client = 3
        case producer = 4
        case consumer = 5
    }

    /// The ID of its trace.
    package var transaction: GUID
    package var id: SpanID
    /// nil: its trace begins with it.
    package var parent: SpanID?
    /// Whether its parent is another process's; nil where its sender is too old to say.
    package var isParentRemote: Bool?
    package var kind: Kind
    package var name: String
    /// Microseconds since 1970.
    package var startMicroseconds: Int64
    /// Microseconds since 1970, not before the start.
    package var endMicroseconds: Int64
    package var attributes: Attributes
    package var events: [Event]
    package var links: [Link]
    package var hasFailed: Bool
    /// Why, in its own words; empty where it said nothing.
    package var statusMessage: String
    /// All that was read of it, to be kept as it came; `nil` if it was not read from a request.
    var fields: SpanFields?

    /// Something that happened during it.
    package struct Event: Hashable, Sendable {
        package var name = ""
        /// Microseconds since 1970.
        package var atMicroseconds: Int64 = 0
        package var attributes: Attributes = [:]
    }

    /// Another span that it has to do with.
    package struct Link: Hashable, Sendable {
        package var trace: GUID
        package var span: SpanID

        /// As the header field `traceparent` would have it (W3C Trace Context, section 3.2).
        var text: String { "00-\(trace.traceID ?? "")-\(span)-01" }
    }

    /// Whether it stands for a part: it has no parent in its own process.
    package var isRoot: Bool {
        guard parent != nil else { return true }
        return isParentRemote ?? (kind == .server || kind == .consumer)
    }
}

/// The spans of one process, or whatever a resource is.
package struct ReceivedResource: Hashable, Sendable {
    package var attributes: Attributes = [:]
    package var spans: [ReceivedSpan] = []
}

/// The body of a request to `/v1/traces`: `ExportTraceServiceRequest` of
/// opentelemetry/proto/collector/trace/v1/trace_service.proto.
package struct TraceRequest: Hashable, Sendable {
    package var resources: [ReceivedResource] = []
    /// How many spans cannot be read, by reason.
    package var faults: [String: Int] = [:]
    /// How many spans, and events of spans, it has: more than those that are here where there are too many.
    package var itemCount = 0

    /// Attributes of a span, an event or a resource that are looked at: as many as SDKs send by default.
    static let attributeLimit = 128
    /// Events of a span that are looked at: as many as SDKs send by default.
    static let eventLimit = 128
    /// Links of a span that are looked at.
    static let linkLimit = 8
    /// Resources of a request, as sources of a set.
    package static let resourceLimit = Limits.sources

    /// Takes a span, or counts it as one that cannot be read.
    mutating func add(_ fields: SpanFields, to resource: inout ReceivedResource, limit: Int) {
        itemCount += 1 + fields.events.count
        guard itemCount <= limit else { return }
        do throws(SpanFault) { resource.spans.append(try fields.span()) } catch {
            faults[error.reason, default: 0] += 1
        }
    }

    /// Counts a span that cannot be read at all.
    mutating func add(_ fault: SpanFault) {
        itemCount += 1
        faults[fault.reason, default: 0] += 1
    }
}

extension ReceivedResource {
    /// Says of the spans from an index on what has made them, which may stand behind them.
    mutating func setScope(_ scope: SpanFields.Scope, ofSpansFrom first: Int) {
        for index in spans.indices.dropFirst(first) { spans[index].fields?.scope = scope }
    }
}

/// Why a span cannot be read.
struct SpanFault: Error { var reason: String }

/// A span as it came, in either encoding.
struct SpanFields: Hashable, Sendable {
    var trace: [UInt8] = []
    var id: [UInt8] = []
    var parent: [UInt8] = []
    var traceState = ""
    var flags = 0
    var kind = 0
    var name = ""
    var startNanoseconds: UInt64 = 0
    var endNanoseconds: UInt64 = 0
    var attributes = SpanAttributes()
    private(set) var events: [Event] = []
    var droppedEventCount = 0
    private(set) var links: [Link] = []
    var droppedLinkCount = 0
    var statusCode = 0
    var statusMessage = ""
    /// What made it: `InstrumentationScope` of common.proto.
    var scope = Scope()

    struct Event: Hashable, Sendable {
        var nanoseconds: UInt64 = 0
        var name = ""
        var attributes = SpanAttributes()
    }

    struct Link: Hashable, Sendable {
        var trace: [UInt8] = []
        var span: [UInt8] = []
        var traceState = ""
        var flags = 0
        var attributes = SpanAttributes()
    }

    struct Scope: Hashable, Sendable {
        var name = ""
        var version = ""
        var attributes = SpanAttributes()
    }

    func span() throws(SpanFault) -> ReceivedSpan {
        guard let trace = GUID(traceID: trace) else { throw SpanFault(reason: "no trace ID of 16 bytes") }
        guard let id = SpanID(bytes: id) else { throw SpanFault(reason: "no span ID of 8 bytes") }
        let start = startNanoseconds.microseconds
        guard (1...Limits.largestInteger).contains(start) else { throw SpanFault(reason: "no start time") }
        let end = min(max(start, endNanoseconds.microseconds), Limits.largestInteger)
        // opentelemetry/proto/trace/v1/trace.proto, `SpanFlags`: bit 8 says whether bit 9 says anything.
        let isRemote = flags & 0x100 == 0 ? nil : flags & 0x200 != 0
        let events = events.map { event in
            ReceivedSpan.Event(
                name: event.name, atMicroseconds: event.nanoseconds.microseconds, attributes: event.attributes.flat)
        }
        let links = links.prefix(TraceRequest.linkLimit).compactMap { link -> ReceivedSpan.Link? in
            guard let trace = GUID(traceID: link.trace), let span = SpanID(bytes: link.span) else { return nil }
            return ReceivedSpan.Link(trace: trace, span: span)
        }
        return ReceivedSpan(
            transaction: trace, id: id, parent: SpanID(bytes: parent), isParentRemote: isRemote,
            kind: ReceivedSpan.Kind(rawValue: kind) ?? .internal, name: name, startMicroseconds: start,
            endMicroseconds: end,
            attributes: attributes.flat, events: events, links: links, hasFailed: statusCode == 2,
            statusMessage: statusMessage, fields: self)
    }

    mutating func add(_ event: Event) {
        if events.count < TraceRequest.eventLimit { events.append(event) } else { droppedEventCount += 1 }
    }

    mutating func add(_ link: Link) {
        // Whatever refers to nothing is no link.
        guard GUID(traceID: link.trace) != nil, SpanID(bytes: link.span) != nil else { return }
        if links.count < TraceRequest.eventLimit { links.append(link) } else { droppedLinkCount += 1 }
    }
}

extension UInt64 {
    /// Of nanoseconds; 2^53 - 1 at most.
    var microseconds: Int64 { Int64(Swift.min(self / 1000, UInt64(Limits.largestInteger))) }
}

extension GUID {
    /// nil unless it is 16 bytes that are not all zero.
    init?(traceID bytes: [UInt8]) {
        guard let guid = bytes.withUnsafeBytes({ GUID(bytes: $0) }), guid.traceID != nil else { return nil }
        self = guid
    }
}

extension SpanID {
    /// nil unless it is 8 bytes that are not all zero.
    init?(bytes: [UInt8]) {
        guard bytes.count == 8 else { return nil }
        let value = bytes.reduce(0) { UInt64($0) << 8 | UInt64($1) }
        guard value != 0 else { return nil }
        self.init(rawValue: value)
    }
}

/// A value of an attribute, which may hold others: `AnyValue` of opentelemetry/proto/common/v1/common.proto.
indirect enum SpanValue: Hashable, Sendable {
    case none
    case scalar(AttributeValue)
    /// Bytes, in Base64.
    case bytes(String)
    case list([SpanValue])
    case map([SpanAttribute])

    /// How deep one may be nested.
    static let depthLimit = 8
    /// Values that one may hold, at each level.
    static let limit = 128

    /// As attributes have it: a list of plain values as their texts with commas between them, and what holds names as
    /// JSON; nil for none.
    var attribute: AttributeValue? {
        switch self {
        case .none: return nil
        case .scalar(let value): return value
        case .bytes(let base64): return .string(base64)
        case .list(let values):
            let texts = values.compactMap { value in
                if case .scalar(let scalar) = value { scalar.description } else { nil }
            }
            return .string(texts.count == values.count ? texts.joined(separator: ", ") : json)
        case .map: return .string(json)
        }
    }

    private var json: String {
        switch self {
        case .none: "null"
        case .scalar(.string(let text)), .bytes(let text): Self.quoted(text)
        case .scalar(let value): value.description
        case .list(let values): "[\(values.map(\.json).joined(separator: ","))]"
        case .map(let members):
            "{\(members.map { "\(Self.quoted($0.name)):\($0.value.json)" }.joined(separator: ","))}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return writer.text
    }
}

/// A name with a value: `KeyValue` of the same file.
struct SpanAttribute: Hashable, Sendable {
    var name: String
    var value: SpanValue
}

/// The attributes of a span, an event, a link, a scope or a resource, as they came.
struct SpanAttributes: Hashable, Sendable {
    private(set) var list: [SpanAttribute] = []
    /// The number of attributes that were left out, by the sender or here.
    var droppedCount = 0

    /// Adds an attribute, as long as there is room.
    mutating func add(_ attribute: SpanAttribute) {
        guard !attribute.name.isEmpty else { return }
        if list.count < TraceRequest.attributeLimit { list.append(attribute) } else { droppedCount += 1 }
    }

    /// As facts have them. Of a name that stands twice, the last value counts.
    var flat: Attributes {
        var attributes: Attributes = [:]
        for attribute in list { if let value = attribute.value.attribute { attributes[attribute.name] = value } }
        return attributes
    }
}
