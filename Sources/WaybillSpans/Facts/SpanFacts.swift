package import WaybillCore

/// The redacted facts of a span, in part 1 and use case 0. They begin at 2, or at 1 if the span opens the part.
struct SpanFacts {
    private(set) var facts: [Fact] = []
    private(set) var names: [RecordedName] = []
    let isPart: Bool

    /// The attribute for the duration of an internal span, in microseconds.
    static let duration = "duration_us"

    init(_ span: ReceivedSpan, isPart: Bool, redactor: Redactor) {
        self.isPart = isPart
        let attributes = span.attributes.flat
        let error = span.error
        let exchange = SpanExchange(span, attributes, error: error, redactor: redactor)
        var rest = exchange == nil ? attributes : attributes.filter { !SpanExchange.isPart($0.key) }
        for (index, link) in span.links.prefix(TraceRequest.linkLimit).enumerated() {
            rest["link.\(index + 1)"] = .string(link.text)
        }
        let name = redactor.label(span.name.isEmpty ? "unnamed" : span.name)
        if isPart {
            let code = NameCode.code(of: name)
            names.append(RecordedName(useCase: code, name: name))
            append(
                .opened(
                    Fact.Opened(
                        transaction: span.transaction, useCase: code, isJoined: span.parent != nil, attributes: rest)),
                at: span.startMicroseconds, redactor)
        }
        if let exchange {
            append(.exchangeOpened(exchange.opened), at: span.startMicroseconds, redactor)
            var closed = exchange.closed
            closed.exchange = facts[facts.count - 1].sequence
            append(.exchangeClosed(closed), at: span.endMicroseconds, redactor)
        }
        if !isPart, exchange == nil || !rest.isEmpty {
            rest[Self.duration] = .integer(span.endMicroseconds - span.startMicroseconds)
            let error = span.hasFailed && exchange == nil ? error ?? .unknown : nil
            append(name, error, rest, at: span.startMicroseconds, redactor)
        }
        for event in span.events {
            let isException = event.name == "exception"
            let attributes = event.attributes.flat.filter { !isException || !$0.key.hasPrefix("exception.") }
            append(
                redactor.label(event.name.isEmpty ? "unnamed" : event.name),
                isException ? event.exception ?? .unknown : nil, attributes,
                at: event.nanoseconds >= 1000 ? event.nanoseconds.microseconds : span.startMicroseconds, redactor)
        }
        if isPart {
            let error = span.hasFailed && exchange?.closed.error == nil ? error : nil
            append(
                .closed(Fact.Closed(outcome: span.hasFailed ? .failed : .succeeded, error: error)),
                at: span.endMicroseconds, redactor)
        }
    }

    init(waiting bytes: [UInt8]) {
        isPart = false
        guard let share = try? TransactionSet.decode(bytes).sources.first else { return }
        (facts, names) = (share.facts, share.names)
    }

    /// A part for spans whose root never arrived.
    init(partOf transaction: GUID, named name: String, during times: ClosedRange<Int64>) {
        isPart = true
        let code = NameCode.code(of: name)
        names = [RecordedName(useCase: code, name: name)]
        facts = [
            Fact(
                sequence: 1, part: 1, atMicroseconds: times.lowerBound,
                content: .opened(Fact.Opened(transaction: transaction, useCase: code, isJoined: true))),
            Fact(
                sequence: 2, part: 1, atMicroseconds: times.upperBound,
                content: .closed(Fact.Closed(outcome: .abandoned))),
        ]
    }

    var encoded: [UInt8] {
        let id = GUID(high: 0, low: 0)
        let share = TransactionSet.Share(
            source: SourceIdentity(id: id), clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)],
            names: names, facts: facts)
        return TransactionSet(id: id, sources: [share]).encoded()
    }

    private mutating func append(
        _ name: String, _ error: RecordedError?, _ attributes: Attributes, at time: Int64, _ redactor: Redactor
    ) {
        let code = NameCode.code(of: name)
        if !names.contains(where: { $0.event == code }) {
            names.append(RecordedName(useCase: 0, event: code, name: name))
        }
        append(.event(Fact.Event(code: code, error: error, attributes: attributes)), at: time, redactor)
    }

    private mutating func append(_ content: Fact.Content, at time: Int64, _ redactor: Redactor) {
        let fact = Fact(
            sequence: Int64(facts.count + (isPart ? 1 : 2)), part: 1, atMicroseconds: time, content: content)
        facts.append(fact.redacted(by: redactor))
    }
}

extension RecordedError {
    /// OTLP's `STATUS_CODE_ERROR` without any details.
    fileprivate static let unknown = RecordedError(domain: "opentelemetry", code: 2)
}

extension ReceivedSpan {
    /// The last exception, else the error's type, else the status message; `nil` without a failure or its details.
    fileprivate var error: RecordedError? {
        guard hasFailed else { return nil }
        if let exception = events.last(where: { $0.name == "exception" })?.exception { return exception }
        let text = statusMessage.isEmpty ? nil : statusMessage
        if let type = attributes.flat.text("error.type"), Int(type) == nil {
            return RecordedError(type: type, text: text)
        }
        return text.map { RecordedError(domain: "opentelemetry", code: 2, text: $0) }
    }
}

extension ReceivedSpan.Event {
    /// Follows the semantic conventions for exceptions, but omits the stack, which may contain secrets.
    fileprivate var exception: RecordedError? {
        let attributes = attributes.flat
        return attributes.text("exception.type").map {
            RecordedError(type: $0, text: attributes.text("exception.message"))
        }
    }
}

extension RecordedError {
    /// Splits `requests.exceptions.ConnectionError` into a domain and a name.
    fileprivate init(type: String, text: String?) {
        let parts = type.split(separator: ".", omittingEmptySubsequences: false)
        self.init(
            domain: parts.dropLast().joined(separator: "."), code: 0, name: parts.last.map(String.init) ?? type,
            text: text)
    }
}

/// A span as an exchange, by the semantic conventions for HTTP and RPC, and by their forms before they were stable.
struct SpanExchange {
    var opened: Fact.ExchangeOpened
    var closed: Fact.ExchangeClosed

    /// `nil` unless it is a client or server span with an HTTP or RPC method.
    init?(_ span: ReceivedSpan, _ attributes: Attributes, error: RecordedError?, redactor: Redactor) {
        let role: ExchangeRole
        switch span.kind {
        case .client: role = .client
        case .server: role = .server
        case .internal, .producer, .consumer: return nil
        }
        guard let request = SpanRequest(attributes, role) else { return nil }
        opened = redactor.url(request.url ?? request.target ?? attributes.text("http.route") ?? "")
        opened.role = role
        opened.method = redactor.method(attributes.text("http.request.method_original") ?? request.method)
        if opened.host == nil, let authority = request.authority {
            let address = redactor.url("//\(authority)")
            (opened.host, opened.port) = (address.host, address.port)
        }
        opened.host = opened.host.map { redactor.label($0) }
        opened.scheme = (opened.scheme ?? request.scheme).map { redactor.label($0) }
        opened.headerFields = Self.headerFields(of: attributes, "http.request.header.")
        // The exchange gets its number later.
        closed = Fact.ExchangeClosed(exchange: 0, state: .completed)
        closed.status = attributes.responseStatus
        let (asked, answered) = (attributes.requestByteCount, attributes.responseByteCount)
        (closed.sentByteCount, closed.receivedByteCount) = role == .client ? (asked, answered) : (answered, asked)
        closed.headerFields = Self.headerFields(of: attributes, "http.response.header.")
        closed.transfer.httpVersion = attributes.text("network.protocol.version", "http.flavor")
        if span.hasFailed, closed.status == nil {
            closed.state = .failed
            closed.error = Self.rpcError(of: attributes) ?? error
        } else if span.hasFailed {
            closed.error = error
        }
    }

    /// Whether an attribute repeats the exchange or describes its peer.
    static func isPart(_ name: String) -> Bool {
        ["http.", "url.", "server.", "client.", "network.", "net.", "user_agent.", "rpc.", "thread.", "error.type"]
            .contains { name.hasPrefix($0) }
    }

    private static func rpcError(of attributes: Attributes) -> RecordedError? {
        if let code = attributes.rpcCode { return GRPCStatus.error(code) }
        return attributes.text("rpc.response.status_code").map {
            RecordedError(domain: GRPCStatus.domain, code: 0, name: $0)
        }
    }

    private static func headerFields(of attributes: Attributes, _ prefix: String) -> [HeaderField] {
        attributes.filter { $0.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }.map {
            HeaderField(name: String($0.key.dropFirst(prefix.count)), value: $0.value.description)
        }
    }
}

/// The source of a resource. Its ID is a hash of the resource's identity, the token, and a secret of the store.
/// So nobody can predict the ID, and a client with another token can't send as this service.
struct SpanSource {
    let recorded: SourceIdentity
    let proof: IdentityProof?

    init(_ resource: Attributes, sentBy sender: String, _ writer: SpanWriter, redactor: Redactor) {
        let names = ["service.namespace", "service.name", "service.instance.id"]
        // These identify an instance of a service. Without an instance ID, all attributes do.
        let identity =
            resource.text("service.instance.id") == nil
            ? resource.map { "\($0.key)=\($0.value)" }.sorted() : names.map { resource.text($0) ?? "" }
        var message = writer.key
        for text in [sender] + identity {
            message += Array("\(text.utf8.count):".utf8) + Array(text.utf8)
        }
        let id = SHA256.hash(message).withUnsafeBytes { GUID(bytes: UnsafeRawBufferPointer(rebasing: $0[..<16])) }
        var source = SourceIdentity(id: GUID(high: id?.high ?? 0, low: (id?.low ?? 0) ^ writer.number))
        source.app = redactor.label(resource.text("service.name") ?? "unknown_service")
        source.appVersion = redactor.label(resource.text("service.version") ?? "")
        source.device = redactor.label(resource.text("device.model.identifier", "host.arch") ?? "")
        source.os = redactor.label(resource.text("os.name", "os.type") ?? "")
        source.osVersion = redactor.label(resource.text("os.version") ?? "")
        let told: Set = [
            "service.name", "service.version", "device.model.identifier", "host.arch", "os.name", "os.type",
            "os.version",
        ]
        source.attributes = redactor.attributes(resource.filter { !told.contains($0.key) }).0
        recorded = source
        proof = writer.proof(of: source.id)
    }
}

/// Each process that writes to a database has its own sources, because it numbers their facts.
package struct SpanWriter: Sendable {
    /// The secret of the store.
    let key: [UInt8]
    /// 0 for the only writer.
    let number: UInt64

    package init(key: [UInt8], number: UInt64 = 0) { (self.key, self.number) = (key, number) }

    var isOneOfMany: Bool { number != 0 }

    /// The store's proof for a source, without which no set can name the source.
    func proof(of source: GUID) -> IdentityProof? {
        let digest = SHA256.hash(key + Array(source.description.utf8))
        return IdentityProof(digest.map { String($0, radix: 16) }.joined())
    }
}

extension TraceRequest {
    package func places(
        sentBy sender: String, by writer: SpanWriter, redactor: Redactor
    ) -> (transactions: Set<GUID>, sources: Set<GUID>) {
        let sources = resources.map {
            SpanSource($0.attributes, sentBy: sender, writer, redactor: redactor).recorded.id
        }
        return (Set(resources.flatMap(\.spans).map(\.transaction)), Set(sources))
    }
}
