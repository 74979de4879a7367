import Foundation
import TestSupport
import WaybillCore

@testable import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A schedule that a test executes step by step.
final class ManualSchedule: RuleSchedule {
    private struct State {
        var delays: [Duration] = []
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    /// All requested delays.
    var delays: [Duration] { state.withLock { $0.delays } }

    func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.delays.append(delay)
            state.waiting.append(body)
        }
    }

    /// Runs the next action; returns `false` if there was none.
    @discardableResult
    func step() -> Bool {
        let next: (@Sendable () -> Void)? = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        next?()
        return next != nil
    }

    func runAll() throws { try eventually("there is nothing left to be done") { !step() } }
}

/// Keeps the events that it receives.
final class ToldEvents: HTTPEvents {
    private let told = Locked<[String]>([])
    private let body = Locked(Data())

    /// The events in order, e.g. `received 4`.
    var all: [String] { told.withLock { $0 } }
    var bytes: Data { body.withLock { $0 } }

    private func add(_ event: String) { told.withLock { $0.append(event) } }

    func redirected(by response: HTTPURLResponse, to request: URLRequest) -> URLRequest? {
        add("redirected")
        return request
    }
    func tell(_ event: HTTPEvent) {
        switch event {
        case .waits: add("waits")
        case .sent(let byteCount, let expected): add("sent \(byteCount) of \(expected.map(String.init) ?? "?")")
        case .responded(let response): add("responded \(response.status)")
        case .received(let bytes):
            body.withLock { $0.append(bytes) }
            add("received \(bytes.count)")
        case .measured: add("measured")
        case .ended(let error): add(error.map { "failed \($0.code.rawValue)" } ?? "ended")
        }
    }
}

/// A transport that reports the events that a test chooses.
final class ScriptedTransport: HTTPTransport {
    private struct State {
        var events: (any HTTPEvents)?
        var startCount = 0
        var cancelCount = 0
    }

    private let state = Locked(State())

    var events: (any HTTPEvents)? { state.withLock { $0.events } }
    var startCount: Int { state.withLock { $0.startCount } }
    var cancelCount: Int { state.withLock { $0.cancelCount } }

    func start(telling events: any HTTPEvents) {
        state.withLock { state in
            state.events = events
            state.startCount += 1
        }
    }

    func cancel() { state.withLock { $0.cancelCount += 1 } }
}
