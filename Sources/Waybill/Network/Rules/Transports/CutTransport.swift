import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Carries a request by another transport, and loses the connection after some bytes of the answer's body.
final class CutTransport: HTTPTransport, HTTPEvents {
    private struct State {
        /// nil before the start and after the end.
        var events: (any HTTPEvents)?
        var remainingByteCount: Int64
    }

    private let transport: any HTTPTransport
    private let error: URLError
    private let state: Locked<State>

    /// - Parameters:
    ///   - byteCount: Of the body, decoded; with 0 the head still comes.
    ///   - error: How it ends.
    init(_ transport: any HTTPTransport, afterByteCount byteCount: Int64, with error: URLError) {
        self.transport = transport
        self.error = error
        state = Locked(State(remainingByteCount: byteCount))
    }

    func start(telling events: any HTTPEvents) {
        state.withLock { $0.events = events }
        transport.start(telling: self)
    }

    func cancel() {
        state.withLock { $0.events = nil }
        transport.cancel()
    }

    // MARK: What the other transport tells

    private var events: (any HTTPEvents)? { state.withLock { $0.events } }

    func sent(byteCount: Int64, expected: Int64?) { events?.sent(byteCount: byteCount, expected: expected) }

    func redirected(by response: HTTPURLResponse, to request: URLRequest) -> URLRequest? {
        events?.redirected(by: response, to: request)
    }

    func responded(_ response: URLResponse) {
        events?.responded(response)
        cutIfDue()
    }

    func received(_ bytes: Data) {
        let (events, seen) = state.withLock { state in
            let seen = bytes.prefix(Int(clamping: state.remainingByteCount))
            state.remainingByteCount -= Int64(seen.count)
            return (state.events, seen)
        }
        events?.received(seen)
        cutIfDue()
    }

    func measured(_ measurements: TransferMeasurements) { events?.measured(measurements) }

    func ended(_ error: URLError?) { takeEvents()?.ended(error) }

    private func cutIfDue() {
        guard state.withLock({ $0.remainingByteCount == 0 }), let events = takeEvents() else { return }
        events.ended(error)
        transport.cancel()
    }

    private func takeEvents() -> (any HTTPEvents)? {
        state.withLock { state in
            defer { state.events = nil }
            return state.events
        }
    }
}
