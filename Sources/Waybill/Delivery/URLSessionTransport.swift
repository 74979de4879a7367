public import Foundation
public import WaybillCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Posts sets to a collector over HTTP.
///
/// Only one answer settles anything: a 200 with a receipt that names the set and whose counts add up to the facts that were sent. All else,
/// a sign-in page's 200 above all, is an error, and the facts stay pending. Redirects are not followed. The POST takes no part in any
/// transaction and carries no header field of one.
///
/// ## Usage
///
/// ```swift
/// let transport = URLSessionTransport(collector: url, token: token, timeout: .seconds(10))
/// ```
public final class URLSessionTransport: FlushTransport {
    private let collector: URL
    private let token: String?
    private let timeout: Duration
    private let http: HTTPSession

    /// Makes a transport with a session of its own, which is let go with it.
    ///
    /// - Parameters:
    ///   - collector: The address the collector serves at, as `waybill serve` prints it, e.g. `https://example.com` or
    ///     `https://example.com/waybill`; sets go to `v1/sets` below it. What is no HTTP address fails when a set is sent.
    ///   - token: Sent as `Authorization: Bearer` (RFC 6750); nil: not sent.
    ///   - timeout: The longest that sending and the answer may take together; 30 seconds unless said otherwise.
    ///   - configuration: Of the session, e.g. for a proxy; by default one that keeps nothing.
    public init(
        collector: URL, token: String? = nil, timeout: Duration = .seconds(30), configuration: URLSessionConfiguration = .ephemeral
    ) {
        self.collector = collector
        self.token = token
        self.timeout = timeout
        http = HTTPSession(configuration: configuration)
    }

    /// Posts a set and waits for the receipt.
    ///
    /// - Throws: `CancellationError` when the task is canceled, otherwise `WaybillError`: `.setting` for an address or a token that cannot
    ///   work, `.refused` for a 4xx, `.transport` for all else.
    public func send(_ set: OutgoingSet) async throws -> Receipt {
        let request = try request(for: set)
        let data: Data
        let response: URLResponse
        do {
            (data, response) = try await http.data(for: request, uploading: Data(set.body), redirects: .refuse, deadline: timeout)
        } catch {
            try Task.checkCancellation()
            let what = error.code == .timedOut ? "did not answer within \(timeout)" : "could not be reached"
            throw WaybillError(
                .transport, "The collector at \(place) \(what); the facts stay pending.", cause: "URLError \(error.code.rawValue)")
        }
        return try CollectorAnswer(data: data, response: response, from: place).receipt(for: set)
    }

    /// Host and port, for messages: the rest of a URL may hold secrets.
    private var place: String { [collector.host(), collector.port?.description].compactMap(\.self).joined(separator: ":") }

    private func request(for set: OutgoingSet) throws(WaybillError) -> URLRequest {
        guard ["http", "https"].contains(collector.scheme?.lowercased()), collector.host()?.isEmpty == false else {
            throw WaybillError(.setting, "The collector's address is no HTTP URL; give it as http://HOST:PORT or https://HOST.")
        }
        var request = URLRequest(url: collector.appending(path: "v1/sets"))
        request.httpMethod = "POST"
        request.setValue(set.mediaType, forHTTPHeaderField: "Content-Type")
        request.setValue(Receipt.mediaType, forHTTPHeaderField: "Accept")
        if let token {
            // A line feed from the end of a file would end the field, and begin another.
            guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw WaybillError(.setting, "The collector's token is empty or holds blanks, line ends or other than ASCII; trim it.")
            }
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        }
        // The deadline is the exchange's own; this keeps URLSession from giving up before it. Whole seconds, as Linux drops the rest.
        request.timeoutInterval = min(max(timeout.timeInterval, 1).rounded(.up) + 1, 86_400)
        return request
    }
}
