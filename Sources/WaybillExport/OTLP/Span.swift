import WaybillCore
import WaybillQueries
import WaybillStore

/// An OpenTelemetry span: https://opentelemetry.io/docs/specs/otel/trace/api/#span.
struct Span {
    /// The numbers of OTLP's `SpanKind`.
    enum Kind: Int {
        case `internal` = 1
        case server = 2
        case client = 3
        case producer = 4
        case consumer = 5
    }

    /// The numbers of OTLP's `StatusCode`.
    enum Status: Int {
        case ok = 1
        case error = 2
    }

    struct Parent {
        var id: SpanID
        /// Whether another process created it. It may arrive later, or never.
        var isRemote: Bool
    }

    struct Link {
        var trace: GUID
        var id: SpanID
        var flags: Int
    }

    struct Event {
        var name: String
        var timeMicroseconds: Int64
        var attributes: Attributes
    }

    var trace: GUID
    var id: SpanID
    /// The value of W3C's `tracestate` header field; `nil` if there is none.
    var traceState: String?
    var parent: Parent?
    var name: String
    var kind: Kind
    var startMicroseconds: Int64
    /// Microseconds since 1970, at or after the start.
    var endMicroseconds: Int64
    var attributes: Attributes
    var events: [Event] = []
    var links: [Link] = []
    /// The span received by OTLP, which is exported instead; `nil` if Waybill recorded the span.
    var original: OriginalSpan.JSON?
    var status: Status?
    var statusMessage: String?

    /// W3C's sampled flag; bits 8 and 9 say whether the parent is remote (`SpanFlags` in OTLP's trace.proto).
    var flags: Int { 0x101 | (parent?.isRemote == true ? 0x200 : 0) }
}

extension Span.Link {
    init(_ traceParent: TraceParent) {
        self.init(trace: traceParent.trace, id: traceParent.parent, flags: 0x300 | Int(traceParent.flags))
    }
}

extension Attributes {
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
    /// The error type, for example `NSURLErrorDomain:-1001` or `Shop.CheckoutError:rejected`.
    fileprivate var type: String { (domain.isEmpty ? "" : "\(domain):") + (name ?? "\(code)") }
}

extension Span {
    /// A joined part's parent is the exchange that caused it, or else the span of its request, or else the beginner's
    /// part.
    init(_ part: ClosedPart) {
        let (start, closing) = (part.openedMicroseconds, part.closed.content)
        self.init(
            trace: part.root, id: SpanID(part.id), traceState: part.traceState, parent: Self.parent(of: part),
            name: part.useCaseName,
            kind: .internal,
            startMicroseconds: start, endMicroseconds: max(start, part.time(of: part.closed)),
            attributes: part.opened.content.attributes.merging(closing.attributes) { $1 })
        attributes["waybill.use_case"] = .integer(part.opened.content.useCase)
        if part.root != part.transaction { attributes["waybill.transaction"] = .string(part.transaction.description) }
        attributes["waybill.outcome"] = .string(closing.outcome.name)
        attributes["waybill.sequence"] = .integer(part.opened.sequence)
        if let sampling = part.opened.content.sampling {
            attributes["waybill.sample_ppm"] = .integer(sampling.perMillion)
            if !sampling.isChosen { attributes["waybill.sample_kept"] = true }
        }
        attributes.add(closing.error)
        switch closing.outcome {
        case .succeeded: status = .ok
        case .failed: status = .error
        default: status = nil
        }
        statusMessage = status == .error ? closing.error?.text : nil
        events = part.events.filter { part.spans[$0.entry.sequence] == nil }.map { Event($0, in: part) }
        if let original = part.original {
            take(original)
            if let exchange = part.exchanges.first(where: part.isOwn) {
                attributes.merge(Span(exchange, of: part).attributes) { own, _ in own }
            }
        }
        if let traceParent = part.opened.content.traceParent, traceParent.parent != parent?.id {
            links = [Link(traceParent)]
        }
    }

    private static func parent(of part: ClosedPart) -> Parent? {
        guard part.opened.content.isJoined else {
            return part.parent.map { Parent(id: SpanID($0), isRemote: $0.source != part.source.id) }
        }
        // This part joined by W3C Trace Context alone, below a foreign span.
        if part.opened.content.cause == nil, let told = part.opened.content.traceParent, told.trace == part.root {
            return Parent(id: told.parent, isRemote: true)
        }
        return (part.opened.content.cause ?? part.beginner).map { Parent(id: SpanID($0), isRemote: true) }
    }
}

extension Span.Event {
    fileprivate init(_ event: ClosedPart.Event, in part: ClosedPart) {
        let (entry, content) = (event.entry, event.entry.content)
        self.init(name: event.name, timeMicroseconds: part.time(of: entry), attributes: content.attributes)
        attributes["waybill.event"] = .integer(content.code)
        attributes["waybill.sequence"] = .integer(entry.sequence)
        if entry.sequence > part.closed.sequence { attributes["waybill.late"] = true }
        attributes.add(content.error)
    }
}

extension Span {
    /// Creates the span of an exchange: https://opentelemetry.io/docs/specs/semconv/http/http-spans/.
    init(_ exchange: ClosedPart.Exchange, of part: ClosedPart) {
        let (request, answer) = (exchange.opened.content, exchange.closed.content)
        let method = Self.knownMethods.contains(request.method) ? request.method : nil
        let start = part.time(of: exchange.opened)
        self.init(
            trace: part.root, id: SpanID(part.id(of: exchange.opened)), traceState: part.traceState,
            parent: Parent(id: SpanID(part.id), isRemote: false),
            name: method ?? "HTTP", kind: request.role == .client ? .client : .server, startMicroseconds: start,
            endMicroseconds: max(start, part.time(of: exchange.closed)), attributes: Self.attributes(of: request))
        attributes["http.request.method"] = .string(method ?? "_OTHER")
        if method == nil { attributes["http.request.method_original"] = .string(request.method) }
        if let code = answer.status { attributes["http.response.status_code"] = .integer(code) }
        if let version = answer.transfer.httpVersion { attributes["network.protocol.version"] = .string(version) }
        if part.root != part.transaction { attributes["waybill.transaction"] = .string(part.transaction.description) }
        attributes["waybill.state"] = .string(answer.state.name)
        attributes["waybill.sequence"] = .integer(exchange.opened.sequence)
        // The caller's own trace context. The one that Waybill adds is not among the recorded fields.
        if request.role == .client,
            let told = request.headerFields.value(for: TraceParent.fieldName).flatMap({ TraceParent(parsing: $0) })
        {
            links = [Link(told)]
        }
        if answer.transfer.isMocked { attributes["waybill.mocked"] = true }
        if let rule = answer.transfer.rule { attributes["waybill.rule"] = .string(rule) }
        if let socket = answer.transfer.webSocket {
            attributes["network.protocol.name"] = "websocket"
            attributes["waybill.websocket.messages_sent"] = .integer(socket.sentMessageCount)
            attributes["waybill.websocket.messages_received"] = .integer(socket.receivedMessageCount)
            if socket.pingCount > 0 { attributes["waybill.websocket.pings"] = .integer(socket.pingCount) }
            if let code = socket.closeCode { attributes["waybill.websocket.close_code"] = .integer(code) }
            if let reason = socket.closeReason { attributes["waybill.websocket.close_reason"] = .string(reason) }
        }
        if Self.isError(answer, as: request.role) {
            status = .error
            statusMessage = answer.error?.text
            // "Error type" in the conventions: the status code has precedence.
            attributes.add(answer.error, type: answer.status.map { "\($0)" } ?? (answer.error == nil ? "_OTHER" : nil))
        } else {
            attributes.add(answer.error)
        }
        if let original = part.spans[exchange.opened.sequence] { take(original) }
    }

    /// The methods that the conventions list (RFC 9110, section 9, and RFC 5789).
    private static let knownMethods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
    ]

    /// "Status" in the conventions: for a server, 4xx is the client's error.
    private static func isError(_ answer: Fact.ExchangeClosed, as role: ExchangeRole) -> Bool {
        answer.state == .failed || (answer.status ?? 0) >= (role == .client ? 400 : 500)
    }

    private static func attributes(of request: Fact.ExchangeOpened) -> Attributes {
        var attributes: Attributes = [:]
        if let host = request.host { attributes["server.address"] = .string(host) }
        if let port = request.port ?? request.scheme.flatMap({ ["http": 80, "https": 443][$0] }) {
            attributes["server.port"] = .integer(port)
        }
        switch request.role {
        case .client: attributes["url.full"] = .string(request.url)
        case .server:
            attributes["url.path"] = .string(request.path)
            if let scheme = request.scheme { attributes["url.scheme"] = .string(scheme) }
            if let query = request.query { attributes["url.query"] = .string(query) }
        }
        return attributes
    }
}

extension Span {
    /// Restores a span that was received by OTLP and stored as an event.
    init(_ event: ClosedPart.Event, as original: OriginalSpan, of part: ClosedPart) {
        let (start, content) = (part.time(of: event.entry), event.entry.content)
        var (attributes, duration) = (content.attributes, Int64(0))
        if case .integer(let microseconds) = attributes["duration_us"] { duration = microseconds }
        attributes["duration_us"] = nil
        self.init(
            trace: part.root, id: original.id, traceState: part.traceState, name: event.name, kind: .internal,
            startMicroseconds: start, endMicroseconds: start + max(0, duration), attributes: attributes)
        self.attributes["waybill.event"] = .integer(content.code)
        self.attributes["waybill.sequence"] = .integer(event.entry.sequence)
        self.attributes.add(content.error)
        if content.error != nil {
            status = .error
            statusMessage = content.error?.text
        }
        take(original)
    }

    mutating func take(_ original: OriginalSpan) {
        (id, parent, kind) = (original.id, original.parent, original.kind ?? kind)
        self.original = original.json
    }
}

extension SourceIdentity {
    /// The resource of a source, with the app's own attributes: https://opentelemetry.io/docs/specs/semconv/resource/.
    var resource: Attributes {
        var resource = attributes
        // The conventions require a name, with this fallback.
        resource["service.name"] = .string(app.isEmpty ? "unknown_service" : app)
        resource["service.instance.id"] = .string(id.description)
        let texts = [
            ("service.version", appVersion), ("os.name", os), ("os.version", osVersion),
            ("device.model.identifier", device),
            ("app.installation.id", installation?.description ?? ""),
        ]
        for (name, text) in texts where !text.isEmpty { resource[name] = .string(text) }
        if let type = Self.osTypes[os.lowercased()] { resource["os.type"] = .string(type) }
        return resource
    }

    private static let osTypes = [
        "linux": "linux", "android": "linux", "windows": "windows", "macos": "darwin", "ios": "darwin",
        "ipados": "darwin",
        "tvos": "darwin", "watchos": "darwin", "visionos": "darwin",
    ]
}

extension Fact.Sampling {
    /// Returns `tracestate`: https://opentelemetry.io/docs/specs/otel/trace/tracestate-probability-sampling/.
    ///
    /// Backends use it to weight a sampled span. `th` is the rejection threshold: 0 for transactions kept because of
    /// their end. `rv` is the root's place among a million, since that decides sampling, and not the trace ID.
    ///
    /// - Returns: `nil` if the threshold would be wrong, for a dropped transaction or an unknown root.
    func traceState(root: GUID, outcome: TransactionOutcome, tookMicroseconds microseconds: Int64) -> String? {
        let isKept = isKept(for: outcome, tookMicroseconds: microseconds)
        guard isChosen || isKept, root.isChosen(perMillion: perMillion) == isChosen else { return nil }
        let random = Self.threshold(perMillion: root.samplingPlace + 1)
        let threshold = isKept ? 0 : Self.threshold(perMillion: perMillion)
        // Both have 56 bits.
        var digits = threshold.hexadecimalDigits.dropFirst(2)
        while digits.count > 1, digits.last == "0" { digits.removeLast() }
        return "ot=th:\(digits);rv:\(random.hexadecimalDigits.dropFirst(2))"
    }

    /// Returns the rejection threshold of 56 bits for a sampling rate.
    private static func threshold(perMillion: Int) -> UInt64 {
        let (all, million) = (UInt64(1) << 56, UInt64(Self.million))
        let product = all.multipliedFullWidth(by: UInt64(min(max(0, perMillion), Self.million)))
        // A rate of 0 has the largest 56-bit number.
        return min(all - million.dividingFullWidth(product).quotient, all - 1)
    }
}
