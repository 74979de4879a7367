import Foundation
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
