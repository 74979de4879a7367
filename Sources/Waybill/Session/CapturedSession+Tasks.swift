public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

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
