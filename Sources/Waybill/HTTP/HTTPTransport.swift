package import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

enum HTTPEvent: Sendable {
    /// The request waits until there is a network.
    case waits
    case sent(byteCount: Int64, expected: Int64?)
    case responded(URLResponse)
    case received(Data)
    case measured(TransferMeasurements)
    case ended(URLError?)
}

/// Receives the events of one request. Calls never overlap, and `ended` is the last event.
///
/// On Linux, they run on URLSession's work queue, so they must not wait or call URLSession.
protocol HTTPEvents: AnyObject, Sendable {
    func tell(_ event: HTTPEvent)

    /// Returns the request to send at once; `nil` to take the 3xx as the response.
    func redirected(by response: HTTPURLResponse, to request: URLRequest) -> URLRequest?
}

protocol HTTPTransport: AnyObject, Sendable {
    func start(telling events: any HTTPEvents)

    /// Called at most once, after `start`, from any thread; must not wait.
    func cancel()
}

final class TaskTransport: HTTPTransport {
    private struct State {
        var events: (any HTTPEvents)?
        var task: URLSessionTask?
        var isCancelled = false
        var hasDeclined = false
    }

    private let outgoing: OutgoingRequest
    private let session: HTTPSession
    private let state = Locked(State())

    init(_ outgoing: OutgoingRequest, in session: HTTPSession) {
        self.outgoing = outgoing
        self.session = session
    }

    func start(telling events: any HTTPEvents) {
        state.withLock { $0.events = events }
        let task = session.task(of: outgoing, for: self)
        state.withLock { $0.task = task }
        task.resume()
    }

    func cancel() {
        let task = state.withLock { state in
            (state.isCancelled, state.events) = (true, nil)
            return state.task
        }
        if let task { session.cancel(task) }
    }

    // MARK: What the session tells its delegate

    private var events: (any HTTPEvents)? { state.withLock { $0.events } }

    func tell(_ event: HTTPEvent) { events?.tell(event) }

    /// Gives no answer if the task is about to be cancelled: swift-corelibs-foundation traps if both happen.
    func redirected(by response: HTTPURLResponse, to request: URLRequest, answer: (URLRequest?) -> Void) {
        let (events, isCancelled) = state.withLock { ($0.events, $0.isCancelled) }
        if !isCancelled { answer(events?.redirected(by: response, to: request)) }
    }

    /// swift-corelibs-foundation otherwise waits for a password forever, past every timeout.
    func declineChallenge(_ answer: @escaping @Sendable () -> Void) {
        state.withLock { $0.hasDeclined = true }
        session.later(answer)
    }

    /// Ends a request whose kept-alive connection closed during the upload. libcurl retries and asks for the body
    /// again, which swift-corelibs-foundation can't provide. Both would wait until the deadline.
    func lose() {
        let events = events
        cancel()
        events?.tell(.ended(URLError(.networkConnectionLost)))
    }

    func ended(_ error: (any Error)?) {
        let last = state.withLock { exchange(&$0, with: State(isCancelled: true)) }
        let isAnswered = last.hasDeclined && (error as? URLError)?.code == .cancelled
        last.events?.tell(.ended(isAnswered ? nil : error.map(URLError.init(wrapping:))))
    }
}

extension URLError {
    fileprivate init(wrapping error: any Error) {
        self = error as? URLError ?? URLError(.unknown, userInfo: [NSUnderlyingErrorKey: error])
    }
}

struct OutgoingRequest: Sendable {
    enum Body: Sendable {
        /// The request's own data or stream, or none.
        case own
        case data(Data)
        case file(URL)
    }

    var request: URLRequest
    var body = Body.own

    var data: Data? {
        switch body {
        case .own: request.httpBody
        case .data(let data): data
        case .file: nil
        }
    }
}

/// RFC 9110, section 15.4.
package enum RedirectPolicy: Sendable {
    /// On another origin, the request loses these fields. swift-corelibs-foundation loses a body, also for 307 and 308.
    case follow(droppingFieldsForOtherOrigins: [String] = [])
    /// Take the 3xx as the response.
    case refuse

    func request(after next: URLRequest, of first: URLRequest) -> URLRequest? {
        guard case .follow(let fields) = self else { return nil }
        if let there = next.url.flatMap(Origin.init), let here = first.url.flatMap(Origin.init),
            there.isAsGood(as: here)
        {
            return next
        }
        var clean = next
        for field in fields { clean.setValue(nil, forHTTPHeaderField: field) }
        return clean
    }
}

extension RedirectPolicy {
    static func follow(_ record: ExchangeRecorder?, of sources: SourceRegistry) -> RedirectPolicy {
        var fields = sources.settings?.options.header.fieldNames ?? []
        if let record { fields += record.headers.keys }
        if let policy = sources.settings?.options.server.traceContext, policy != .off {
            fields += [TraceParent.fieldName, TraceParent.stateFieldName]
        }
        return .follow(droppingFieldsForOtherOrigins: fields)
    }
}

/// The origin of a URL (RFC 6454, section 4).
package struct Origin: Equatable {
    private let scheme: String
    private let host: String
    private let port: Int

    private static let ports = ["http": 80, "https": 443]

    package init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let usual = Self.ports[scheme], let host = url.host() else {
            return nil
        }
        (self.scheme, self.host, port) = (scheme, host.lowercased(), url.port ?? usual)
    }

    /// Whether it is the same origin, or the same host with HTTPS instead of HTTP on the default ports.
    package func isAsGood(as other: Origin) -> Bool {
        self == other
            || host == other.host && (other.scheme, other.port) == ("http", 80) && (scheme, port) == ("https", 443)
    }
}
