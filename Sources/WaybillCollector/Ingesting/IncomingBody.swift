#if Collector
import Hummingbird
import NIOCore
import WaybillCore

/// A body that may be compressed: its bytes come in, as long as they stay within the limits, and are decompressed at the
/// end.
struct IncomingBody {
    private let request: Request
    private let limits: CollectorLimits
    private let isCompressed: Bool

    /// - Parameter accept: The media types that are taken.
    /// - Throws: A `Problem` for another coding, or a stated length beyond the limit: told before any byte of it is read.
    init(_ request: Request, accept: [String], limits: CollectorLimits) throws(Problem) {
        self.request = request
        self.limits = limits
        let coding = request.headers[.contentEncoding] ?? "identity"
        switch coding.lowercased() {
        case "identity": isCompressed = false
        case "gzip", "x-gzip": isCompressed = true  // RFC 9110, section 8.4.1.3
        default: throw Problem.unsupported(coding: coding, accept: accept)
        }
        let stated = request.headers[.contentLength].flatMap { Int($0) } ?? 0
        guard stated <= limits.bodyByteCount else { throw Problem.tooLarge(limit: limits.bodyByteCount) }
    }

    /// The bytes, decompressed once the last of them has come: a body that stalls holds what was sent of it, and not
    /// what it could become.
    ///
    /// - Parameter room: Taken for them as they come, rather than by the stated length, which costs its sender nothing.
    func read(into room: SharedRoom.Reservation) async throws -> [UInt8] {
        var body: [UInt8] = []
        for try await buffer in request.body {
            guard body.count + buffer.readableBytes <= limits.bodyByteCount else {
                throw Problem.tooLarge(limit: limits.bodyByteCount)
            }
            try room.grow(by: buffer.readableBytes)
            body.append(contentsOf: buffer.readableBytesView)
        }
        return isCompressed ? try decompressed(body, into: room) : body
    }

    private func decompressed(_ bytes: [UInt8], into room: SharedRoom.Reservation) throws -> [UInt8] {
        var body: [UInt8] = []
        do {
            let gunzip = try Gunzip()
            try gunzip.decompress(bytes) { piece in
                guard body.count + piece.count <= limits.decompressedByteCount else {
                    throw Problem.tooLarge(decompressedLimit: limits.decompressedByteCount)
                }
                try room.grow(by: piece.count)
                body.append(contentsOf: piece)
            }
            try gunzip.finish()
        } catch Gunzip.Failure.notGzip {
            throw Problem.notGzip
        } catch Gunzip.Failure.noMemory {
            throw Problem.overloaded
        }
        room.shrink(by: bytes.count)
        return body
    }
}

extension Request {
    /// What its `Content-Type` says without parameters, in lower case; empty where there is none.
    var mediaType: String {
        let type = headers[.contentType] ?? ""
        return type.prefix { $0 != ";" }.trimmingSuffix { $0 == " " || $0 == "\t" }.lowercased()
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
