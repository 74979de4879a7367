import Foundation
import TestSupport
import Waybill
import WaybillCore
import WaybillQueries

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension WayIn {
    /// The ways of code that has its own session, delegate or HTTP stack.
    static let capture = [
        WayIn(name: "capturing delegate", limits: [.challenge], send: DelegateClient.send),
        WayIn(
            name: "passive capture",
            limits: [.challenge, .redirects, .fieldOverRedirects, .firstByte, .requestBody, .unsent],
            send: PassiveClient.send),
        WayIn(name: "public recorder", limits: [.errors, .compression], send: SocketClient.send),
    ]
}

/// A client that has a delegate.
private final class DelegateClient: NSObject, URLSessionDataDelegate, Sendable {
    private let body = Locked(Data())
    private let answer = Answer()

    static func send(_ call: WayIn.Call, _ tx: TransactionManager) async throws -> (Data, URLResponse) {
        let client = DelegateClient()
        let capturing = tx.capturing(client)
        let session = URLSession(configuration: .withoutCache, delegate: capturing, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        let task: URLSessionTask =
            switch call.body {
            case .none, .stream: capturing.task(for: call.requestWithBody) { session.dataTask(with: $0) }
            case .data(let data): capturing.task(for: call.request) { session.uploadTask(with: $0, from: data) }
            case .file(let file): capturing.task(for: call.request) { session.uploadTask(with: $0, fromFile: file) }
            }
        return try await client.answer.of(task, in: session)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        body.withLock { $0 += data }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        answer.give(body.withLock { $0 }, task.response, error)
    }
}

/// A client that knows nothing of transactions.
private enum PassiveClient {
    private final class Silent: NSObject, URLSessionTaskDelegate, Sendable {}

    static func send(_ call: WayIn.Call, _ tx: TransactionManager) async throws -> (Data, URLResponse) {
        let session = URLSession(configuration: .withoutCache, delegate: Silent(), delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        #if canImport(FoundationNetworking)
        tx.passiveCapture.include(session)
        #endif
        tx.passiveCapture.start()
        let answer = Answer()
        let task =
            switch call.body {
            case .none, .stream: session.dataTask(with: call.requestWithBody, completionHandler: answer.give)
            case .data(let data): session.uploadTask(with: call.request, from: data, completionHandler: answer.give)
            case .file(let file): session.uploadTask(with: call.request, fromFile: file, completionHandler: answer.give)
            }
        return try await answer.of(task, in: session)
    }
}

/// Another HTTP stack: plain sockets, HTTP/1.1, a connection for each request.
private enum SocketClient {
    static func send(_ call: WayIn.Call, _ tx: TransactionManager) async throws -> (Data, URLResponse) {
        guard let told = ExchangeRequest(call.request) else { throw URLError(.badURL) }
        let exchange = tx.openExchange(told)
        do {
            let response = try await Answer().deadline(.seconds(call.request.timeoutInterval)) {
                try await follow(call, exchange)
            }
            exchange.finish()
            return response
        } catch {
            let error = error as? URLError ?? URLError(.networkConnectionLost, userInfo: [NSUnderlyingErrorKey: error])
            exchange.fail(error)
            throw error
        }
    }

    private static func follow(_ call: WayIn.Call, _ exchange: ExchangeRecorder) async throws -> (Data, URLResponse) {
        guard var url = call.request.url else { throw URLError(.badURL) }
        let host = url.host()
        var (method, body) = (call.request.httpMethod ?? "GET", try bytes(of: call.body))
        for _ in 0..<20 {
            var fields = (call.request.allHTTPHeaderFields ?? [:]).merging(body.fields) { $1 }
            if url.host() == host { fields.merge(exchange.headers) { own, _ in own } }
            let client = try RawClient(port: url.port ?? 80)
            let target = url.path() + (url.query().map { "?\($0)" } ?? "")
            try await client.send(RawClient.head(method, target, headers: fields) + body.framed)
            if let plain = body.plain { exchange.sent(plain) }
            let response = try await client.response()
            let head = ExchangeResponse(
                status: response.status,
                headerFields: response.headers.map { HeaderField(name: $0.name, value: $0.value) },
                httpVersion: "1.1")
            if (301...303).contains(response.status),
                let next = response.header("Location").flatMap({ URL(string: $0, relativeTo: url) })
            {
                exchange.redirected(head, to: next.absoluteURL)
                (url, method, body) = (next.absoluteURL, "GET", Body())
                continue
            }
            exchange.responded(head)
            exchange.received(response.body)
            let named = Dictionary(response.headers.map { ($0.name, $0.value) }) { "\($0), \($1)" }
            guard
                let answer = HTTPURLResponse(
                    url: url, statusCode: response.status, httpVersion: "1.1", headerFields: named)
            else {
                throw URLError(.badServerResponse)
            }
            return (Data(response.body), answer)
        }
        throw URLError(.httpTooManyRedirects)
    }

    private struct Body {
        var plain: Data?
        var framed = Data()
        var fields: [String: String] = [:]
    }

    private static func bytes(of body: WayIn.Call.Body) throws -> Body {
        let known = { (data: Data) in Body(plain: data, framed: data, fields: ["Content-Length": "\(data.count)"]) }
        switch body {
        case .none: return Body()
        case .data(let data): return known(data)
        case .file(let file): return known(try Data(contentsOf: file))
        case .stream(let data):
            let chunk = Data("\(String(data.count, radix: 16))\r\n".utf8) + data + Data("\r\n0\r\n\r\n".utf8)
            return Body(plain: data, framed: chunk, fields: ["Transfer-Encoding": "chunked"])
        }
    }
}

/// The result that a client waits for. The first result counts, even before the client waits: a task that is cancelled
/// beforehand may end that early.
private final class Answer: Sendable {
    private typealias Waiting = CheckedContinuation<(Data, URLResponse), any Error>

    private struct State {
        var first: Result<(Data, URLResponse), any Error>?
        var waiting: Waiting?
    }

    private let state = Locked(State())

    func give(_ result: Result<(Data, URLResponse), any Error>) {
        let waiting: Waiting? = state.withLock { state in
            guard state.first == nil else { return nil }
            state.first = result
            return state.waiting
        }
        waiting?.resume(with: result)
    }

    /// Resumes the continuation with the first result, which may have arrived already.
    private func wait(_ waiting: Waiting) {
        let first = state.withLock { state in
            state.waiting = waiting
            return state.first
        }
        if let first { waiting.resume(with: first) }
    }

    func give(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        if let data, let response, error == nil {
            give(.success((data, response)))
        } else {
            give(.failure(error ?? URLError(.unknown)))
        }
    }

    /// Resumes a task, and cancels it when the calling task is cancelled.
    func of(_ task: URLSessionTask, in session: URLSession) async throws -> (Data, URLResponse) {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(continuation)
                if Task.isCancelled { task.cancel() } else { task.resume() }
            }
        } onCancel: {
            // On Linux, `cancel()` waits for URLSession, which may be waiting for this task.
            session.delegateQueue.addOperation { task.cancel() }
        }
    }

    /// Waits for uninterruptible work, until a deadline or until the calling task is cancelled.
    func deadline(
        _ duration: Duration, _ work: @escaping @Sendable () async throws -> (Data, URLResponse)
    ) async throws -> (Data, URLResponse) {
        try await withTaskCancellationHandler {
            if Task.isCancelled { throw URLError(.cancelled) }
            return try await withCheckedThrowingContinuation { continuation in
                wait(continuation)
                Task.detached { [self] in
                    do { give(.success(try await work())) } catch { give(.failure(error)) }
                }
                DispatchQueue.global().asyncAfter(deadline: .now() + duration / .seconds(1)) { [self] in
                    give(.failure(URLError(.timedOut)))
                }
            }
        } onCancel: {
            give(.failure(URLError(.cancelled)))
        }
    }
}

extension URLSessionConfiguration {
    /// A configuration without the cache that makes early cancellations trap on Linux.
    fileprivate static var withoutCache: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        return configuration
    }
}
