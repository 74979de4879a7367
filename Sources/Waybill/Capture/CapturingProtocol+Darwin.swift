#if !canImport(FoundationNetworking)
import Foundation
import WaybillAtomics
import WaybillCore

/// Sends the requests of other sessions once more, by one session of its own, and records them on the way: the only way
/// into a session whose code cannot change. For debug builds: bodies of uploads from files get lost, and so does the
/// configuration of the session that asked.
///
/// Sendable is right because the loading system calls it on one thread, and that is where it is called back.
final class CapturingProtocol: URLProtocol, @unchecked Sendable {
    private static let runningCount = Atomic(0)
    private static let current = Locked(Current())
    private static let marker = "WaybillCapturingProtocol"
    /// Bytes of a body that is read at once.
    private static let longestBody = 1 << 20

    /// The capture that started last; sessions cannot be told apart here.
    private struct Current { weak var capture: PassiveCapture? }

    private let part: OpenPart?
    private var exchange = ExchangeRecorder()
    private var resent: URLSessionDataTask?

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
        exchange = Self.current.withLock { $0.capture }?.openExchange(request, of: part) ?? exchange
        guard let marked = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else {
            return fail(URLError(.unsupportedURL))
        }
        Self.setProperty(true, forKey: Self.marker, in: marked)
        request = marked as URLRequest
        for (name, value) in exchange.headers { request.setValue(value, forHTTPHeaderField: name) }
        resent = Demultiplexer.shared.resume(request, for: self)
    }

    /// A body that came from memory, whose length the request says; nil for any other.
    ///
    /// The system gives it as a stream. Sent as one it would go out in chunks, which some servers answer with 411.
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
        exchange.cancel()
        resent?.cancel()
    }

    func responded(_ response: URLResponse) {
        if let response = ExchangeResponse(response) { exchange.responded(response) }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    }

    func received(_ data: Data) {
        exchange.received(data)
        client?.urlProtocol(self, didLoad: data)
    }

    func redirected(_ response: HTTPURLResponse, to request: URLRequest) {
        guard let marked = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return }
        // The session that asked decides, and comes back with a request of its own.
        Self.removeProperty(forKey: Self.marker, in: marked)
        var next = marked as URLRequest
        if next.url?.host() != self.request.url?.host() {
            for name in exchange.headers.keys { next.setValue(nil, forHTTPHeaderField: name) }
        }
        if let response = ExchangeResponse(response) { exchange.responded(response) }
        exchange.finish()
        client?.urlProtocol(self, wasRedirectedTo: next, redirectResponse: response)
        resent?.cancel()
    }

    /// The session that asked decides: it may know its server by more than the system does, a pinned certificate.
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

// What `PassiveCapture` asks of its platform.
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

/// The one session that requests are sent by once more; calls back on the thread that the protocol object was started
/// on.
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
        let call = ThreadCall { body(client.target) }
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
        tell(task, isLast: true) { $0.redirected(response, to: request) }
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        tell(task, isLast: true) { $0.ended(error) }
    }
}

/// A challenge on its way to the session that asked, which answers as one did before `URLSession`. Where it gives no
/// answer the system's own is taken, as without a delegate.
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

    /// The challenge as the session that asked is to have it.
    var challenge: URLAuthenticationChallenge {
        URLAuthenticationChallenge(authenticationChallenge: original, sender: self)
    }

    /// Only the first answer counts.
    private func give(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil) {
        let answer = answer.withLock { answer in
            defer { answer = nil }
            return answer
        }
        answer?(disposition, credential)
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        give(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { give(.useCredential) }

    func cancel(_ challenge: URLAuthenticationChallenge) { give(.cancelAuthenticationChallenge) }

    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { give(.performDefaultHandling) }

    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) { give(.rejectProtectionSpace) }
}

/// A closure as something to perform on a thread.
private final class ThreadCall: NSObject, Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    @objc func run() { body() }
}
#endif
