package import WaybillCore

/// A span as a service sent it, in either encoding: https://opentelemetry.io/docs/specs/otel/trace/api/#span.
package struct ReceivedSpan: Hashable, Sendable {
    /// The values of OTLP's `SpanKind`.
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
    /// `nil` if the span begins its trace.
    package var parent: SpanID?
    var traceState = ""
    var flags = 0
    var kindNumber = 0
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
    /// `InstrumentationScope` of common.proto.
    var scope = Scope()

    init(transaction: GUID, id: SpanID) { (self.transaction, self.id) = (transaction, id) }

    struct Event: Hashable, Sendable {
        var nanoseconds: UInt64 = 0
        var name = ""
        var attributes = SpanAttributes()
    }

    struct Link: Hashable, Sendable {
        var trace: GUID?
        var span: SpanID?
        var traceState = ""
        var flags = 0
        var attributes = SpanAttributes()

        /// The value of a header field `traceparent` (W3C Trace Context, section 3.2).
        var text: String { "00-\(trace?.traceID ?? "")-\(span?.description ?? "")-01" }
    }

    struct Scope: Hashable, Sendable {
        var name = ""
        var version = ""
        var attributes = SpanAttributes()
    }

    var kind: Kind { Kind(rawValue: kindNumber) ?? .internal }
    package var startMicroseconds: Int64 { startNanoseconds.microseconds }
    var endMicroseconds: Int64 { max(startMicroseconds, endNanoseconds.microseconds) }
    var hasFailed: Bool { statusCode == 2 }

    /// Whether the parent is in another process; `nil` if the sender is too old to report it.
    var isParentRemote: Bool? {
        // opentelemetry/proto/trace/v1/trace.proto, `SpanFlags`: bit 8 says whether bit 9 is valid.
        flags & 0x100 == 0 ? nil : flags & 0x200 != 0
    }

    /// Whether it opens a part, because it has no parent in its process.
    package var isRoot: Bool {
        guard parent != nil else { return true }
        return isParentRemote ?? (kind == .server || kind == .consumer)
    }

    mutating func add(_ event: Event) {
        if events.count < TraceRequest.eventLimit { events.append(event) } else { droppedEventCount += 1 }
    }

    /// Ignores a link without IDs.
    mutating func add(_ link: Link) {
        guard link.trace != nil, link.span != nil else { return }
        if links.count < TraceRequest.eventLimit { links.append(link) } else { droppedLinkCount += 1 }
    }
}

package struct ReceivedResource: Hashable, Sendable {
    package var attributes: Attributes = [:]
    package var spans: [ReceivedSpan] = []
}

/// The body of a request to `/v1/traces`: `ExportTraceServiceRequest` of
/// opentelemetry/proto/collector/trace/v1/trace_service.proto.
package struct TraceRequest: Hashable, Sendable {
    package var resources: [ReceivedResource] = []
    /// The number of invalid spans, by reason.
    package var faults: [String: Int] = [:]
    /// The number of received spans and span events, including those beyond the limit.
    package var itemCount = 0

    /// Attributes per span, event or resource: the default of SDKs.
    static let attributeLimit = 128
    /// Events per span: the default of SDKs.
    static let eventLimit = 128
    static let linkLimit = 8
    package static let resourceLimit = Limits.sources

    mutating func add(_ span: Result<ReceivedSpan, SpanFault>, to resource: inout ReceivedResource, limit: Int) {
        itemCount += 1
        switch span {
        case .success(let span):
            itemCount += span.events.count
            if itemCount <= limit { resource.spans.append(span) }
        case .failure(let fault):
            itemCount += fault.eventCount
            if itemCount <= limit { faults[fault.reason, default: 0] += 1 }
        }
    }
}

struct SpanFault: Error {
    var reason: String
    var eventCount = 0
}

extension UInt64 {
    /// Converts nanoseconds, to at most 2^53 - 1.
    var microseconds: Int64 { Int64(Swift.min(self / 1000, UInt64(Limits.largestInteger))) }
}

extension GUID {
    /// `nil` unless it is 16 bytes that are not all zero.
    init?(traceID bytes: [UInt8]) {
        guard let guid = bytes.withUnsafeBytes({ GUID(bytes: $0) }), guid.traceID != nil else { return nil }
        self = guid
    }
}

/// The value of an attribute, possibly nested: `AnyValue` of opentelemetry/proto/common/v1/common.proto.
indirect enum SpanValue: Hashable, Sendable {
    case none
    case scalar(AttributeValue)
    case bytes(String)
    case list([SpanValue])
    case map([SpanAttribute])

    static let depthLimit = 8
    static let limit = 128

    /// The value of a fact's attribute: lists of plain values are separated by commas, and maps are JSON.
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

/// `KeyValue` of common.proto.
struct SpanAttribute: Hashable, Sendable {
    var name: String
    var value: SpanValue
}

struct SpanAttributes: Hashable, Sendable {
    private(set) var list: [SpanAttribute] = []
    var droppedCount = 0

    mutating func add(_ attribute: SpanAttribute) {
        guard !attribute.name.isEmpty else { return }
        if list.count < TraceRequest.attributeLimit { list.append(attribute) } else { droppedCount += 1 }
    }

    /// The attributes of facts. If a name is repeated, its last value counts.
    var flat: Attributes {
        var attributes: Attributes = [:]
        for attribute in list { if let value = attribute.value.attribute { attributes[attribute.name] = value } }
        return attributes
    }
}
