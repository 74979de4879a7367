import Foundation
public import WaybillCore

// Recording exchanges of HTTP stacks that the library does not know.
extension TransactionManager {
    /// Records that a request of the current transaction is about to be sent; outside of one, it belongs to none.
    ///
    /// - Parameters:
    ///   - request: As the caller has it.
    ///   - traceContext: Whether ``ExchangeRecorder/headers`` has W3C's `traceparent`; nil: as ``Options/traceContext``
    ///     says.
    /// - Returns: What to tell of the rest.
    public func openExchange(_ request: ExchangeRequest, traceContext: TraceContextPolicy? = nil) -> ExchangeRecorder {
        sources.openExchange(request, part: TransactionScope.innermost, traceContext: traceContext)
    }

    /// As ``openExchange(_:traceContext:)``, for a transaction that is not the current one.
    public func openExchange<Event>(
        _ request: ExchangeRequest, in transaction: UseCaseTransaction<Event>, traceContext: TraceContextPolicy? = nil
    ) -> ExchangeRecorder {
        sources.openExchange(request, part: transaction.part, traceContext: traceContext)
    }

    /// Records that a request of a joined transaction has come in: the server's side of an exchange.
    ///
    /// ```swift
    /// guard let transaction = transactions.join(header: { request.headers[$0] }) else { return try await next(request) }
    /// let exchange = transactions.openServerExchange(method: request.method, target: request.target, in: transaction)
    /// let response = try await transaction.makingCurrent { try await next(request) }
    /// exchange.responded(ExchangeResponse(status: response.status))
    /// exchange.finish()
    /// transaction.finish(response.status < 500 ? .succeeded : .failed)
    /// ```
    ///
    /// Secrets are taken out. Bodies are not kept. A part has one such exchange: of two middlewares that take the same
    /// request, the second one's records nothing.
    ///
    /// - Parameters:
    ///   - method: `GET`, `POST`.
    ///   - authority: Host and port that the client asked for, as in `Host` or `:authority`; nil where it named none.
    ///   - target: Path and query as they came: `/login?step=1`.
    ///   - headerFields: In order, as far as the HTTP stack keeps it.
    ///   - transaction: The one that was joined.
    /// - Returns: What to tell of the rest; the client's ``ExchangeRecorder/headers`` have no counterpart here.
    public func openServerExchange<Event>(
        method: String, authority: String? = nil, target: String, headerFields: [HeaderField] = [],
        in transaction: UseCaseTransaction<Event>
    ) -> ExchangeRecorder {
        guard let source = transaction.part.source, transaction.part.takesServerExchange() else {
            return ExchangeRecorder()
        }
        let request = RecordingDraft.ExchangeOpened(
            transaction: transaction.id, role: .server, method: method, url: "//\(authority ?? "")\(target)",
            headerFields: headerFields)
        return ExchangeRecorder(request, part: transaction.part, source: source)
    }
}

extension SourceRegistry {
    /// Opens an exchange of a client, in a part or outside any transaction; nothing is recorded, and nothing to be
    /// added, while recording is off. One that the options leave out is tied to its transaction all the same.
    package func openExchange(
        _ request: ExchangeRequest, part: OpenPart?, traceContext: TraceContextPolicy? = nil
    ) -> ExchangeRecorder {
        guard let source = source(of: part), !ExchangeRecorder.isSending else { return ExchangeRecorder() }
        let headers = { [self] (exchange: Int64?) in
            self.headers(for: request, part: part, exchange: exchange, of: source, traceContext)
        }
        guard source.settings.network.logs(request) else { return ExchangeRecorder(headers: headers(nil)) }
        if let part { part.noteLateUse() } else { noteOutside(request, of: source) }
        let keeper = source.bodies.flatMap { $0.policy.wants(request, of: part?.transaction) ? $0 : nil }
        return ExchangeRecorder(
            RecordingDraft.ExchangeOpened(request, transaction: part?.transaction), part: part, source: source,
            bodies: { exchange, asked in
                keeper.map {
                    BodyTaps(of: request, part: part?.sequence ?? 0, exchange: exchange, asked: asked, keeper: $0)
                }
            },
            headers: headers)
    }

    /// Counts a request that belongs to no transaction, although the developer probably meant one.
    private func noteOutside(_ request: ExchangeRequest, of source: SourceRecorder) {
        let fields = source.settings.header.fieldNames
        guard source.correlates(with: request.url), fields.allSatisfy({ request.value(for: $0) == nil }) else { return }
        if TransactionScope.noteEnded(where: { _ in true }) { return }
        if let useCase = context.latestBegun() { source.note(.requestOutside, about: useCase) }
    }

    /// What ties a request to its transaction, where it is to be tied.
    private func headers(
        for request: ExchangeRequest, part: OpenPart?, exchange: Int64?, of source: SourceRecorder,
        _ traceContext: TraceContextPolicy?
    ) -> [String: String] {
        guard let part, part.source === source, !part.isWithheld else { return [:] }
        let header = source.settings.header
        guard source.correlates(with: request.url) else {
            noteUncorrelated(
                "A request to \(request.url.host() ?? "nowhere") inside a transaction carried no \(header.name) header field; add the host to "
                    + "correlatedHosts if it is yours.")
            return [:]
        }
        let isFree = header.fieldNames.allSatisfy { request.value(for: $0) == nil }
        var fields = isFree ? part.headerFields(exchange: exchange, as: header) : [:]
        guard (traceContext ?? source.settings.traceContext) != .off,
            request.value(for: TraceParent.fieldName) == nil
        else { return fields }
        for (name, value) in part.traceFields(exchange: exchange) where request.value(for: name) == nil {
            fields[name] = value
        }
        return fields
    }
}

extension Fact.ExchangeOpened {
    /// What is kept of a request: redacted, within the limits, and of its header fields those that are wanted.
    init(_ request: RecordingDraft.ExchangeOpened, settings: RecordingSettings) {
        let redactor = settings.redactor
        let address = redactor.url(request.url)
        self.init(
            role: request.role, method: redactor.method(request.method), scheme: address.scheme, host: address.host,
            port: address.port, path: address.path, query: address.query,
            headerFields: redactor.headerFields(settings.network.headers.applied(to: request.headerFields)))
    }
}
