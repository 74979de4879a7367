import Dispatch
public import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A `URLSession` whose requests are recorded as exchanges of a transaction.
///
/// Its methods are named as in `URLSession`. Each takes the transaction with `in:` (default: the current one) and a
/// `deadline:` for the whole exchange (default: `timeoutIntervalForResource`). Recording never delays or fails a
/// request. A transaction's request to a correlated host carries the header field, unless the caller set it; a redirect
/// to another origin drops it. ``TransactionManager/rules`` apply. Methods throw the errors of `URLSession`,
/// `URLError.cancelled` as soon as the task is cancelled, and `URLError.timedOut` at the deadline.
///
/// ## What differs from URLSession
///
/// - A cancelled call ends at once with `URLError.cancelled`; the connection closes later.
/// - On Linux, the session obeys `timeoutIntervalForResource`, which `URLSession` ignores.
/// - On Linux, there is no cache, and the session returns a 401 that asks for a password, which `URLSession` waits for
///   forever. It ignores `urlCredentialStorage`.
/// - On Linux, it reads uploads from files of up to 16 MB itself. `URLSession` ends the process if such an upload is
///   cancelled, or if the server hangs up meanwhile.
/// - Completion handlers and progress closures run on a serial queue of the session and may use the session.
/// - ``bytes(for:in:deadline:progress:)`` returns the body in pieces instead of single bytes.
/// - A request without a URL fails with `URLError.badURL`.
/// - On Apple platforms, the default configuration replaces a background one, which can only upload from files.
///
/// ## Usage
///
/// ```swift
/// let (data, response) = try await transactions.session.data(for: request)
/// let (file, _) = try await transactions.session.download(from: reportURL, in: login, deadline: .seconds(60))
/// ```
public final class CapturedSession: Sendable {
    private let http: HTTPSession
    private let sources: SourceRegistry
    private let rules: NetworkRules
    private let resourceTimeout: Duration?
    private let traceContext: TraceContextPolicy?
    private let additionalFields: [HeaderField]
    /// URLSession never waits for this queue.
    private let callbacks = DispatchQueue(label: "waybill.session.callbacks")

    init(
        configuration: URLSessionConfiguration, sources: SourceRegistry, rules: NetworkRules,
        traceContext: TraceContextPolicy?, challenge: ChallengeHandler? = nil
    ) {
        http = HTTPSession(configuration: configuration, challenge: challenge)
        #if !canImport(FoundationNetworking)
        if let identifier = configuration.identifier {
            sources.diagnostics.once(
                "A captured session cannot be one for the background: “\(identifier)” has the default configuration. Give a URLSession of that configuration a capturing delegate."
            )
        }
        #endif
        let timeout = configuration.timeoutIntervalForResource
        // The default of seven days is not worth a timer for each request.
        resourceTimeout = timeout < 604_800 ? .seconds(max(0, timeout)) : nil
        additionalFields = .init(byName: configuration.httpAdditionalHeaders ?? [:])
        self.sources = sources
        self.rules = rules
        self.traceContext = traceContext
    }

    private func told(_ request: URLRequest) -> ExchangeRequest? {
        guard var told = ExchangeRequest(request) else { return nil }
        told.headerFields += additionalFields.filter { told.value(for: $0.name) == nil }
        return told
    }

    func exchange(
        of request: URLRequest, body: OutgoingRequest.Body = .own, part: OpenPart?, deadline: Duration?,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) -> HTTPCall {
        guard var opened = told(request) else {
            let nowhere = OutgoingRequest(request: URLRequest(url: URL(filePath: "/")))
            return HTTPCall(of: nowhere, by: AnswerTransport([.ended(URLError(.badURL))]))
        }
        if let cookies = http.cookieField(for: request) { opened.headerFields.append(cookies) }
        let record = sources.openExchange(opened, part: part, traceContext: traceContext)
        var outgoing = OutgoingRequest(request: request, body: body)
        for (name, value) in record.headers {
            outgoing.request.setValue(value, forHTTPHeaderField: name)
            opened.headerFields.append(HeaderField(name: name, value: value))
        }
        let sentBytes = record.isRecorded ? SentBytes(of: &outgoing, isWanted: record.keepsBodies) : nil
        var tell: (@Sendable (TransferProgress) -> Void)?
        if let progress { tell = { [callbacks] state in callbacks.async { progress(state) } } }
        let deadline = [deadline, resourceTimeout].compactMap { $0 }.min()
        return HTTPCall(
            of: outgoing,
            by: rules.transport(
                for: opened, sentAs: outgoing, deadline: deadline, record: record,
                else: TaskTransport(outgoing, in: http)),
            redirects: .follow(record, of: sources), deadline: deadline, record: record, sentBytes: sentBytes,
            progress: tell)
    }

    func webSocket(of request: URLRequest, part: OpenPart?) -> CapturedWebSocket.Opened {
        guard let opened = told(request) else {
            return .init(carrier: FailedWebSocket(URLError(.badURL)), record: ExchangeRecorder())
        }
        let record = sources.openExchange(opened, part: part, traceContext: traceContext)
        var request = request
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

extension CapturedSession {
    /// Sends a request and returns the whole response. The request's body can be data or a stream.
    ///
    /// `requiring` are the accepted HTTP statuses; `nil`, the default, accepts any. For another status it throws a
    /// ``WaybillCore/RecordedError`` with the domain `HTTP` and the status as its code, which `perform` records.
    public func data(
        for request: URLRequest, in transaction: (any TransactionHandle)? = nil,
        deadline: Duration? = nil, requiring statuses: Range<Int>? = nil
    ) async throws -> (Data, URLResponse) {
        try await answer(to: exchange(of: request, part: transaction.part, deadline: deadline), requiring: statuses)
    }

    /// Gets a URL; see ``data(for:in:deadline:requiring:)``.
    public func data(
        from url: URL, in transaction: (any TransactionHandle)? = nil,
        deadline: Duration? = nil, requiring statuses: Range<Int>? = nil
    ) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url), in: transaction, deadline: deadline, requiring: statuses)
    }

    /// Sends a request with a body from memory and returns the whole response.
    public func upload(
        for request: URLRequest, from body: Data,
        in transaction: (any TransactionHandle)? = nil,
        deadline: Duration? = nil, requiring statuses: Range<Int>? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (Data, URLResponse) {
        let exchange = exchange(
            of: request, body: .data(body), part: transaction.part, deadline: deadline, progress: progress)
        return try await answer(to: exchange, requiring: statuses)
    }

    /// Sends a request with a body from a file; see ``upload(for:from:in:deadline:requiring:progress:)``.
    public func upload(
        for request: URLRequest, fromFile file: URL,
        in transaction: (any TransactionHandle)? = nil,
        deadline: Duration? = nil, requiring statuses: Range<Int>? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (Data, URLResponse) {
        let exchange = exchange(
            of: request, body: .file(file), part: transaction.part, deadline: deadline, progress: progress)
        return try await answer(to: exchange, requiring: statuses)
    }

    /// Sends a request and writes the response's body to a new temporary file, which the caller moves or removes.
    ///
    /// - Throws: Also `URLError.cannotCreateFile` and `.cannotWriteToFile`.
    public func download(
        for request: URLRequest, in transaction: (any TransactionHandle)? = nil,
        deadline: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (URL, URLResponse) {
        try await exchange(of: request, part: transaction.part, deadline: deadline, progress: progress).value(
            into: FileSink<URL>.init)
    }

    /// Downloads a URL; see ``download(for:in:deadline:progress:)``.
    public func download(
        from url: URL, in transaction: (any TransactionHandle)? = nil,
        deadline: Duration? = nil, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url), in: transaction, deadline: deadline, progress: progress)
    }

    /// Sends a request, waits for the response's head, and returns the body in pieces as they arrive.
    ///
    /// Releasing the sequence, or cancelling its task, cancels the exchange. Unread pieces stay in memory, since a
    /// transfer can't pause on Linux. `progress` includes the request's body.
    public func bytes(
        for request: URLRequest, in transaction: (any TransactionHandle)? = nil,
        deadline: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (CapturedSession.Bytes, URLResponse) {
        try await CapturedSession.Bytes.open(
            exchange(of: request, part: transaction.part, deadline: deadline, progress: progress))
    }

    /// Gets a URL in pieces; see ``bytes(for:in:deadline:progress:)``.
    public func bytes(
        from url: URL, in transaction: (any TransactionHandle)? = nil,
        deadline: Duration? = nil
    ) async throws -> (CapturedSession.Bytes, URLResponse) {
        try await bytes(for: URLRequest(url: url), in: transaction, deadline: deadline)
    }

    private func answer(to exchange: HTTPCall, requiring statuses: Range<Int>?) async throws -> (Data, URLResponse) {
        let answer = try await exchange.value { MemorySink($0) }
        try answer.1.require(statuses)
        return answer
    }
}

// The transaction is the one that is current when the task is made. Recording begins when the task resumes.
extension CapturedSession {
    /// Creates a task that sends a request; see ``CapturedTask``. The deadline starts when the task resumes. The
    /// handler runs once, with the body and the response, or with a `URLError`.
    public func dataTask(
        with request: URLRequest, in transaction: (any TransactionHandle)? = nil,
        deadline: Duration? = nil, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> CapturedTask {
        task(request, in: transaction, deadline: deadline, into: { MemorySink($0) }, completionHandler)
    }

    /// Creates a task that gets a URL; see ``dataTask(with:in:deadline:completionHandler:)-(URLRequest,_,_,_)``.
    public func dataTask(
        with url: URL, in transaction: (any TransactionHandle)? = nil, deadline: Duration? = nil,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> CapturedTask {
        dataTask(with: URLRequest(url: url), in: transaction, deadline: deadline, completionHandler: completionHandler)
    }

    /// Creates a task with a body from memory; see
    /// ``dataTask(with:in:deadline:completionHandler:)-(URLRequest,_,_,_)``.
    public func uploadTask(
        with request: URLRequest, from body: Data,
        in transaction: (any TransactionHandle)? = nil,
        deadline: Duration? = nil, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> CapturedTask {
        task(
            request, body: .data(body), in: transaction, deadline: deadline, into: { MemorySink($0) }, completionHandler
        )
    }

    /// Creates a task with a body from a file; see
    /// ``dataTask(with:in:deadline:completionHandler:)-(URLRequest,_,_,_)``.
    public func uploadTask(
        with request: URLRequest, fromFile file: URL,
        in transaction: (any TransactionHandle)? = nil,
        deadline: Duration? = nil, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> CapturedTask {
        task(
            request, body: .file(file), in: transaction, deadline: deadline, into: { MemorySink($0) }, completionHandler
        )
    }

    /// Creates a task that writes the response's body to a file, which is removed when the handler returns.
    public func downloadTask(
        with request: URLRequest, in transaction: (any TransactionHandle)? = nil,
        deadline: Duration? = nil, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> CapturedTask {
        task(request, in: transaction, deadline: deadline, into: FileSink<URL>.init) { file, response, error in
            completionHandler(file, response, error)
            if let file { try? FileManager.default.removeItem(at: file) }
        }
    }

    /// Creates a task that downloads a URL; see ``dataTask(with:in:deadline:completionHandler:)-(URLRequest,_,_,_)``.
    public func downloadTask(
        with url: URL, in transaction: (any TransactionHandle)? = nil, deadline: Duration? = nil,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> CapturedTask {
        downloadTask(
            with: URLRequest(url: url), in: transaction, deadline: deadline, completionHandler: completionHandler)
    }

    /// Creates a WebSocket to a `wss:` or `ws:` URL; see ``CapturedWebSocket``. `protocols` are the subprotocols to
    /// offer, the preferred one first. The recorded response has the server's choice.
    public func webSocketTask(
        with request: URLRequest, protocols: [String] = [],
        in transaction: (any TransactionHandle)? = nil
    ) -> CapturedWebSocket {
        var made = request
        if !protocols.isEmpty {
            made.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
        }
        let part = transaction.part
        return CapturedWebSocket { [made] in self.webSocket(of: made, part: part) }
    }

    /// Creates a WebSocket to a `wss:` or `ws:` URL, without further header fields.
    public func webSocketTask(
        with url: URL, protocols: [String] = [], in transaction: (any TransactionHandle)? = nil
    ) -> CapturedWebSocket {
        webSocketTask(with: URLRequest(url: url), protocols: protocols, in: transaction)
    }

    private func task<Content: Sendable>(
        _ request: URLRequest, body: OutgoingRequest.Body = .own, in transaction: (any TransactionHandle)?,
        deadline: Duration?,
        into sink: @escaping @Sendable (@escaping HTTPCall.Completion<(Content, URLResponse)>) -> any BodySink,
        _ completionHandler: @escaping @Sendable (Content?, URLResponse?, (any Error)?) -> Void
    ) -> CapturedTask {
        let part = transaction.part
        return CapturedTask {
            self.exchange(of: request, body: body, part: part, deadline: deadline)
        } sink: {
            sink { answer in
                self.callbacks.async {
                    switch answer {
                    case .success(let (content, response)): completionHandler(content, response, nil)
                    case .failure(let error): completionHandler(nil, nil, error)
                    }
                }
            }
        }
    }
}
