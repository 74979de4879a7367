import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension NetworkRules {
    /// What carries a request: the rule that acts on it, or what would without one.
    ///
    /// - Parameters:
    ///   - deadline: The longest it may take; nil: any time. What a rule alone makes longer ends there, by the clock that
    ///     the rule waits by.
    ///   - record: Told which rule it is.
    ///   - transport: Makes what sends the request.
    func transport(
        for outgoing: OutgoingRequest, deadline: Duration? = nil, record: ExchangeRecorder,
        else transport: @autoclosure () -> any HTTPTransport
    ) -> any HTTPTransport {
        guard isOn, let request = ExchangeRequest(outgoing.request), let rule = hit(by: request, body: outgoing.data)
        else {
            return transport()
        }
        record.interfered(by: rule.name, isMocked: rule.action.sendsNothing)
        let delay = rule.action.delay
        if let deadline, delay > deadline {
            let timedOut = URLError(.timedOut, failing: request.url)
            return MockTransport(outgoing, answer: .failure(timedOut), after: deadline, on: schedule())
        }
        switch rule.action {
        case .mock(let mock):
            return MockTransport(outgoing, answer: mock.answer(to: request), after: delay, on: schedule())
        case .fail(let code, _, _):
            return MockTransport(
                outgoing, answer: .failure(URLError(code, failing: request.url)), after: delay, on: schedule())
        case .throttle(var throttle):
            throttle.latency = delay
            return ThrottleTransport(transport(), throttle, on: schedule())
        case .cut(let count):
            return CutTransport(
                transport(), afterByteCount: count, with: URLError(.networkConnectionLost, failing: request.url))
        }
    }

    /// What a WebSocket is carried by where a rule fails it; nil where none does, and for rules that have answers, which a
    /// WebSocket has not.
    func webSocket(for request: ExchangeRequest, record: ExchangeRecorder, tell diagnostics: Diagnostics)
        -> FailedWebSocket?
    {
        guard isOn, let rule = hit(by: request, body: nil) else { return nil }
        guard case .fail(let code, _, _) = rule.action else {
            diagnostics.once("The rule \(rule.name) does nothing to a WebSocket: only one that fails can.")
            return nil
        }
        record.interfered(by: rule.name, isMocked: true)
        return FailedWebSocket(URLError(code, failing: request.url), after: rule.action.delay, on: schedule())
    }
}

extension NetworkRule.Action {
    /// Whether the request never leaves the process.
    fileprivate var sendsNothing: Bool {
        switch self {
        case .mock, .fail: true
        case .throttle, .cut: false
        }
    }

    /// How long it waits with this request.
    fileprivate var delay: Duration {
        switch self {
        case .mock(let mock): mock.delay.drawn(upTo: mock.longestDelay)
        case .fail(_, let delay, let longest): delay.drawn(upTo: longest)
        case .throttle(let throttle): throttle.latency.drawn(upTo: throttle.longestLatency)
        case .cut: .zero
        }
    }
}

extension NetworkRule.Response {
    /// The answer as URLSession would give it.
    fileprivate func answer(to request: ExchangeRequest) -> MockTransport.Answer {
        let hasBody = request.method.uppercased() != "HEAD" && status != 204 && status != 304
        var fields: [String: String] = [:]
        for field in headerFields {
            // One spelling for each name: a dictionary would have both.
            let name = fields.keys.first { $0.caseInsensitiveCompare(field.name) == .orderedSame } ?? field.name
            fields[name] = fields[name].map { "\($0), \(field.value)" } ?? field.value
        }
        if hasBody, !fields.keys.contains(where: { ["content-length", "transfer-encoding"].contains($0.lowercased()) })
        {
            fields["Content-Length"] = "\(body.count)"
        }
        guard
            let response = HTTPURLResponse(
                url: request.url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        else {
            return .failure(URLError(.badServerResponse, failing: request.url))
        }
        return .success((response, body: hasBody ? body : Data()))
    }
}

extension URLError {
    /// As URLSession has it: with the URL that it is about.
    fileprivate init(_ code: Code, failing url: URL) {
        self.init(code, userInfo: [NSURLErrorFailingURLErrorKey: url])
    }
}
