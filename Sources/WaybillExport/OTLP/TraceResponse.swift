import Foundation
import Waybill
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
