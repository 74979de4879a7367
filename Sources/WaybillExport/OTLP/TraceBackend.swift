package import Foundation
import Waybill
package import WaybillCore
import WaybillStore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client that posts spans by OTLP/HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp).
package final class TraceBackend: Sendable {
    /// The limits of attempts per line, and of the wait between them, even if `Retry-After` is longer.
    package static let attemptLimit = 5
    package static let longestWait = Duration.seconds(60)

    private let url: URL
    private let headers: [String: String]
    private let clock: any TransactionClock
    private let wait: @Sendable (Duration) async throws -> Void
    private let http = HTTPSession(configuration: .ephemeral)

    /// Creates a client; a URL without a path gets `/v1/traces`. Throws `.setting` for a URL other than HTTP.
    package init(
        _ url: URL, headers: [String: String] = [:], clock: any TransactionClock = SystemClock(),
        wait: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) throws(WaybillError) {
        guard ["http", "https"].contains(url.scheme?.lowercased()), url.host()?.isEmpty == false else {
            throw WaybillError(
                .setting,
                "The backend's address is no HTTP URL; give it as http://HOST:PORT, e.g. http://127.0.0.1:4318.")
        }
        self.url = url.path().count > 1 ? url : url.appending(path: "v1/traces")
        self.headers = headers
        self.clock = clock
        self.wait = wait
    }

    /// Sends one line of an OTLP export, and retries if the backend asks for it.
    ///
    /// - Throws: `.transport` if the backend is unreachable or overloaded, `.refused` if it rejects us. A line that it
    ///   calls malformed counts as rejected, since a retry would fail too.
    package func send(_ line: [UInt8]) async throws -> SpanReceipt {
        var attempt = 1
        while true {
            let failure: (error: WaybillError, retryAfter: Duration?)
            do {
                let (data, response) = try await http.data(
                    for: request, uploading: Data(line), redirects: .refuse, deadline: .seconds(30),
                    limit: 256 << 10)
                let answer = TraceResponse(data, response, now: clock.date)
                if let receipt = answer.receipt(forSpans: SpanReceipt.spanCount(of: line)) { return receipt }
                guard answer.isTemporary else { throw refusal(answer) }
                failure = (
                    WaybillError(
                        .transport, "The backend at \(place) has no time for spans (\(answer.status)). Try again later."
                    ),
                    answer.retryAfter
                )
            } catch let error as URLError {
                try Task.checkCancellation()
                failure = (
                    WaybillError(
                        .transport, "The backend at \(place) cannot be reached.",
                        cause: "URLError \(error.code.rawValue)"), nil
                )
            }
            guard attempt < Self.attemptLimit else { throw failure.error }
            try await wait(min(failure.retryAfter ?? .seconds(1 << (attempt - 1)), Self.longestWait))
            attempt += 1
        }
    }

    private func refusal(_ answer: TraceResponse) -> WaybillError {
        let hint =
            switch answer.status {
            case 401, 403: "give what it asks for in OTEL_EXPORTER_OTLP_HEADERS"
            case 300...399: "it redirects: give the address where it is"
            default: "check that the address takes OTLP/HTTP with JSON"
            }
        return WaybillError(
            .refused, "The backend at \(place) takes no spans (\(answer.status)): \(hint).", cause: answer.message)
    }

    private var request: URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.timeoutInterval = 40
        return request
    }

    /// Host and port for messages. Other parts of the URL may contain secrets.
    private var place: String { [url.host(), url.port?.description].compactMap(\.self).joined(separator: ":") }
}

extension TraceBackend {
    /// Returns the header fields in `OTEL_EXPORTER_OTLP_TRACES_HEADERS`, or else in `OTEL_EXPORTER_OTLP_HEADERS`.
    package static func headers(of environment: [String: String]) -> [String: String] {
        headers(environment["OTEL_EXPORTER_OTLP_TRACES_HEADERS"] ?? environment["OTEL_EXPORTER_OTLP_HEADERS"] ?? "")
    }

    /// Parses percent-encoded header fields (https://opentelemetry.io/docs/specs/otel/protocol/exporter/).
    package static func headers(_ text: String) -> [String: String] {
        var headers: [String: String] = [:]
        for item in text.split(separator: ",") {
            let pair = item.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces).removingPercentEncoding ?? ""
            }
            // Other characters would allow header injection.
            guard pair.count == 2, !pair[0].isEmpty,
                pair.joined().unicodeScalars.allSatisfy({ (0x20...0x7E).contains($0.value) })
            else {
                continue
            }
            headers[pair[0]] = pair[1]
        }
        return headers
    }
}

/// A backend's response: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response.
struct TraceResponse {
    let status: Int
    let retryAfter: Duration?
    private let data: Data

    init(_ data: Data, _ response: URLResponse, now: Date) {
        let response = response as? HTTPURLResponse
        status = response?.statusCode ?? 0
        retryAfter = RetryAfter.duration(
            response?.value(forHTTPHeaderField: "Retry-After"), answeredAt: response?.value(forHTTPHeaderField: "Date"),
            now: now)
        self.data = data
    }

    /// The specification's "retryable response codes".
    var isTemporary: Bool { [429, 502, 503, 504].contains(status) }

    /// Returns `nil` if the response does not concern the spans themselves.
    func receipt(forSpans count: Int) -> SpanReceipt? {
        switch status {
        case 200...299:
            let rejected = min(max(0, partialSuccess?.rejectedSpans?.value ?? 0), count)
            return SpanReceipt(acceptedCount: count - rejected, rejectedCount: rejected, message: message)
        // The specification forbids retries of "bad data".
        case 400, 413, 422: return SpanReceipt(rejectedCount: count, message: message ?? "status \(status)")
        default: return nil
        }
    }

    /// The backend's message, redacted, shortened and without control characters.
    var message: String? {
        let text = partialSuccess?.errorMessage ?? (try? JSONDecoder().decode(Status.self, from: data))?.message ?? ""
        return text.isEmpty ? nil : String(Redactor().text(text).prefix(300)).printable
    }

    private var partialSuccess: PartialSuccess? {
        (try? JSONDecoder().decode(Success.self, from: data))?.partialSuccess
    }

    private struct Success: Decodable { var partialSuccess: PartialSuccess? }
    private struct PartialSuccess: Decodable {
        var rejectedSpans: Count?
        var errorMessage: String?
    }
    private struct Status: Decodable { var message: String? }

    /// A 64-bit integer, which may be a string.
    private struct Count: Decodable {
        var value: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            value = try (try? container.decode(Int.self)) ?? Int(container.decode(String.self)) ?? 0
        }
    }
}

package struct SpanReceipt: Sendable, Hashable {
    package var acceptedCount = 0
    package var rejectedCount = 0
    /// The redacted message about rejected spans, or a warning; `nil` if there is none.
    package var message: String?

    package init(acceptedCount: Int = 0, rejectedCount: Int = 0, message: String? = nil) {
        self.acceptedCount = acceptedCount
        self.rejectedCount = rejectedCount
        self.message = message
    }

    package static func += (total: inout SpanReceipt, one: SpanReceipt) {
        total.acceptedCount += one.acceptedCount
        total.rejectedCount += one.rejectedCount
        total.message = one.message ?? total.message
    }

    package var sentence: String {
        let rejected = rejectedCount > 0 ? ", \(rejectedCount) rejected" : ""
        return "\(Words.count(acceptedCount, "span")) sent\(rejected)\(message.map { ": \($0)" } ?? ".")"
    }

    /// In strings, quotation marks are escaped, and links have no start time.
    static func spanCount(of line: [UInt8]) -> Int {
        Data(line).ranges(of: Data("\"startTimeUnixNano\":".utf8)).count
    }
}
