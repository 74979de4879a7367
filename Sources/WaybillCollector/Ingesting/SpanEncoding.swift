#if Collector
import Hummingbird
import WaybillCore
import WaybillSpans

/// How a request says its spans, by its media type; the answer is said likewise.
enum SpanEncoding: String, CaseIterable {
    case protobuf = "application/x-protobuf"
    case json = "application/json"

    init(_ request: Request) throws(Problem) {
        guard let encoding = Self(rawValue: request.mediaType) else {
            throw Problem.unsupported(
                request.headers[.contentType] ?? "", insteadOf: Self.allCases.map(\.rawValue))
        }
        self = encoding
    }

    /// - Parameter limit: Spans and events of spans that a request may have.
    func decode(_ body: [UInt8], limit: Int) throws(Problem) -> TraceRequest {
        let request: TraceRequest
        do throws(SetDecodingFailure) {
            request =
                switch self {
                case .protobuf: try TraceRequest.decode(protobuf: body, limit: limit)
                case .json: try TraceRequest.decode(json: body, limit: limit)
                }
        } catch {
            throw Problem(error, instead: "request of OTLP with spans")
        }
        guard request.itemCount <= limit else { throw Problem.tooMany(spans: request.itemCount, limit: limit) }
        let resources = request.resources.count
        guard resources <= TraceRequest.resourceLimit else {
            throw Problem.tooMany(resources: resources, limit: TraceRequest.resourceLimit)
        }
        return request
    }

    func answer(_ verdict: SpanVerdict) -> [UInt8] {
        switch self {
        case .protobuf: verdict.protobuf
        case .json: verdict.json
        }
    }

    /// A problem as `google.rpc.Status`, as OTLP asks of every error (https://opentelemetry.io/docs/specs/otlp/#failures).
    /// The number in it is gRPC's, and none is needed.
    func answer(_ problem: Problem) -> Response {
        let place = problem.pointer.map { $0.isEmpty ? "" : " It is at \($0)." } ?? ""
        let message = problem.detail + place
        let body: [UInt8]
        switch self {
        case .protobuf: body = ProtobufWriter.text(message, field: 2)
        case .json:
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("message", message)
            writer.endObject()
            body = writer.bytes
        }
        var headers = problem.headers
        headers[.contentType] = rawValue
        return Response(
            status: problem.status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
#endif
