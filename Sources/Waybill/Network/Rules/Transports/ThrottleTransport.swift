import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Carries a request by another transport, later, and tells what happens to it as slowly as a throttle says.
///
/// URLSession cannot be held on every platform, and its queue must not be: what it tells too early waits here, in
/// memory and in order.
final class ThrottleTransport: HTTPTransport, HTTPEvents {
    fileprivate enum Step {
        case sent(byteCount: Int64, expected: Int64?)
        case responded(URLResponse)
        case received(Data)
        case ended(URLError?)
    }

    private struct State {
        /// nil before the start, after the end and once it is canceled.
        var events: (any HTTPEvents)?
        var hasStarted = false
        var isCanceled = false
        var steps: [Step] = []
        /// Whether steps are being told, or are about to be.
        var isTelling = false
    }

    private let transport: any HTTPTransport
    private let throttle: Throttle
    private let schedule: any RuleSchedule
    private let state = Locked(State())

    init(_ transport: any HTTPTransport, _ throttle: Throttle, on schedule: any RuleSchedule) {
        self.transport = transport
        self.throttle = throttle
        self.schedule = schedule
    }

    func start(telling events: any HTTPEvents) {
        state.withLock { $0.events = events }
        if throttle.latency > .zero {
            schedule.after(throttle.latency) { [self] in startTransport() }
        } else {
            startTransport()
        }
    }

    func cancel() {
        let hasStarted = state.withLock { state in
            state.isCanceled = true
            (state.events, state.steps) = (nil, [])
            return state.hasStarted
        }
        if hasStarted { transport.cancel() }
    }

    private func startTransport() {
        guard state.withLock({ !$0.isCanceled }) else { return }
        transport.start(telling: self)
        let isCanceled = state.withLock { state in
            state.hasStarted = true
            return state.isCanceled
        }
        if isCanceled { transport.cancel() }
    }

    // MARK: What the other transport tells

    func sent(byteCount: Int64, expected: Int64?) { add(.sent(byteCount: byteCount, expected: expected)) }

    /// Not delayed: the caller waits for the answer, and nothing but bytes of the request's body can be waiting.
    func redirected(by response: HTTPURLResponse, to request: URLRequest) -> URLRequest? {
        state.withLock { $0.events }?.redirected(by: response, to: request)
    }

    func responded(_ response: URLResponse) { add(.responded(response)) }

    func received(_ bytes: Data) { add(.received(bytes)) }

    /// Not delayed: it is about the network, and it takes no time.
    func measured(_ measurements: TransferMeasurements) { state.withLock { $0.events }?.measured(measurements) }

    func ended(_ error: URLError?) { add(.ended(error)) }

    // MARK: Telling it later

    private func add(_ step: Step) {
        let begins = state.withLock { state in
            guard state.events != nil else { return false }
            state.steps.append(step)
            defer { state.isTelling = true }
            return !state.isTelling
        }
        if begins { tellSteps() }
    }

    /// Tells what can be told now, and comes back for what takes time.
    private func tellSteps() {
        while let step = nextStep() {
            if let rate = throttle.bytesPerSecond, let count = step.byteCount, count > 0 {
                return schedule.after(.microseconds(count * 1_000_000 / rate)) { [self] in
                    tell(step)
                    tellSteps()
                }
            }
            tell(step)
        }
    }

    /// Takes what is told next: of bytes no more than come in a tenth of a second, so that they flow.
    private func nextStep() -> Step? {
        let pieceByteCount = throttle.bytesPerSecond.map { Int(min(max(1, $0 / 10), 65_536)) } ?? .max
        return state.withLock { state in
            guard let first = state.steps.first else {
                state.isTelling = false
                return nil
            }
            guard let (piece, rest) = first.split(at: pieceByteCount) else { return state.steps.removeFirst() }
            state.steps[0] = rest
            return piece
        }
    }

    private func tell(_ step: Step) {
        let events = state.withLock { state in
            defer { if case .ended = step { state.events = nil } }
            return state.events
        }
        switch step {
        case .sent(let count, let expected): events?.sent(byteCount: count, expected: expected)
        case .responded(let response): events?.responded(response)
        case .received(let bytes): events?.received(bytes)
        case .ended(let error): events?.ended(error)
        }
    }
}

extension ThrottleTransport.Step {
    /// The bytes that take time; nil for what takes none.
    fileprivate var byteCount: Int64? {
        switch self {
        case .sent(let count, _): count
        case .received(let bytes): Int64(bytes.count)
        case .responded, .ended: nil
        }
    }

    /// A piece of so many bytes, and the rest; nil where there is no rest.
    fileprivate func split(at count: Int) -> (Self, Self)? {
        guard let total = byteCount, total > Int64(count) else { return nil }
        switch self {
        case .sent(_, let expected):
            return (
                .sent(byteCount: Int64(count), expected: expected),
                .sent(byteCount: total - Int64(count), expected: expected)
            )
        case .received(let bytes): return (.received(bytes.prefix(count)), .received(bytes.dropFirst(count)))
        case .responded, .ended: return nil
        }
    }
}
