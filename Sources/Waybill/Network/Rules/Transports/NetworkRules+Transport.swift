import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension NetworkRules {
    /// A rule's delay ends at the deadline. `request` has the session's fields, too.
    func transport(
        for request: ExchangeRequest, sentAs outgoing: OutgoingRequest, deadline: Duration? = nil,
        record: ExchangeRecorder, else transport: @autoclosure () -> any HTTPTransport
    ) -> any HTTPTransport {
        guard isEnabled, let rule = hit(by: request, body: outgoing.data) else { return transport() }
        record.interfered(by: rule.name, isMocked: rule.action.sendsNothing)
        let delay = rule.action.delay
        if let deadline, delay > deadline {
            return answering([.ended(URLError(.timedOut, failing: request.url))], after: deadline)
        }
        switch rule.action {
        case .mock(let mock): return answering(mock.events(answering: outgoing, request), after: delay)
        case .fail(let code, _, _): return answering([.ended(URLError(code, failing: request.url))], after: delay)
        case .throttle(let throttle):
            return RuleTransport(
                transport(), startingAfter: delay > .zero ? delay : nil, bytesPerSecond: throttle.bytesPerSecond,
                on: schedule())
        case .cut(let count):
            let lost = URLError(.networkConnectionLost, failing: request.url)
            return RuleTransport(transport(), cut: .init(byteCount: count, error: lost), on: schedule())
        }
    }

    private func answering(_ events: [HTTPEvent], after delay: Duration) -> RuleTransport {
        RuleTransport(AnswerTransport(events), startingAfter: delay, on: schedule())
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
    /// A large body arrives in pieces, as one from the network does.
    private static let pieceByteCount = 65_536

    fileprivate func events(answering outgoing: OutgoingRequest, _ request: ExchangeRequest) -> [HTTPEvent] {
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
            return [.ended(URLError(.badServerResponse, failing: request.url))]
        }
        var events: [HTTPEvent] = [.responded(response)]
        if let count = outgoing.byteCount, count > 0 { events.insert(.sent(byteCount: count, expected: count), at: 0) }
        for start in stride(from: 0, to: hasBody ? body.count : 0, by: Self.pieceByteCount) {
            events.append(.received(body.dropFirst(start).prefix(Self.pieceByteCount)))
        }
        return events + [.ended(nil)]
    }
}

extension OutgoingRequest {
    fileprivate var byteCount: Int64? {
        guard case .file(let file) = body else { return data.map { Int64($0.count) } }
        return (try? file.resourceValues(forKeys: [.fileSizeKey]))?.fileSize.map { Int64($0) }
    }
}

extension URLError {
    fileprivate init(_ code: Code, failing url: URL) {
        self.init(code, userInfo: [NSURLErrorFailingURLErrorKey: url])
    }
}
