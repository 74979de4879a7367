import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension NetworkRules {
    /// A rule's delay ends at the deadline.
    func transport(
        for outgoing: OutgoingRequest, deadline: Duration? = nil, record: ExchangeRecorder,
        else transport: @autoclosure () -> any HTTPTransport
    ) -> any HTTPTransport {
        guard isEnabled, let request = ExchangeRequest(outgoing.request),
            let rule = hit(by: request, body: outgoing.data)
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

    /// Only rules that fail apply to WebSockets.
    func webSocket(for request: ExchangeRequest, record: ExchangeRecorder, tell diagnostics: Diagnostics)
        -> FailedWebSocket?
    {
        guard isEnabled, let rule = hit(by: request, body: nil) else { return nil }
        guard case .fail(let code, _, _) = rule.action else {
            diagnostics.once("The rule \(rule.name) does nothing to a WebSocket: only one that fails can.")
            return nil
        }
        record.interfered(by: rule.name, isMocked: true)
        return FailedWebSocket(URLError(code, failing: request.url), after: rule.action.delay, on: schedule())
    }
}

extension NetworkRule.Action {
    fileprivate var sendsNothing: Bool {
        switch self {
        case .mock, .fail: true
        case .throttle, .cut: false
        }
    }

    fileprivate var delay: Duration {
        switch self {
        case .mock(let mock): mock.delay.drawn(upTo: mock.maximumDelay)
        case .fail(_, let delay, let longest): delay.drawn(upTo: longest)
        case .throttle(let throttle): throttle.latency.drawn(upTo: throttle.maximumLatency)
        case .cut: .zero
        }
    }
}

extension NetworkRule.Response {
    fileprivate func answer(to request: ExchangeRequest) -> MockTransport.Answer {
        let hasBody = request.method.uppercased() != "HEAD" && status != 204 && status != 304
        var fields: [String: String] = [:]
        for field in headerFields {
            // Use one spelling of each name, since a dictionary would keep both.
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
    fileprivate init(_ code: Code, failing url: URL) {
        self.init(code, userInfo: [NSURLErrorFailingURLErrorKey: url])
    }
}
