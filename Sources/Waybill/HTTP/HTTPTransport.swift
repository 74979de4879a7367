package import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What happens to one request, in order. Calls never overlap; ``ended(_:)`` is the last one, and comes once.
///
/// On Linux they come on URLSession's own work queue: none of them may wait, nor call URLSession.
protocol HTTPEvents: AnyObject, Sendable {
    /// So many more bytes of the request's body were sent.
    ///
    /// - Parameter expected: Of how many in all; nil where that is not known.
    func sent(byteCount: Int64, expected: Int64?)

    /// An answer names another place.
    ///
    /// - Returns: The request to send there, at once; nil where the 3xx is the answer.
    func redirected(by response: HTTPURLResponse, to request: URLRequest) -> URLRequest?

    /// The head of the answer is there.
    func responded(_ response: URLResponse)

    /// More of the answer's body, decoded, as it comes.
    func received(_ bytes: Data)

    /// What the platform measured of it, where it does.
    func measured(_ measurements: TransferMeasurements)

    /// There will be no more; nil where the answer is whole.
    func ended(_ error: URLError?)
}

/// Carries one request and tells what happens to it: URLSession does, and so does what takes its place or stands before
/// it.
protocol HTTPTransport: AnyObject, Sendable {
    /// Begins; called once.
    func start(telling events: any HTTPEvents)

    /// The answer is no longer wanted. Called once at most, after `start`, from any thread; must not wait. What is told
    /// afterwards is ignored.
    func cancel()
}

/// What a platform measures of an exchange.
struct TransferMeasurements: Sendable {
    var phases: Fact.Phases
    var isConnectionReused: Bool?
    var httpVersion: String?
    var receivedWireByteCount: Int64?
}

extension ExchangeRecorder {
    /// What the platform measured of it.
    func measured(_ measurements: TransferMeasurements) {
        measured(
            phases: measurements.phases, isConnectionReused: measurements.isConnectionReused,
            httpVersion: measurements.httpVersion,
            receivedWireByteCount: measurements.receivedWireByteCount)
    }
}

/// Carries nothing: fails at once.
final class FailedTransport: HTTPTransport {
    private let error: URLError

    init(_ error: URLError) { self.error = error }

    func start(telling events: any HTTPEvents) { events.ended(error) }

    func cancel() {}
}

/// Carries a request by a task of a session.
final class TaskTransport: HTTPTransport {
    private struct State {
        /// nil before the start and after the end.
        var events: (any HTTPEvents)?
        var task: URLSessionTask?
        var isCanceled = false
        /// Whether an authentication was declined, which ends the task as if it had been canceled.
        var hasDeclined = false
    }

    private let outgoing: OutgoingRequest
    /// Kept alive until the task has ended.
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
            (state.isCanceled, state.events) = (true, nil)
            return state.task
        }
        if let task { session.cancel(task) }
    }

    // MARK: What the session tells its delegate

    private var events: (any HTTPEvents)? { state.withLock { $0.events } }

    func sent(byteCount: Int64, expected: Int64) {
        events?.sent(byteCount: byteCount, expected: expected > 0 ? expected : nil)
    }

    func responded(_ response: URLResponse) { events?.responded(response) }

    func received(_ bytes: Data) { events?.received(bytes) }

    /// Answers where to go from a 3xx, unless the task is about to be canceled: swift-corelibs-foundation traps when
    /// both happen. It does not when a cancellation comes after the answer was given here, on its own queue.
    func redirected(by response: HTTPURLResponse, to request: URLRequest, answer: (URLRequest?) -> Void) {
        let (events, isCanceled) = state.withLock { ($0.events, $0.isCanceled) }
        if !isCanceled { answer(events?.redirected(by: response, to: request)) }
    }

    /// Takes a 401 as the answer. swift-corelibs-foundation holds it back until there is a password, without end where
    /// there is none, and past every time-out; declined, the task ends as canceled.
    func declineChallenge(_ answer: @escaping @Sendable () -> Void) {
        state.withLock { $0.hasDeclined = true }
        session.later(answer)
    }

    /// Ends where a connection that had been kept alive was closed while the body went over it. libcurl sends that
    /// again, on a new one, and asks for it from the start; swift-corelibs-foundation has no more of it to give, and
    /// both would wait for each other until the deadline.
    func lose() {
        let events = events
        cancel()
        events?.ended(URLError(.networkConnectionLost))
    }

    func tell(_ measurements: TransferMeasurements) { events?.measured(measurements) }

    func ended(_ error: (any Error)?) {
        let last = state.withLock { state in
            defer { state = State(isCanceled: true) }
            return state
        }
        let isAnswered = last.hasDeclined && (error as? URLError)?.code == .cancelled
        last.events?.ended(isAnswered ? nil : error.map(URLError.init(wrapping:)))
    }
}

extension URLError {
    /// The error itself where it is one of URLSession's, else an unknown one with it underneath.
    fileprivate init(wrapping error: any Error) {
        self = error as? URLError ?? URLError(.unknown, userInfo: [NSUnderlyingErrorKey: error])
    }
}

/// A request and its body, before it is sent.
struct OutgoingRequest: Sendable {
    /// Where the body comes from.
    enum Body: Sendable {
        /// The request itself: its data, its stream, or none.
        case own
        case data(Data)
        case file(URL)
    }

    var request: URLRequest
    var body = Body.own

    /// The body, where it is in memory.
    var data: Data? {
        switch body {
        case .own: request.httpBody
        case .data(let data): data
        case .file: nil
        }
    }
}

/// What is done about an answer that names another place (RFC 9110, section 15.4).
package enum RedirectPolicy: Sendable {
    /// The request is sent there, without these header fields where that is another origin: another host, another port,
    /// or no longer encrypted. With swift-corelibs-foundation a body is lost on the way, also where 307 and 308 ask to
    /// keep it.
    case follow(droppingFieldsForOtherOrigins: [String] = [])
    /// The 3xx is the answer.
    case refuse

    /// What is sent next; nil for nothing.
    ///
    /// - Parameters:
    ///   - next: What URLSession has made of the answer.
    ///   - first: The request that the caller made.
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
    /// To another origin goes neither what was added to a request nor, of what ties it to a transaction, what its caller
    /// has set.
    ///
    /// - Parameter record: Of the request; nil where it is not known yet.
    static func follow(_ record: ExchangeRecorder?, of sources: SourceRegistry) -> RedirectPolicy {
        var fields = sources.settings?.header.fieldNames ?? []
        if let record { fields += record.headers.keys }
        if let policy = sources.settings?.traceContext, policy != .off {
            fields += [TraceParent.fieldName, TraceParent.stateFieldName]
        }
        return .follow(droppingFieldsForOtherOrigins: fields)
    }
}

/// Who answers at a URL (RFC 6454, section 4).
package struct Origin: Equatable {
    private let scheme: String
    private let host: String
    private let port: Int

    private static let ports = ["http": 80, "https": 443]

    /// nil for what is not HTTP.
    package init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let usual = Self.ports[scheme], let host = url.host() else {
            return nil
        }
        (self.scheme, self.host, port) = (scheme, host.lowercased(), url.port ?? usual)
    }

    /// Whether it is the same, or the same server's encrypted one: both are where a browser would look for it.
    package func isAsGood(as other: Origin) -> Bool {
        self == other
            || host == other.host && (other.scheme, other.port) == ("http", 80) && (scheme, port) == ("https", 443)
    }
}
