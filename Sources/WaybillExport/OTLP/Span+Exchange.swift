import WaybillCore

extension Span {
    /// An exchange as a span, by the stable semantic conventions:
    /// https://opentelemetry.io/docs/specs/semconv/http/http-spans/.
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
        // What was there before, the caller's own: ours is not among the fields that are recorded.
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
            // The status code says it, where one came: "Error type", same place.
            attributes.add(answer.error, type: answer.status.map { "\($0)" } ?? (answer.error == nil ? "_OTHER" : nil))
        } else {
            attributes.add(answer.error)
        }
        if let original = part.spans[exchange.opened.sequence] { take(original) }
    }

    /// Those of RFC 9110, section 9, and RFC 5789: the list of the conventions.
    private static let knownMethods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
    ]

    /// "Status", same place: for a server, a 4xx is the client's error.
    private static func isError(_ answer: Fact.ExchangeClosed, as role: Fact.Role) -> Bool {
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
