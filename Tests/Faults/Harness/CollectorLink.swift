#if Collector
import Foundation
import TestSupport
import WaybillCore

/// The link from the relay to the collector that runs at the moment.
final class CollectorLink: Sendable {
    /// The interventions on the link.
    struct Hooks: Sendable {
        /// Called before a set is handed to the collector.
        var onSet: (@Sendable () -> Void)?
        /// Called when the collector has answered, and so has committed. Returns whether the answer is passed on.
        var onAnswer: (@Sendable () -> Bool)?
        /// The faults of the network; `nil` for a network without any.
        var conditions: NetworkConditions?
    }

    /// The address of the collector; `nil` while none listens.
    let address = Locked<URL?>(nil)
    let hooks = Locked(Hooks())

    func forward(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        let hooks = hooks.withLock { $0 }
        hooks.onSet?()
        switch hooks.conditions?.next() ?? .clear {
        case .clear: break
        case .requestDropped: return .closed
        case .requestDelayed(let seconds): Thread.sleep(forTimeInterval: seconds)
        case .requestHalved:
            // The length fits the half: only the contents can reveal it.
            var half = request
            half.body = request.body.prefix(request.body.count / 2)
            return response(to: half, hooks)
        case .requestCutShort:
            cutShort(request)
            return .closed
        // Two requests at the same time, and one more below.
        case .requestDoubled: _ = answers(to: [request, request])
        case .answerDropped:
            _ = answers(to: [request])
            return .closed
        case .answerDelayed(let seconds):
            let response = response(to: request, hooks)
            Thread.sleep(forTimeInterval: seconds)
            return response
        case .answerHalved:
            var response = response(to: request, hooks)
            response.body = response.body.prefix(response.body.count / 2)
            return response
        case .answerCutShort: return response(to: request, hooks).cutShort
        }
        return response(to: request, hooks)
    }

    private func response(to request: LoopbackServer.Request, _ hooks: Hooks) -> LoopbackServer.Response {
        guard let answer = answers(to: [request])[0], hooks.onAnswer?() ?? true else { return .closed }
        return LoopbackServer.Response(
            status: answer.status, headers: [("Content-Type", answer.header("Content-Type") ?? "")], body: answer.body)
    }

    /// Sends requests at the same time and returns their answers; `nil` for one if no collector ran, or it was killed
    /// before it answered.
    private func answers(to requests: [LoopbackServer.Request]) -> [RawClient.Response?] {
        guard let port = address.withLock({ $0?.port }) else { return requests.map { _ in nil } }
        let answers = Locked([RawClient.Response?](repeating: nil, count: requests.count))
        let isDone = DispatchSemaphore(value: 0)
        for (index, request) in requests.enumerated() {
            Task {
                let answer = try? await RawClient.send(
                    request.method, request.path, to: port, headers: Self.fields(of: request), body: request.body)
                answers.withLock { $0[index] = answer }
                isDone.signal()
            }
        }
        for _ in requests { isDone.wait() }
        return answers.withLock { $0 }
    }

    /// Sends half of a request's body, and closes the connection.
    private func cutShort(_ request: LoopbackServer.Request) {
        guard let port = address.withLock({ $0?.port }) else { return }
        let isDone = DispatchSemaphore(value: 0)
        Task {
            let client = try? RawClient(port: port)
            let head = RawClient.head(
                request.method, request.path, headers: Self.fields(of: request), length: request.body.count)
            try? await client?.send(head + request.body.prefix(request.body.count / 2))
            isDone.signal()
        }
        isDone.wait()
    }

    private static func fields(of request: LoopbackServer.Request) -> [String: String] {
        var fields = ["Content-Type": request.header("Content-Type") ?? ""]
        fields["Content-Encoding"] = request.header("Content-Encoding")
        return fields
    }
}
#endif
