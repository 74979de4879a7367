#if Collector
import Hummingbird
import WaybillCore
import WaybillStore

extension Collector {
    /// Takes in a set; returns only after the synced commit.
    func addSet(_ request: Request) async throws -> Response {
        try Self.checkContent(of: request)
        let body = try await read(request)
        let decoded: DecodedSet
        do throws(SetDecodingFailure) {
            decoded = try TransactionSet.decode(body)
        } catch {
            throw Problem(error)
        }
        let receivedAt = clock.wallMicroseconds()
        let receipt = try await writer.run { store throws(WaybillError) in try store.ingest(decoded, receivedAt: receivedAt) }
        return Response(
            status: .ok, headers: [.contentType: Receipt.mediaType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: receipt.encoded())))
    }

    private static func checkContent(of request: Request) throws(Problem) {
        let type = request.headers[.contentType] ?? ""
        let essence = type.prefix { $0 != ";" }.trimmingSuffix { $0 == " " || $0 == "\t" }.lowercased()
        guard essence == TransactionSet.mediaType else { throw Problem.unsupported(type) }
        let coding = request.headers[.contentEncoding] ?? "identity"
        guard coding.lowercased() == "identity" else { throw Problem.unsupported(coding: coding) }
    }

    /// The body, as long as it stays within the limit: told first by its stated length, and then by what really comes.
    private func read(_ request: Request) async throws -> [UInt8] {
        let stated = request.headers[.contentLength].flatMap { Int($0) } ?? 0
        guard stated <= bodyLimit else { throw Problem.tooLarge(limit: bodyLimit) }
        var body: [UInt8] = []
        body.reserveCapacity(stated)
        for try await buffer in request.body {
            guard body.count + buffer.readableBytes <= bodyLimit else { throw Problem.tooLarge(limit: bodyLimit) }
            body.append(contentsOf: buffer.readableBytesView)
        }
        return body
    }
}

extension Substring {
    fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> Substring {
        var rest = self
        while let last = rest.last, isTrimmed(last) { rest.removeLast() }
        return rest
    }
}
#endif
