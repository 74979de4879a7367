#if Collector
import Hummingbird
import NIOCore
import WaybillCore
import WaybillReading

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
#endif
