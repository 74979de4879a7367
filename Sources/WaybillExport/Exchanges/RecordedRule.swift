import Foundation
package import Waybill
import WaybillCore
package import WaybillQueries
import WaybillStore

extension NetworkRule {
    /// Creates a rule that answers one request as the server answered it, after the recorded time.
    ///
    /// A body that was not kept becomes a placeholder, and the rule's name reports it. Returns `nil` for a WebSocket
    /// that opened, because rules can only fail its handshake.
    ///
    /// - Parameter number: The position among the rules, which makes the name unique.
    package init?(_ exchange: TransactionRecord.Exchange, body: ExchangeBody?, number: Int) {
        let lack = ExchangeBody.lack(of: body, byteCount: exchange.receivedByteCount)
        guard let action = Action(exchange, body, lack: lack) else { return nil }
        let remark = lack.map { "(\($0)) " } ?? ""
        let name = "\(number) \(exchange.method) \(remark)\(exchange.url)"
        self.init(name.cut(to: Limits.labelLength), matching: RequestPattern(exchange), action, times: 1)
    }
}

extension ExchangeBody {
    /// Why the whole body is unknown; `nil` if it is known.
    package static func lack(of body: ExchangeBody?, byteCount: Int64?) -> String? {
        if let body { return body.lack }
        guard let byteCount, byteCount > 0 else { return nil }
        return "A body of \(Words.byteCount(byteCount)) was not kept."
    }

    package static func placeholder(_ lack: String) -> String { "placeholder: \(lack)" }
}

extension NetworkRule.Action {
    fileprivate init?(_ exchange: TransactionRecord.Exchange, _ body: ExchangeBody?, lack: String?) {
        let closed = exchange.closedMicroseconds ?? exchange.openedMicroseconds
        let delay = Duration.microseconds(min(max(0, closed - exchange.openedMicroseconds), Limits.largestInteger))
        switch exchange.state {
        case .completed:
            guard let status = exchange.status, (200...599).contains(status), exchange.transfer.webSocket == nil else {
                return nil
            }
            let kept = body.flatMap { $0.isKept ? Data($0.bytes) : nil }
            self = .mock(
                NetworkRule.Response(
                    status: status, headerFields: Self.fields(exchange, body),
                    body: kept ?? Data((lack.map(ExchangeBody.placeholder) ?? "").utf8), delay: delay))
        case .failed: self = .fail(Self.code(exchange.error), after: delay)
        case .cancelled: self = .fail(.cancelled, after: delay)
        // URLSession gives up after this time by default.
        case nil: self = .fail(.timedOut, after: .seconds(60))
        }
    }

    private static func code(_ error: RecordedError?) -> URLError.Code {
        guard let error, error.domain == NSURLErrorDomain, let number = Int(exactly: error.code) else {
            return .unknown
        }
        // Apple platforms accept every number as a code; others only known ones.
        let code: URLError.Code? = URLError.Code(rawValue: number)
        return code.flatMap { $0.name == nil ? nil : $0 } ?? .unknown
    }

    /// Without fields that describe the transfer, and without redacted ones.
    private static func fields(_ exchange: TransactionRecord.Exchange, _ body: ExchangeBody?) -> [HeaderField] {
        let omitted: Set = ["content-length", "content-encoding", "transfer-encoding", "connection", "set-cookie"]
        var fields = exchange.responseHeaderFields.filter {
            !$0.name.isEmpty && !omitted.contains($0.name.lowercased()) && !$0.value.contains(Redactor.placeholder)
        }
        if let type = body?.contentType, fields.value(for: "Content-Type") == nil {
            fields.append(HeaderField(name: "Content-Type", value: type))
        }
        return fields
    }
}

extension RequestPattern {
    fileprivate init(_ exchange: TransactionRecord.Exchange) {
        self.init(
            method: TextPattern(recorded: exchange.method),
            host: URL(string: exchange.url)?.host().map { TextPattern(recorded: $0) },
            path: TextPattern(recorded: exchange.path))
        guard let mark = exchange.url.firstIndex(of: "?") else { return }
        url = TextPattern(recorded: "*" + exchange.url[mark...], isFree: true)
    }
}

extension TextPattern {
    /// Any text matches redacted parts, and the rest of a long text.
    fileprivate init(recorded text: String, isFree: Bool = false) {
        let free = text.replacing(Redactor.placeholder, with: "*")
        if free.isLonger(than: Self.maximumPatternLength - 1) {
            self = .glob(free.cut(to: Self.maximumPatternLength - 1) + "*")
        } else {
            self = isFree || free != text ? .glob(free) : .exact(free)
        }
    }
}
