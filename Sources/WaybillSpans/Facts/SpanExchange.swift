import WaybillCore

/// A span as an exchange, where its attributes say that it is one: by the semantic conventions for HTTP and for RPC, as
/// they are now and as they were before they were stable.
struct SpanExchange {
    var opened: Fact.ExchangeOpened
    var closed: Fact.ExchangeClosed

    /// nil where the span is neither a client's nor a server's, or names neither a method of HTTP nor one of RPC.
    init?(_ span: ReceivedSpan, error: RecordedError?, redactor: Redactor) {
        let role: Fact.Role
        switch span.kind {
        case .client: role = .client
        case .server: role = .server
        case .internal, .producer, .consumer: return nil
        }
        let attributes = span.attributes
        if let method = attributes.text("http.request.method", "http.method") {
            opened = Fact.ExchangeOpened(
                role: role, method: attributes.text("http.request.method_original") ?? method, path: "")
            let target = Self.target(of: attributes)
            let url = redactor.url(target)
            (opened.path, opened.query) = (url.path, url.query)
            opened.scheme = url.scheme ?? attributes.text("url.scheme", "http.scheme")
            opened.host = url.host
            opened.port = url.port
        } else if let method = Self.rpcMethod(of: attributes) {
            opened = Fact.ExchangeOpened(role: role, method: "POST", path: method)
        } else {
            return nil
        }
        if opened.host == nil {
            opened.host = attributes.text("server.address", "http.host", "net.host.name", "net.peer.name")
            let port = attributes.number("server.port", "net.host.port", "net.peer.port")
            opened.port = opened.port ?? port.flatMap { Int(exactly: $0) }
        }
        opened.method = redactor.method(opened.method)
        opened.host = opened.host.map { redactor.label($0) }
        opened.scheme = opened.scheme.map { redactor.label($0) }
        opened.headerFields = Self.headerFields(of: attributes, "http.request.header.")
        // The exchange's own place is given when it is numbered.
        closed = Fact.ExchangeClosed(exchange: 0, state: .completed)
        closed.status = attributes.number("http.response.status_code", "http.status_code").flatMap {
            (100...999).contains($0) ? Int($0) : nil
        }
        closed.sentByteCount = attributes.count(
            role == .client
                ? ["http.request.body.size", "http.request_content_length"]
                : ["http.response.body.size", "http.response_content_length"])
        closed.receivedByteCount = attributes.count(
            role == .client
                ? ["http.response.body.size", "http.response_content_length"]
                : ["http.request.body.size", "http.request_content_length"])
        closed.headerFields = Self.headerFields(of: attributes, "http.response.header.")
        closed.transfer.httpVersion = attributes.text("network.protocol.version", "http.flavor")
        if span.hasFailed, closed.status == nil {
            closed.state = .failed
            closed.error = Self.rpcError(of: attributes) ?? error
        } else if span.hasFailed {
            closed.error = error
        }
    }

    /// Attributes that only say what an exchange says, or who was on the other side of it.
    static func isPart(_ name: String) -> Bool {
        ["http.", "url.", "server.", "client.", "network.", "net.", "user_agent.", "rpc.", "thread.", "error.type"]
            .contains { name.hasPrefix($0) }
    }

    private static func target(of attributes: Attributes) -> String {
        if let url = attributes.text("url.full", "http.url") { return url }
        if let path = attributes.text("url.path") {
            return attributes.text("url.query").map { "\(path)?\($0)" } ?? path
        }
        return attributes.text("http.target", "http.route") ?? ""
    }

    /// As gRPC has it on the wire: `/shop.Orders/Create`.
    private static func rpcMethod(of attributes: Attributes) -> String? {
        guard attributes.text("rpc.system.name", "rpc.system") != nil, let method = attributes.text("rpc.method") else {
            return nil
        }
        return attributes.text("rpc.service").map { "/\($0)/\(method)" } ?? "/\(method)"
    }

    private static func rpcError(of attributes: Attributes) -> RecordedError? {
        if let code = attributes.number("rpc.grpc.status_code") { return GRPCStatus.error(Int(clamping: code)) }
        guard let name = attributes.text("rpc.response.status_code") else { return nil }
        return GRPCStatus.code(named: name).map(GRPCStatus.error)
            ?? RecordedError(domain: GRPCStatus.domain, code: 0, name: name)
    }

    private static func headerFields(of attributes: Attributes, _ prefix: String) -> [Fact.HeaderField] {
        attributes.filter { $0.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }.map {
            Fact.HeaderField(name: String($0.key.dropFirst(prefix.count)), value: $0.value.description)
        }
    }
}

extension Attributes {
    /// The first of these that there is and that is no empty text.
    func text(_ names: String...) -> String? {
        for name in names {
            if let text = self[name]?.description, !text.isEmpty { return text }
        }
        return nil
    }

    fileprivate func number(_ names: String...) -> Int64? { number(of: names) }

    fileprivate func count(_ names: [String]) -> Int64? {
        number(of: names).flatMap { (0...Limits.largestInteger).contains($0) ? $0 : nil }
    }

    private func number(of names: [String]) -> Int64? {
        for name in names {
            switch self[name] {
            case .integer(let value): return value
            case .string(let text): if let value = Int64(text) { return value }
            case .double, .bool, nil: break
            }
        }
        return nil
    }
}

extension Redactor {
    /// A name, without secrets and within the limits.
    func label(_ text: String) -> String {
        let text = self.text(text)
        return text.cut(to: Limits.labelLength) ?? text
    }
}
