import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Carries a request by another carrier, and loses the connection after some bytes of the answer's body.
final class CutCarrier: HTTPCarrier, HTTPEvents {
    private struct State {
        /// nil before the start and after the end.
        var events: (any HTTPEvents)?
        var remainingByteCount: Int
    }

    private let carrier: any HTTPCarrier
    private let error: URLError
    private let state: Locked<State>

    /// - Parameters:
    ///   - byteCount: Of the body, decoded; with 0 the head still comes.
    ///   - error: How it ends.
    init(_ carrier: any HTTPCarrier, afterByteCount byteCount: Int, with error: URLError) {
        self.carrier = carrier
        self.error = error
        state = Locked(State(remainingByteCount: byteCount))
    }

    func start(telling events: any HTTPEvents) {
        state.withLock { $0.events = events }
        carrier.start(telling: self)
    }

    func cancel() {
        state.withLock { $0.events = nil }
        carrier.cancel()
    }

    // MARK: What the other carrier tells

    private var events: (any HTTPEvents)? { state.withLock { $0.events } }

    func sent(byteCount: Int, expected: Int?) { events?.sent(byteCount: byteCount, expected: expected) }

    func redirected(by response: HTTPURLResponse, to request: URLRequest) -> URLRequest? { events?.redirected(by: response, to: request) }

    func responded(_ response: URLResponse) {
        events?.responded(response)
        cutIfDue()
    }

    func received(_ bytes: Data) {
        let (events, seen) = state.withLock { state in
            let seen = bytes.prefix(state.remainingByteCount)
            state.remainingByteCount -= seen.count
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
        carrier.cancel()
    }

    private func takeEvents() -> (any HTTPEvents)? {
        state.withLock { state in
            defer { state.events = nil }
            return state.events
        }
    }
}
