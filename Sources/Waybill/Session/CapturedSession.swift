import Dispatch
import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A `URLSession` whose requests are recorded as network exchanges, tied to the transaction they are made for.
///
/// Each form is named as in `URLSession`, takes the transaction with `in:` (the current one unless said otherwise) and
/// a `deadline:` for all of the exchange. The configuration, its header fields, protocol classes, cookies and proxies
/// are the caller's. Recording never delays or fails a request. A request inside a transaction carries the header field
/// if its host is on the manager's list, unless the caller set that field; a redirect to another origin loses it. While
/// the manager's ``TransactionManager/rules`` are on, they act on every form.
///
/// ## What differs from URLSession
///
/// - A canceled call ends at once, with `URLError.cancelled`; the connection is closed after that.
/// - The configuration's `timeoutIntervalForResource` is obeyed on Linux, too.
/// - On Linux there is no cache, and a 401 that asks for a name and a password is the answer: where `URLSession` waits
///   without end, since it has neither, and the configuration's `urlCredentialStorage` is not asked.
/// - Completion handlers and progress come on a serial queue of the session; from there it can be used again.
/// - ``bytes(for:in:deadline:progress:)`` gives the body in pieces as they come, not byte by byte.
/// - A request without a URL fails with `URLError.badURL`.
/// - On Apple platforms a configuration for the background (`background(withIdentifier:)`) is replaced by the default
///   one: such a session takes uploads from files alone, and raises an exception otherwise.
///
/// ## Usage
///
/// ```swift
/// let (data, response) = try await transactions.session.data(for: request)
/// let (file, _) = try await transactions.session.download(from: "https://api.example.com/report", in: login, deadline: .seconds(60))
/// ```
public final class CapturedSession: Sendable {
    private let http: HTTPSession
    private let sources: SourceRegistry
    private let rules: NetworkRules
    private let resourceTimeout: Duration?
    /// nil: the manager's.
    private let traceContext: TraceContextPolicy?
    /// What the configuration adds to each request that does not have the field.
    private let additionalFields: [Fact.HeaderField]
    /// Where the caller's closures are called: never on a queue that URLSession may wait for.
    private let callbacks = DispatchQueue(label: "waybill.session.callbacks")

    init(
        configuration: URLSessionConfiguration, sources: SourceRegistry, rules: NetworkRules,
        traceContext: TraceContextPolicy?
    ) {
        http = HTTPSession(configuration: configuration)
        #if !canImport(FoundationNetworking)
        if let identifier = configuration.identifier {
            sources.diagnostics.once(
                "A captured session cannot be one for the background: “\(identifier)” has the default configuration. Give a URLSession of that configuration a capturing delegate."
            )
        }
        #endif
        let timeout = configuration.timeoutIntervalForResource
        // The default, seven days, is not worth a timer for each request.
        resourceTimeout = timeout < 604_800 ? .seconds(max(0, timeout)) : nil
        additionalFields = .init(byName: configuration.httpAdditionalHeaders ?? [:])
        self.sources = sources
        self.rules = rules
        self.traceContext = traceContext
    }

    /// The request as it will be sent, with the configuration's own header fields; `nil` if it has no address.
    private func told(_ request: URLRequest?) -> ExchangeRequest? {
        guard var told = request.flatMap({ ExchangeRequest($0) }) else { return nil }
        told.headerFields += additionalFields.filter { told.value(for: $0.name) == nil }
        return told
    }

    /// Calls back with what a sink made of an answer.
    func later(_ body: @escaping @Sendable () -> Void) { callbacks.async(execute: body) }

    /// Records that a request is about to be sent, and makes the exchange that sends it.
    ///
    /// - Parameter request: nil where its address was none.
    func exchange(
        of request: URLRequest?, body: OutgoingRequest.Body = .own, part: OpenPart?, deadline: Duration?,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) -> HTTPCall {
        guard let request, var opened = told(request) else {
            let nowhere = OutgoingRequest(request: URLRequest(url: URL(filePath: "/")))
            return HTTPCall(of: nowhere, by: FailedTransport(URLError(.badURL)))
        }
        if let cookies = http.cookieField(for: request) { opened.headerFields.append(cookies) }
        let record = sources.openExchange(opened, part: part, traceContext: traceContext)
        var outgoing = OutgoingRequest(request: request, body: body)
        for (name, value) in record.headers { outgoing.request.setValue(value, forHTTPHeaderField: name) }
        let sentBytes = record.isRecorded ? SentBytes(of: &outgoing, isWanted: record.keepsBodies) : nil
        var tell: (@Sendable (TransferProgress) -> Void)?
        if let progress { tell = { [callbacks] state in callbacks.async { progress(state) } } }
        let deadline = [deadline, resourceTimeout].compactMap { $0 }.min()
        return HTTPCall(
            of: outgoing,
            by: rules.transport(
                for: outgoing, deadline: deadline, record: record, else: TaskTransport(outgoing, in: http)),
            redirects: .follow(record, of: sources), deadline: deadline, record: record, sentBytes: sentBytes,
            progress: tell)
    }

    /// Records that a WebSocket is about to be opened, and makes what carries it.
    ///
    /// - Parameter request: nil where its address was none.
    func webSocket(of request: URLRequest?, part: OpenPart?) -> CapturedWebSocket.Opened {
        guard var request, let opened = told(request) else {
            return .init(carrier: FailedWebSocket(URLError(.badURL)), record: ExchangeRecorder())
        }
        let record = sources.openExchange(opened, part: part, traceContext: traceContext)
        for (name, value) in record.headers { request.setValue(value, forHTTPHeaderField: name) }
        guard ["ws", "wss"].contains(opened.url.scheme?.lowercased()) else {
            let sentence =
                "A WebSocket has an address that begins with ws:// or wss://, and not \(opened.url.scheme ?? "nothing")."
            let error = URLError(.unsupportedURL, userInfo: [NSLocalizedDescriptionKey: sentence])
            return .init(carrier: FailedWebSocket(error), record: record)
        }
        if let carrier = rules.webSocket(for: opened, record: record, tell: sources.diagnostics) {
            return .init(carrier: carrier, record: record)
        }
        let carrier = TaskWebSocket(
            request, redirects: .follow(record, of: sources), in: http
        ) { [diagnostics = sources.diagnostics] in diagnostics.once(TaskWebSocket.refusal) }
        return .init(carrier: carrier, record: record)
    }
}

extension Optional {
    /// The part that a call is made for: that of the transaction it names, else of the current one.
    func part<Event>() -> OpenPart? where Wrapped == UseCaseTransaction<Event> {
        self?.part ?? TransactionScope.innermost
    }
}
