import WaybillCore

/// A span of OpenTelemetry: https://opentelemetry.io/docs/specs/otel/trace/api/#span.
struct Span {
    /// The numbers of OTLP's `SpanKind`.
    enum Kind: Int {
        case `internal` = 1
        case server = 2
        case client = 3
        case producer = 4
        case consumer = 5
    }

    /// The numbers of OTLP's `StatusCode`; what is neither stays unset.
    enum Status: Int {
        case ok = 1
        case error = 2
    }

    struct Parent {
        var id: SpanID
        /// Whether another process made it: it may come later, or never.
        var isRemote: Bool
    }

    /// A span of another trace, or one further up in this, that has to do with it.
    struct Link {
        var trace: GUID
        var id: SpanID
        var flags: Int
    }

    /// Something that happened during it.
    struct Event {
        var name: String
        var timeMicroseconds: Int64
        var attributes: Attributes
    }

    var trace: GUID
    var id: SpanID
    /// What W3C's header field of that name would say; nil: nothing.
    var traceState: String?
    /// nil: the trace begins with it.
    var parent: Parent?
    var name: String
    var kind: Kind
    /// Microseconds since 1970.
    var startMicroseconds: Int64
    /// Microseconds since 1970, not before the start.
    var endMicroseconds: Int64
    var attributes: Attributes
    var events: [Event] = []
    var links: [Link] = []
    /// The span as it came by OTLP, which is written in place of what was made of its facts; `nil` if it was recorded by
    /// Waybill.
    var original: OriginalSpan?
    /// nil: unset.
    var status: Status?
    /// Why it failed; nil where nothing was said.
    var statusMessage: String?

    /// W3C's flag for sampled, and in bits 8 and 9 whether the parent is remote
    /// (opentelemetry/proto/trace/v1/trace.proto, `SpanFlags`).
    var flags: Int { 0x101 | (parent?.isRemote == true ? 0x200 : 0) }
}

extension Span.Link {
    /// As the bits of a span have it: it was recorded elsewhere.
    init(_ traceParent: TraceParent) {
        self.init(trace: traceParent.trace, id: traceParent.parent, flags: 0x300 | Int(traceParent.flags))
    }
}

extension Attributes {
    /// What went wrong, under the names of the semantic conventions where these have some.
    mutating func add(_ error: RecordedError?, type: String? = nil) {
        guard let error else {
            if let type { self["error.type"] = .string(type) }
            return
        }
        self["error.type"] = .string(type ?? error.type)
        self["waybill.error.code"] = .integer(error.code)
        if !error.domain.isEmpty { self["waybill.error.domain"] = .string(error.domain) }
        if let name = error.name { self["waybill.error.name"] = .string(name) }
        if !error.underlying.isEmpty { self["waybill.error.causes"] = .string(Words.causes(of: error)) }
        if let text = error.text { self["waybill.error.text"] = .string(text) }
    }
}

extension RecordedError {
    /// `NSURLErrorDomain:-1001`, `Shop.CheckoutError:rejected`; `3` for a bare number.
    fileprivate var type: String { (domain.isEmpty ? "" : "\(domain):") + (name ?? "\(code)") }
}
