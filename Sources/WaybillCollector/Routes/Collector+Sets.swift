#if Collector
import HTTPTypes
import Hummingbird
import WaybillCore
import WaybillExport
import WaybillLegacy
import WaybillQueries
import WaybillSpans

extension Collector {
    /// Returns only after the synced commit.
    func addSet(
        _ request: Request, to project: Project, from identity: Access.Identity
    ) async throws -> Response {
        let type = request.headers[.contentType] ?? ""
        let isLegacy = LegacyMediaType.matches(type)
        guard isLegacy || request.mediaType == TransactionSet.mediaType else {
            throw Problem.unsupported(type, insteadOf: [TransactionSet.mediaType])
        }
        let body = try IncomingBody(request, accept: [TransactionSet.mediaType], limits: limits)
        let room = pendingBytes.reservation(for: identity)
        // A decoded set takes as much memory as its body, so the reservation lasts until the commit.
        defer { withExtendedLifetime(room) {} }
        if isLegacy { return try await addLegacySet(body.read(into: room), to: project) }
        // No variable holds the body, because its bytes must not outlive decoding.
        let decoded = try Self.decode(await body.read(into: room))
        guard decoded.sentFactCount <= limits.factsPerSet else {
            throw Problem.tooMany(facts: decoded.sentFactCount, limit: limits.factsPerSet)
        }
        let received = ReceivedSet(set: redactor.redacted(decoded), atMicroseconds: clock.wallMicroseconds())
        var receipt = try await project.store.add(received)
        receipt.samplingRates = await project.samplingRates.rates(
            after: received.set, receipt, in: project.store)
        return Response(receipt.encoded(), as: Receipt.mediaType)
    }

    private static func decode(_ body: [UInt8]) throws(Problem) -> TransactionSet {
        do throws(SetDecodingFailure) { return try TransactionSet.decode(body) } catch { throw Problem(error) }
    }
}

extension Collector {
    /// Clients of version 0.0.1 delete a set after any 2xx, wait after a 503, and drop their token after a 401.
    /// They retry anything else forever, so unreadable transactions go into quarantine instead.
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
    /// Stores spans from OTLP/HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp).
    /// Services don't retry spans that a partial success rejects, because they are outside of any transaction.
    func addSpans(_ request: Request, to project: Project, from identity: Access.Identity) async throws -> Response {
        let encoding = try SpanEncoding(request)
        let body = try IncomingBody(request, accept: SpanEncoding.allCases.map(\.rawValue), limits: limits)
        let room = pendingBytes.reservation(for: identity)
        defer { withExtendedLifetime(room) {} }
        let received = try encoding.decode(await body.read(into: room), limit: limits.factsPerSet)
        let verdict = try await project.store.add(received, sentBy: identity.name)
        project.counters.count(verdict)
        return Response(encoding.answer(verdict), as: encoding.rawValue)
    }
}

/// Cross-origin requests (Fetch standard, "CORS protocol").
/// Other sites may use only the routes that ingest, and only with a token, which no browser adds on its own. What a host
/// identifies its users by may be a cookie, which browsers do add.
extension Collector {
    func takesOtherSites(_ route: Route) -> Bool { route.role == .ingest && access.hasTokens }

    func preflight(of route: Route) -> Response {
        var headers: HTTPFields = [.accessControlAllowOrigin: "*"]
        headers[.accessControlAllowMethods] = route.method.rawValue
        headers[.accessControlAllowHeaders] = "authorization, content-type, content-encoding"
        headers[.accessControlMaxAge] = "86400"
        return Response(status: .noContent, headers: headers)
    }
}
#endif
