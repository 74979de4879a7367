import Dispatch
public import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
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
    private let additionalFields: [HeaderField]
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

// Every call throws what `URLSession` throws, `URLError.cancelled` as soon as the task is canceled, and
// `URLError.timedOut` at its deadline. A parameter with a default value cannot leave its type open otherwise:
// `UseCaseTransaction<Int>?.none` stands for any transaction that is not given.
extension CapturedSession {
    /// Sends a request, whose body may be data or a stream of its own, and waits for the whole answer.
    ///
    /// - Parameters:
    ///   - request: Sent as it is, with the header field where it is to have one.
    ///   - transaction: What it is made for; nil: the current transaction, or none.
    ///   - deadline: The longest all of it may take; nil: no longer than the configuration's
    ///     `timeoutIntervalForResource`.
    /// - Throws: What `URLSession` throws; `URLError.cancelled` as soon as the task is canceled; `URLError.timedOut` at
    ///   the deadline.
    public func data<Event>(
        for request: URLRequest, in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil
    ) async throws -> (Data, URLResponse) {
        try await exchange(of: request, part: transaction.part(), deadline: deadline).value(into: MemorySink.init)
    }

    /// Gets what is at an address: a `URL`, or its text; as ``data(for:in:deadline:)``.
    ///
    /// - Throws: Also `URLError.badURL` where the text is no URL.
    public func data<Event>(
        from address: some RequestTarget, in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil
    ) async throws -> (Data, URLResponse) {
        try await exchange(of: address.urlRequest, part: transaction.part(), deadline: deadline).value(
            into: MemorySink.init)
    }

    /// Sends a request with a body from memory, and waits for the whole answer; as ``data(for:in:deadline:)``.
    ///
    /// Where `progress` is given, it is told how far the transfer is, on a serial queue of the session.
    public func upload<Event>(
        for request: URLRequest, from body: Data,
        in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (Data, URLResponse) {
        try await exchange(
            of: request, body: .data(body), part: transaction.part(), deadline: deadline, progress: progress
        )
        .value(into: MemorySink.init)
    }

    /// Sends a request with a body from a file, and waits for the whole answer; as
    /// ``upload(for:from:in:deadline:progress:)``.
    public func upload<Event>(
        for request: URLRequest, fromFile file: URL,
        in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (Data, URLResponse) {
        try await exchange(
            of: request, body: .file(file), part: transaction.part(), deadline: deadline, progress: progress
        )
        .value(into: MemorySink.init)
    }

    /// Sends a request and writes the answer's body to a file; as ``data(for:in:deadline:)``.
    ///
    /// Where `progress` is given, it is told how far the transfer is, on a serial queue of the session.
    ///
    /// - Returns: A new file in the temporary folder, which is the caller's to move or to remove.
    /// - Throws: Also `URLError.cannotCreateFile` and `.cannotWriteToFile`.
    public func download<Event>(
        for request: URLRequest, in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (URL, URLResponse) {
        try await exchange(of: request, part: transaction.part(), deadline: deadline, progress: progress).value(
            into: FileSink<URL>.init)
    }

    /// Writes what is at an address, a `URL` or its text, to a file; as ``download(for:in:deadline:progress:)``.
    public func download<Event>(
        from address: some RequestTarget, in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (URL, URLResponse) {
        try await exchange(of: address.urlRequest, part: transaction.part(), deadline: deadline, progress: progress)
            .value(into: FileSink<URL>.init)
    }

    /// Sends a request, waits for the head of the answer, and gives its body as it comes; as
    /// ``data(for:in:deadline:)``.
    ///
    /// Where `URLSession` gives single bytes, this gives them in the pieces in which they come. Letting go of the
    /// sequence, or canceling the task that reads it, cancels the exchange. What is not read waits in memory: on Linux
    /// a transfer cannot be held. Where `progress` is given, it is told how far the transfer is, the request's body
    /// too, on a serial queue of the session.
    public func bytes<Event>(
        for request: URLRequest, in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (CapturedSession.Bytes, URLResponse) {
        try await CapturedSession.Bytes.open(
            exchange(of: request, part: transaction.part(), deadline: deadline, progress: progress))
    }

    /// Gives what is at an address, a `URL` or its text, as it comes; as ``bytes(for:in:deadline:progress:)``.
    public func bytes<Event>(
        from address: some RequestTarget, in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil
    ) async throws -> (CapturedSession.Bytes, URLResponse) {
        try await CapturedSession.Bytes.open(
            exchange(of: address.urlRequest, part: transaction.part(), deadline: deadline))
    }
}

// The forms with a completion handler. It is called once, on a serial queue of the session, with an answer or with a
// `URLError`. The transaction is that of where the task is made; recording begins where it is resumed.
extension CapturedSession {
    /// Makes a task that sends a request, or gets what is at a `URL` or its text; see ``CapturedTask``.
    ///
    /// - Parameters:
    ///   - target: A `URLRequest`, whose body may be data or a stream of its own, a `URL`, or a URL's text.
    ///   - transaction: What it is made for; nil: the current transaction, or none.
    ///   - deadline: The longest all of it may take once it is resumed; nil: no longer than the configuration's
    ///     `timeoutIntervalForResource`.
    ///   - completionHandler: Gets the body and the response, or an error.
    public func dataTask<Event>(
        with target: some RequestTarget, in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> CapturedTask {
        task(target, body: .own, part: transaction.part(), deadline: deadline, completionHandler)
    }

    /// Makes a task that sends a request with a body from memory; as ``dataTask(with:in:deadline:completionHandler:)``.
    public func uploadTask<Event>(
        with target: some RequestTarget, from body: Data,
        in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> CapturedTask {
        task(target, body: .data(body), part: transaction.part(), deadline: deadline, completionHandler)
    }

    /// Makes a task that sends a request with a body from a file; as ``dataTask(with:in:deadline:completionHandler:)``.
    public func uploadTask<Event>(
        with target: some RequestTarget, fromFile file: URL,
        in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> CapturedTask {
        task(target, body: .file(file), part: transaction.part(), deadline: deadline, completionHandler)
    }

    /// Makes a task that writes the answer's body to a file; as ``dataTask(with:in:deadline:completionHandler:)``.
    ///
    /// The completion handler gets the file, which is there until it returns, and the response; or an error.
    public func downloadTask<Event>(
        with target: some RequestTarget, in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> CapturedTask {
        let (request, part) = (target.urlRequest, transaction.part())
        return CapturedTask {
            self.exchange(of: request, part: part, deadline: deadline)
        } sink: {
            FileSink<URL> { answer in
                self.later {
                    switch answer {
                    case .success(let (file, response)):
                        completionHandler(file, response, nil)
                        try? FileManager.default.removeItem(at: file)
                    case .failure(let error): completionHandler(nil, nil, error)
                    }
                }
            }
        }
    }

    /// Makes a WebSocket to a `wss:` or `ws:` address; see ``CapturedWebSocket``.
    ///
    /// - Parameters:
    ///   - target: A `URLRequest`, a `URL`, or a URL's text.
    ///   - protocols: The subprotocols to offer, the preferred one first; what the server chose is in the recorded
    ///     response.
    ///   - transaction: What it is made for; nil: the current transaction, or none.
    public func webSocketTask<Event>(
        with target: some RequestTarget, protocols: [String] = [],
        in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none
    ) -> CapturedWebSocket {
        var request = target.urlRequest
        if !protocols.isEmpty {
            request?.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
        }
        let (made, part) = (request, transaction.part())
        return CapturedWebSocket { self.webSocket(of: made, part: part) }
    }

    private func task(
        _ target: some RequestTarget, body: OutgoingRequest.Body, part: OpenPart?, deadline: Duration?,
        _ completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> CapturedTask {
        let request = target.urlRequest
        return CapturedTask {
            self.exchange(of: request, body: body, part: part, deadline: deadline)
        } sink: {
            MemorySink { answer in
                self.later {
                    switch answer {
                    case .success(let (data, response)): completionHandler(data, response, nil)
                    case .failure(let error): completionHandler(nil, nil, error)
                    }
                }
            }
        }
    }
}
