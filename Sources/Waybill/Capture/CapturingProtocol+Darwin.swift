#if !canImport(FoundationNetworking)
import Foundation
import WaybillAtomics
import WaybillCore

/// Sends requests of other sessions again through its own session and records them. For debug builds: it loses file
/// uploads and the original session's configuration.
///
/// Sendable is right because the loading system calls it on one thread, and callbacks use that thread.
final class CapturingProtocol: URLProtocol, @unchecked Sendable {
    private static let runningCount = Atomic(0)
    private static let current = Locked(Current())
    private static let marker = "WaybillCapturingProtocol"
    /// The property of a redirected request that has the transaction of the first one.
    private static let hop = "WaybillHop"
    private static let longestBody = 1 << 20

    /// The capture that started last, since sessions look alike here.
    private struct Current { weak var capture: PassiveCapture? }

    private var part: OpenPart?
    private var exchange = ExchangeRecorder()
    private var resent: URLSessionDataTask?
    /// The client must not be called after `stopLoading`.
    private var isStopped = false

    override class func canInit(with request: URLRequest) -> Bool {
        runningCount.load(ordering: .relaxed) > 0 && ["http", "https"].contains(request.url?.scheme?.lowercased())
            && property(forKey: marker, in: request) == nil
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        part = TransactionScope.innermost
        super.init(request: request, cachedResponse: cachedResponse, client: client)
    }

    override func startLoading() {
        var request = request
        if let body = Self.body(of: request) { request.httpBody = body }
        if let hop = Self.property(forKey: Self.hop, in: request) as? Hop { part = hop.part }
        exchange = Self.current.withLock { $0.capture }?.openExchange(request, of: part) ?? exchange
        guard let marked = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else {
            return fail(URLError(.unsupportedURL))
        }
        Self.setProperty(true, forKey: Self.marker, in: marked)
        request = marked as URLRequest
        for (name, value) in exchange.headers { request.setValue(value, forHTTPHeaderField: name) }
        resent = Demultiplexer.shared.resume(request, for: self)
    }

    /// The body, if it came from memory. Its stream would be sent in chunks, and some servers answer that with 411.
    private static func body(of request: URLRequest) -> Data? {
        guard request.httpBody == nil, let stream = request.httpBodyStream,
            let length = request.value(forHTTPHeaderField: "Content-Length").flatMap({ Int($0) }),
            (1...longestBody).contains(length)
        else { return nil }
        stream.open()
        defer { stream.close() }
        var (bytes, end) = ([UInt8](repeating: 0, count: length), 0)
        while end < length {
            let count = bytes[end...].withUnsafeMutableBufferPointer { rest in
                rest.baseAddress.map { stream.read($0, maxLength: rest.count) } ?? 0
            }
            guard count > 0 else { break }
            end += count
        }
        return Data(bytes.prefix(end))
    }

    override func stopLoading() {
        isStopped = true
        exchange.cancel()
        resent?.cancel()
    }

    fileprivate func unlessStopped(_ body: (CapturingProtocol) -> Void) { if !isStopped { body(self) } }

    func responded(_ response: URLResponse) {
        if let response = ExchangeResponse(response) { exchange.responded(response) }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    }

    func received(_ data: Data) {
        exchange.received(data)
        client?.urlProtocol(self, didLoad: data)
    }

    /// The client stops this object if it follows the redirect. If it refuses, it waits for the 3xx, which follows.
    func redirected(_ response: HTTPURLResponse, to request: URLRequest) {
        guard let marked = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return }
        Self.removeProperty(forKey: Self.marker, in: marked)
        Self.setProperty(Hop(part), forKey: Self.hop, in: marked)
        var next = marked as URLRequest
        // The field of this exchange would say that the next one is recorded already.
        for name in exchange.headers.keys {
            next.setValue(self.request.value(forHTTPHeaderField: name), forHTTPHeaderField: name)
        }
        let policy = RedirectPolicy.follow(droppingFieldsForOtherOrigins: Array(exchange.headers.keys))
        next = policy.request(after: next, of: self.request) ?? next
        if let response = ExchangeResponse(response) { exchange.responded(response) }
        exchange.finish()
        client?.urlProtocol(self, wasRedirectedTo: next, redirectResponse: response)
    }

    /// The original session decides, since it may trust a server by a pinned certificate.
    func challenged(_ challenge: URLAuthenticationChallenge) { client?.urlProtocol(self, didReceive: challenge) }

    func ended(_ error: (any Error)?) {
        if let error { return fail(error) }
        exchange.finish()
        client?.urlProtocolDidFinishLoading(self)
    }

    private func fail(_ error: any Error) {
        exchange.fail(error)
        client?.urlProtocol(self, didFailWithError: error)
    }
}

extension CapturingProtocol {
    static func start(_ capture: PassiveCapture) {
        current.withLock { $0.capture = capture }
        if runningCount.add(1) == 1 { registerClass(Self.self) }
    }

    static func stop() {
        if runningCount.subtract(1) == 0 { unregisterClass(Self.self) }
    }

    static func include(_ configuration: URLSessionConfiguration) {
        let classes = configuration.protocolClasses ?? []
        if !classes.contains(where: { $0 == Self.self }) { configuration.protocolClasses = [Self.self] + classes }
    }
}

/// Calls back on the thread that started the protocol object.
private final class Demultiplexer: NSObject, URLSessionDataDelegate, Sendable {
    static let shared = Demultiplexer()

    private struct Client: @unchecked Sendable {  // right because both are only used from that thread
        let target: CapturingProtocol
        let thread: Thread
    }

    private let clients = Locked<[Int: Client]>([:])
    private let session = Locked<URLSession?>(nil)

    func resume(_ request: URLRequest, for target: CapturingProtocol) -> URLSessionDataTask {
        let session = session.withLock { session in
            let made = session ?? URLSession(configuration: .default, delegate: self, delegateQueue: nil)
            session = made
            return made
        }
        let task = session.dataTask(with: request)
        clients.withLock { $0[task.taskIdentifier] = Client(target: target, thread: .current) }
        task.resume()
        return task
    }

    private func tell(
        _ task: URLSessionTask, isLast: Bool = false, _ body: @escaping @Sendable (CapturingProtocol) -> Void
    ) {
        let client = clients.withLock { isLast ? $0.removeValue(forKey: task.taskIdentifier) : $0[task.taskIdentifier] }
        guard let client else { return }
        let call = ThreadCall { client.target.unlessStopped(body) }
        call.perform(#selector(ThreadCall.run), on: client.thread, with: nil, waitUntilDone: false)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        tell(dataTask) { $0.responded(response) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        tell(dataTask) { $0.received(data) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let forwarded = ForwardedChallenge(challenge, completionHandler)
        tell(task) { $0.challenged(forwarded.challenge) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        tell(task) { $0.redirected(response, to: request) }
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        tell(task, isLast: true) { $0.ended(error) }
    }
}

/// Forwards a challenge to the original session. Without an answer, the system's default applies.
///
/// Sendable is right because the challenge is only read.
private final class ForwardedChallenge: NSObject, URLAuthenticationChallengeSender, @unchecked Sendable {
    typealias Answer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    private let original: URLAuthenticationChallenge
    private let answer: Locked<Answer?>

    init(_ original: URLAuthenticationChallenge, _ answer: @escaping Answer) {
        self.original = original
        self.answer = Locked(answer)
    }

    deinit { give(.performDefaultHandling) }

    var challenge: URLAuthenticationChallenge {
        URLAuthenticationChallenge(authenticationChallenge: original, sender: self)
    }

    private func give(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil) {
        answer.withLock { $0.take() }?(disposition, credential)
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        give(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { give(.useCredential) }

    func cancel(_ challenge: URLAuthenticationChallenge) { give(.cancelAuthenticationChallenge) }

    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { give(.performDefaultHandling) }

    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) { give(.rejectProtectionSpace) }
}

private final class Hop: NSObject {
    private(set) weak var part: OpenPart?

    init(_ part: OpenPart?) { self.part = part }
}

private final class ThreadCall: NSObject, Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    @objc func run() { body() }
}
#endif
