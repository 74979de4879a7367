import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

final class MockTransport: HTTPTransport {
    typealias Answer = Result<(HTTPURLResponse, body: Data), URLError>

    /// A large mock arrives in pieces, as a response from the network does.
    private static let pieceByteCount = 65_536

    private let outgoing: OutgoingRequest
    private let answer: Answer
    private let delay: Duration
    private let schedule: any RuleSchedule
    private let events = Locked<(any HTTPEvents)?>(nil)

    init(_ outgoing: OutgoingRequest, answer: Answer, after delay: Duration, on schedule: any RuleSchedule) {
        self.outgoing = outgoing
        self.answer = answer
        self.delay = delay
        self.schedule = schedule
    }

    func start(telling events: any HTTPEvents) {
        self.events.withLock { $0 = events }
        schedule.after(delay) { [self] in tell() }
    }

    func cancel() { events.withLock { $0 = nil } }

    private func tell() {
        switch answer {
        case .success((let response, let body)):
            if let count = outgoing.byteCount, count > 0 { wanted?.tell(.sent(byteCount: count, expected: count)) }
            wanted?.tell(.responded(response))
            for start in stride(from: 0, to: body.count, by: Self.pieceByteCount) {
                wanted?.tell(.received(body.dropFirst(start).prefix(Self.pieceByteCount)))
            }
            end(nil)
        case .failure(let error): end(error)
        }
    }

    private var wanted: (any HTTPEvents)? { events.withLock { $0 } }

    private func end(_ error: URLError?) { events.withLock { $0.take() }?.tell(.ended(error)) }
}

extension OutgoingRequest {
    fileprivate var byteCount: Int64? {
        guard case .file(let file) = body else { return data.map { Int64($0.count) } }
        return (try? file.resourceValues(forKeys: [.fileSizeKey]))?.fileSize.map { Int64($0) }
    }
}

final class CutTransport: HTTPTransport, HTTPEvents {
    private struct State {
        var events: (any HTTPEvents)?
        var remainingByteCount: Int64
    }

    private let transport: any HTTPTransport
    private let error: URLError
    private let state: Locked<State>

    /// The number counts decoded bytes. With 0, the head still arrives.
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

    func redirected(by response: HTTPURLResponse, to request: URLRequest) -> URLRequest? {
        events?.redirected(by: response, to: request)
    }

    func tell(_ event: HTTPEvent) {
        switch event {
        case .waits, .sent, .measured: events?.tell(event)
        case .responded:
            events?.tell(event)
            cutIfDue()
        case .received(let bytes):
            let (events, seen) = state.withLock { state in
                let seen = bytes.prefix(Int(clamping: state.remainingByteCount))
                state.remainingByteCount -= Int64(seen.count)
                return (state.events, seen)
            }
            events?.tell(.received(seen))
            cutIfDue()
        case .ended: takeEvents()?.tell(event)
        }
    }

    private func cutIfDue() {
        guard state.withLock({ $0.remainingByteCount == 0 }), let events = takeEvents() else { return }
        events.tell(.ended(error))
        transport.cancel()
    }

    private func takeEvents() -> (any HTTPEvents)? { state.withLock { $0.events.take() } }
}

/// URLSession can't pause on every platform, and its queue must not wait. Early events wait in memory, in order.
final class ThrottleTransport: HTTPTransport, HTTPEvents {
    private struct State {
        var events: (any HTTPEvents)?
        var hasStarted = false
        var isCancelled = false
        var waiting: [HTTPEvent] = []
        var isTelling = false
    }

    private let transport: any HTTPTransport
    private let throttle: NetworkRule.Throttle
    private let schedule: any RuleSchedule
    private let state = Locked(State())

    init(_ transport: any HTTPTransport, _ throttle: NetworkRule.Throttle, on schedule: any RuleSchedule) {
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
            state.isCancelled = true
            (state.events, state.waiting) = (nil, [])
            return state.hasStarted
        }
        if hasStarted { transport.cancel() }
    }

    private func startTransport() {
        guard state.withLock({ !$0.isCancelled }) else { return }
        transport.start(telling: self)
        let isCancelled = state.withLock { state in
            state.hasStarted = true
            return state.isCancelled
        }
        if isCancelled { transport.cancel() }
    }

    // MARK: What the other transport tells

    /// Not delayed: the caller waits for the result, and only bytes of the request's body can be waiting.
    func redirected(by response: HTTPURLResponse, to request: URLRequest) -> URLRequest? {
        state.withLock { $0.events }?.redirected(by: response, to: request)
    }

    func tell(_ event: HTTPEvent) {
        switch event {
        case .waits, .measured: state.withLock { $0.events }?.tell(event)  // takes no time
        case .sent, .responded, .received, .ended:
            let begins = state.withLock { state in
                guard state.events != nil else { return false }
                state.waiting.append(event)
                return !exchange(&state.isTelling, with: true)
            }
            if begins { tellWaiting() }
        }
    }

    // MARK: Telling it later

    private func tellWaiting() {
        while let event = nextEvent() {
            if let rate = throttle.bytesPerSecond, let count = event.byteCount, count > 0 {
                return schedule.after(.microseconds(count * 1_000_000 / rate)) { [self] in
                    pass(event)
                    tellWaiting()
                }
            }
            pass(event)
        }
    }

    /// Takes at most the bytes of a tenth of a second, for a steady flow.
    private func nextEvent() -> HTTPEvent? {
        let pieceByteCount = throttle.bytesPerSecond.map { Int(min(max(1, $0 / 10), 65_536)) } ?? .max
        return state.withLock { state in
            guard let first = state.waiting.first else {
                state.isTelling = false
                return nil
            }
            guard let (piece, rest) = first.split(at: pieceByteCount) else { return state.waiting.removeFirst() }
            state.waiting[0] = rest
            return piece
        }
    }

    private func pass(_ event: HTTPEvent) {
        let events = state.withLock { state in
            defer { if case .ended = event { state.events = nil } }
            return state.events
        }
        events?.tell(event)
    }
}

extension HTTPEvent {
    fileprivate var byteCount: Int64? {
        switch self {
        case .sent(let count, _): count
        case .received(let bytes): Int64(bytes.count)
        case .waits, .responded, .measured, .ended: nil
        }
    }

    fileprivate func split(at count: Int) -> (Self, Self)? {
        guard let total = byteCount, total > Int64(count) else { return nil }
        switch self {
        case .sent(_, let expected):
            return (
                .sent(byteCount: Int64(count), expected: expected),
                .sent(byteCount: total - Int64(count), expected: expected)
            )
        case .received(let bytes): return (.received(bytes.prefix(count)), .received(bytes.dropFirst(count)))
        case .waits, .responded, .measured, .ended: return nil
        }
    }
}
