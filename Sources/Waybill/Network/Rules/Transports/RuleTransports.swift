import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends nothing.
final class AnswerTransport: HTTPTransport {
    private let answer: [HTTPEvent]

    init(_ answer: [HTTPEvent]) { self.answer = answer }

    func start(telling events: any HTTPEvents) {
        for event in answer { events.tell(event) }
    }

    func cancel() {}
}

/// Starts another transport later, slows down its events, or cuts off its response.
///
/// URLSession can't pause on every platform, and its queue must not wait. Early events wait in memory, in order.
final class RuleTransport: HTTPTransport, HTTPEvents {
    struct Cut {
        /// The number counts decoded bytes. With 0, the head still arrives.
        var byteCount: Int64
        var error: URLError
    }

    private struct State {
        var events: (any HTTPEvents)?
        var hasStarted = false
        var isCancelled = false
        var waiting: [HTTPEvent] = []
        var isTelling = false
        /// Counts down to the cut.
        var cut: Cut?

        /// Returns whether the response is cut off here.
        mutating func add(_ event: HTTPEvent) -> Bool {
            guard let cut else {
                waiting.append(event)
                return false
            }
            switch event {
            case .waits, .sent, .measured, .ended:
                waiting.append(event)
                return false
            case .responded: waiting.append(event)
            case .received(let bytes):
                let seen = bytes.prefix(Int(clamping: cut.byteCount))
                self.cut?.byteCount -= Int64(seen.count)
                waiting.append(.received(seen))
            }
            guard self.cut?.byteCount == 0 else { return false }
            waiting.append(.ended(cut.error))
            return true
        }
    }

    private let transport: any HTTPTransport
    private let delay: Duration?
    private let bytesPerSecond: Int64?
    private let schedule: any RuleSchedule
    private let state: Locked<State>

    /// Without a delay, it starts at once.
    init(
        _ transport: any HTTPTransport, startingAfter delay: Duration? = nil, bytesPerSecond: Int64? = nil,
        cut: Cut? = nil, on schedule: any RuleSchedule
    ) {
        self.transport = transport
        self.delay = delay
        self.bytesPerSecond = bytesPerSecond
        self.schedule = schedule
        state = Locked(State(cut: cut))
    }

    func start(telling events: any HTTPEvents) {
        state.withLock { $0.events = events }
        if let delay {
            schedule.after(delay) { [self] in startTransport() }
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
            let (begins, isCut) = state.withLock { state in
                guard state.events != nil else { return (false, false) }
                let isCut = state.add(event)
                return (!exchange(&state.isTelling, with: true), isCut)
            }
            if begins { tellWaiting() }
            if isCut { transport.cancel() }
        }
    }

    // MARK: Telling it later

    private func tellWaiting() {
        while let event = nextEvent() {
            if let bytesPerSecond, let count = event.byteCount, count > 0 {
                return schedule.after(.microseconds(count * 1_000_000 / bytesPerSecond)) { [self] in
                    pass(event)
                    tellWaiting()
                }
            }
            pass(event)
        }
    }

    /// Takes at most the bytes of a tenth of a second, for a steady flow.
    private func nextEvent() -> HTTPEvent? {
        let pieceByteCount = bytesPerSecond.map { Int(min(max(1, $0 / 10), 65_536)) } ?? .max
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
