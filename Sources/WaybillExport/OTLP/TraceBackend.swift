package import Foundation
import Waybill
package import WaybillCore
import WaybillStore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Posts spans to a backend by OTLP/HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp): Jaeger, Tempo, an
/// OpenTelemetry Collector.
package final class TraceBackend: Sendable {
    /// How often a line is sent at most, and the longest wait before it is sent again, even where `Retry-After` asks
    /// for more.
    package static let attemptLimit = 5
    package static let longestWait = Duration.seconds(60)

    private let url: URL
    private let headers: [String: String]
    private let clock: any TransactionClock
    private let wait: @Sendable (Duration) async throws -> Void
    private let http = HTTPSession(configuration: .ephemeral)

    /// - Parameters:
    ///   - url: Where requests go as they are; without a path, to `/v1/traces` there.
    ///   - headers: Sent with each request, e.g. for authorization.
    ///   - clock: By which a `Retry-After` that is a date is understood, in an answer without a `Date`.
    ///   - wait: Waits before something is sent again.
    /// - Throws: `.setting` for what is no HTTP address.
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

    /// Sends one line of an export as OTLP, again where the backend asks for that, and says what became of its spans.
    ///
    /// - Throws: `.transport` where the backend cannot be reached or has no time for it, `.refused` where it does not
    ///   take what we are: both without anything booked. A line that it finds malformed or too large counts as
    ///   rejected: it would be so the next time, too.
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

    /// Host and port, for messages: the rest of a URL may hold secrets.
    private var place: String { [url.host(), url.port?.description].compactMap(\.self).joined(separator: ":") }
}

extension TraceBackend {
    /// The fields of OpenTelemetry's variables `OTEL_EXPORTER_OTLP_TRACES_HEADERS` or else
    /// `OTEL_EXPORTER_OTLP_HEADERS`.
    package static func headers(of environment: [String: String]) -> [String: String] {
        headers(environment["OTEL_EXPORTER_OTLP_TRACES_HEADERS"] ?? environment["OTEL_EXPORTER_OTLP_HEADERS"] ?? "")
    }

    /// The fields of a text as those variables have it: `name=value`, separated by commas, percent-encoded
    /// (https://opentelemetry.io/docs/specs/otel/protocol/exporter/).
    package static func headers(_ text: String) -> [String: String] {
        var headers: [String: String] = [:]
        for item in text.split(separator: ",") {
            let pair = item.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces).removingPercentEncoding ?? ""
            }
            // What could not stand in a header field would end it, and begin another.
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

/// A backend's answer: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response.
struct TraceResponse {
    let status: Int
    /// nil where it says none that can be read.
    let retryAfter: Duration?
    private let data: Data

    /// - Parameter now: By the own clock, for an answer without a `Date`.
    init(_ data: Data, _ response: URLResponse, now: Date) {
        let response = response as? HTTPURLResponse
        status = response?.statusCode ?? 0
        retryAfter = RetryAfter.duration(
            response?.value(forHTTPHeaderField: "Retry-After"), answeredAt: response?.value(forHTTPHeaderField: "Date"),
            now: now)
        self.data = data
    }

    /// Those that the specification lists as "retryable response codes".
    var isTemporary: Bool { [429, 502, 503, 504].contains(status) }

    /// nil where nothing was said about the spans themselves.
    func receipt(forSpans count: Int) -> SpanReceipt? {
        switch status {
        case 200...299:
            let rejected = min(max(0, partialSuccess?.rejectedSpans?.value ?? 0), count)
            return SpanReceipt(acceptedCount: count - rejected, rejectedCount: rejected, message: message)
        // "Bad data" must not be sent again.
        case 400, 413, 422: return SpanReceipt(rejectedCount: count, message: message ?? "status \(status)")
        default: return nil
        }
    }

    /// Its words, redacted, shortened and without what a terminal would obey; nil for none.
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
    /// google.rpc.Status
    private struct Status: Decodable { var message: String? }

    /// An integer of 64 bits, which may be a string.
    private struct Count: Decodable {
        var value: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            value = try (try? container.decode(Int.self)) ?? Int(container.decode(String.self)) ?? 0
        }
    }
}

/// What a backend says about spans that it was sent.
package struct SpanReceipt: Sendable, Hashable {
    /// Spans that it has taken.
    package var acceptedCount = 0
    /// Spans that it has not, and will not.
    package var rejectedCount = 0
    /// Its words about those, or a warning where it has taken all, redacted; nil: none.
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

    /// For people.
    package var sentence: String {
        let rejected = rejectedCount > 0 ? ", \(rejectedCount) rejected" : ""
        return "\(Words.count(acceptedCount, "span")) sent\(rejected)\(message.map { ": \($0)" } ?? ".")"
    }

    /// How many spans a line of an export has: inside a string the quotation marks would be escaped. Each has a start,
    /// where a link has an ID, too.
    static func spanCount(of line: [UInt8]) -> Int {
        Data(line).ranges(of: Data("\"startTimeUnixNano\":".utf8)).count
    }
}
