import Foundation
public import WaybillCore

extension TransactionManager {
    /// Records that a request of a transaction is about to be sent. The transaction defaults to the current one, if
    /// there is one. A `traceContext` of `nil` uses ``Options/Server-swift.struct/traceContext``.
    public func openExchange(
        _ request: ExchangeRequest, in transaction: (any TransactionHandle)? = nil,
        traceContext: TraceContextPolicy? = nil
    ) -> ExchangeRecorder {
        sources.openExchange(request, part: transaction.part, traceContext: traceContext)
    }

    /// Records an incoming request of a joined transaction: the server's side of an exchange.
    ///
    /// ```swift
    /// guard let transaction = transactions.join(header: { request.headers[$0] }) else { return try await next(request) }
    /// let exchange = transactions.openServerExchange(method: request.method, target: request.target, in: transaction)
    /// let response = try await transaction.withCurrent { try await next(request) }
    /// exchange.responded(ExchangeResponse(status: response.status))
    /// exchange.finish()
    /// transaction.finish(response.status < 500 ? .succeeded : .failed)
    /// ```
    ///
    /// The request is redacted, and bodies are not stored. Only the first exchange of a part is recorded. `authority`
    /// is the requested host and port, and `target` is the path and query, such as `/login?step=1`.
    public func openServerExchange(
        method: String, authority: String? = nil, target: String, headerFields: [HeaderField] = [],
        in transaction: any TransactionHandle
    ) -> ExchangeRecorder {
        let part = transaction.untyped.part
        guard let source = part.source, part.takesServerExchange() else { return ExchangeRecorder() }
        let request = RecordingDraft.ExchangeOpened(
            transaction: part.transaction, role: .server, method: method, url: "//\(authority ?? "")\(target)",
            headerFields: headerFields)
        return ExchangeRecorder(request, part: part, source: source)
    }
}

extension SourceRegistry {
    /// A request that the options exclude still gets the header fields.
    package func openExchange(
        _ request: ExchangeRequest, part: OpenPart?, traceContext: TraceContextPolicy? = nil
    ) -> ExchangeRecorder {
        guard let source = source(of: part), !ExchangeRecorder.isSending else { return ExchangeRecorder() }
        let headers = { [self] (exchange: Int64?) in
            self.headers(for: request, part: part, exchange: exchange, of: source, traceContext)
        }
        guard source.settings.options.network.logs(request) else { return ExchangeRecorder(headers: headers(nil)) }
        if let part { part.noteLateUse() } else { noteOutside(request, of: source) }
        let keeper = source.bodies.flatMap { $0.policy.wants(request, of: part?.transaction) ? $0 : nil }
        return ExchangeRecorder(
            RecordingDraft.ExchangeOpened(request, transaction: part?.transaction), part: part, source: source,
            bodies: keeper, headers: headers)
    }

    private func noteOutside(_ request: ExchangeRequest, of source: SourceRecorder) {
        let fields = source.settings.options.header.fieldNames
        guard source.correlates(with: request.url), fields.allSatisfy({ request.value(for: $0) == nil }) else { return }
        if TransactionScope.noteEnded(where: { _ in true }) { return }
        if let useCase = context.latestBegun() { source.note(.requestOutside, about: useCase) }
    }

    private func headers(
        for request: ExchangeRequest, part: OpenPart?, exchange: Int64?, of source: SourceRecorder,
        _ traceContext: TraceContextPolicy?
    ) -> [String: String] {
        guard let part, part.source === source, !part.isWithheld else { return [:] }
        let header = source.settings.options.header
        guard source.correlates(with: request.url) else {
            noteUncorrelated(
                "A request to \(request.url.host() ?? "nowhere") inside a transaction carried no \(header.name) header field; add the host to "
                    + "correlatedHosts if it is yours.")
            return [:]
        }
        let isFree = header.fieldNames.allSatisfy { request.value(for: $0) == nil }
        var fields = isFree ? part.headerFields(exchange: exchange, as: header) : [:]
        guard (traceContext ?? source.settings.options.server.traceContext) != .off,
            request.value(for: TraceParent.fieldName) == nil
        else { return fields }
        for (name, value) in part.traceFields(exchange: exchange) where request.value(for: name) == nil {
            fields[name] = value
        }
        return fields
    }
}

extension Fact.ExchangeOpened {
    init(_ request: RecordingDraft.ExchangeOpened, settings: RecordingSettings) {
        let redactor = settings.redactor
        self = redactor.url(request.url)
        (role, method) = (request.role, redactor.method(request.method))
        headerFields = redactor.headerFields(settings.options.network.headers.applied(to: request.headerFields))
    }
}
