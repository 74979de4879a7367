#if Collector
import Hummingbird
import WaybillCore
import WaybillSpans

extension Collector {
    /// Takes in spans by OTLP/HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp); returns only after the synced
    /// commit.
    ///
    /// Spans that are of no transaction are refused in the protocol's own form, a partial success: a service sends what
    /// it has, and none of it again.
    func addSpans(_ request: Request, to project: Project, from bearer: Bearer) async throws -> Response {
        let encoding = try SpanEncoding(request)
        let body = try IncomingBody(request, accept: SpanEncoding.allCases.map(\.rawValue), limits: limits)
        let room = pendingBytes.reservation(for: bearer)
        // What is decoded takes as much as the body did, so that the room is needed up to the commit.
        defer { withExtendedLifetime(room) {} }
        // The body has no name here: what is decoded waits for its commit, and must not keep the bytes alive meanwhile.
        let received = try encoding.decode(await body.read(into: room), limit: limits.factsPerSet)
        let verdict = try await project.store.add(received, sentBy: bearer.token?.id ?? "")
        project.counters.count(verdict)
        return Response(
            status: .ok, headers: [.contentType: encoding.rawValue, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: encoding.answer(verdict))))
    }
}
#endif
