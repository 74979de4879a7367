#if Collector
import HTTPTypes
import Hummingbird
import NIOCore
import WaybillCore
import WaybillExport
import WaybillLegacy
import WaybillQueries
import WaybillSpans

extension Collector {
    /// Takes in a set; returns only after the synced commit.
    func addSet(
        _ request: Request, to project: Project, from bearer: Bearer
    ) async throws -> Response {
        let body = try SetBody(request, limits: limits)
        let room = pendingBytes.reservation(for: bearer)
        // What is decoded takes as much as the body did, so that the room is needed up to the commit.
        defer { withExtendedLifetime(room) {} }
        if body.isLegacy { return try await addLegacySet(body.read(into: room), to: project) }
        // The body has no name here: what is decoded waits for its commit, and must not keep the bytes alive meanwhile.
        let decoded = try Self.decode(await body.read(into: room))
        guard decoded.factCount <= limits.factsPerSet else {
            throw Problem.tooMany(facts: decoded.factCount, limit: limits.factsPerSet)
        }
        let received = ReceivedSet(set: redactor.redacted(decoded), atMicroseconds: clock.wallMicroseconds())
        var receipt = try await project.store.add(received)
        receipt.samplingRates = await project.samplingRates.rates(
            after: received.content, receipt, in: project.store)
        return Response(
            status: .ok, headers: [.contentType: Receipt.mediaType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: receipt.encoded())))
    }

    private static func decode(_ body: [UInt8]) throws(Problem) -> DecodedSet {
        do throws(SetDecodingFailure) { return try TransactionSet.decode(body) } catch { throw Problem(error) }
    }
}

extension DecodedSet {
    /// As they were sent, those that cannot be read included.
    fileprivate var factCount: Int { self.set.factCount + rejections.count }
}

extension Collector {
    /// Takes in a set of version 0.0.1, and answers as its clients expect; returns only after the synced commit.
    ///
    /// They delete what they have sent on any 2xx, wait as a 503 says, and forget their token on a 401. Anything else
    /// they send again without end: so only what is no set at all is refused, and a transaction that cannot be read is
    /// kept in quarantine.
    func addLegacySet(_ body: [UInt8], to project: Project) async throws -> Response {
        let set: LegacySet
        do throws(SetDecodingFailure) { set = try LegacySet.decode(body) } catch { throw Problem(error) }
        let count = set.factCount + set.unread.count
        guard count <= limits.factsPerSet else { throw Problem.tooMany(facts: count, limit: limits.factsPerSet) }
        let digest = SHA256.hash(body)
        _ = try await project.store.add(set, digest: digest)
        return Response(status: .accepted, headers: [.cacheControl: "no-store", .contentLength: "0"])
    }
}

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

/// Pages of other sites send what they record (Fetch standard, "CORS protocol").
///
/// Only the routes that take something in are open to them, and only where a token is asked for: a page has to know it,
/// since no browser adds one by itself. A collector that is open to all would take in what any page sends.
extension Collector {
    /// Whether pages of other sites may use a route.
    func takesOtherSites(_ route: Route) -> Bool { route.role == .ingest && !access.isOpen }

    /// The answer to the question whether a page may send a request.
    func preflight(of route: Route) -> Response {
        var headers: HTTPFields = [.accessControlAllowOrigin: "*"]
        headers[.accessControlAllowMethods] = route.method.rawValue
        headers[.accessControlAllowHeaders] = "authorization, content-type, content-encoding"
        headers[.accessControlMaxAge] = "86400"
        return Response(status: .noContent, headers: headers)
    }
}
#endif
