#if Collector
import CWaybillZlib
import Hummingbird
import NIOCore
import WaybillCore
import WaybillLegacy
import WaybillSpans

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
    func read(into room: SharedBudget.Reservation) async throws -> [UInt8] {
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

    private func decompressed(_ bytes: [UInt8], into room: SharedBudget.Reservation) throws -> [UInt8] {
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

/// Decompresses a stream piece by piece (RFC 1952), and never more than it is allowed to.
final class Gunzip {
    private let stream: UnsafeMutablePointer<z_stream>
    private var output = [UInt8](repeating: 0, count: 64 << 10)
    /// Whether a member has ended, and no other begun.
    private var isBetweenMembers = false

    /// What is wrong with what is decompressed.
    enum Failure: Error {
        /// The bytes are not gzip, damaged, or cut off.
        case notGzip
        /// There was no memory to decompress.
        case noMemory
    }

    init() throws(Failure) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // zlib.h, "inflateInit2": 15 bits of window, and 16 for a gzip header and no other. The function is behind a
        // macro.
        guard inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            stream.deallocate()
            throw .noMemory
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Decompresses what these bytes complete, and hands it over piece by piece; what `take` throws ends it.
    func decompress(_ bytes: some Collection<UInt8>, _ take: (ArraySlice<UInt8>) throws -> Void) throws {
        var input = Array(bytes)
        try input.withUnsafeMutableBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(input.count)
            var isOutputFull = false
            while stream.pointee.avail_in > 0 || isOutputFull {
                // RFC 1952, section 2.2: members follow each other without anything between them.
                if isBetweenMembers { inflateReset(stream) }
                let (status, count) = inflateOnce()
                // No progress is no fault: it waits for input.
                guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(status) else { throw Failure.notGzip }
                isBetweenMembers = status == Z_STREAM_END
                isOutputFull = count == output.count
                try take(output[..<count])
                if status == Z_BUF_ERROR { break }
            }
        }
    }

    /// Makes sure that the last member was whole.
    func finish() throws(Failure) {
        guard isBetweenMembers else { throw .notGzip }
    }

    private func inflateOnce() -> (status: Int32, count: Int) {
        output.withUnsafeMutableBufferPointer { output in
            stream.pointee.next_out = output.baseAddress
            stream.pointee.avail_out = UInt32(output.count)
            let status = inflate(stream, Z_NO_FLUSH)
            return (status, output.count - Int(stream.pointee.avail_out))
        }
    }
}

/// A set as a request carries it: its content type and coding are looked at first, then its bytes come in.
struct SetBody {
    private let body: IncomingBody
    /// Whether it is a set of version 0.0.1.
    let isLegacy: Bool

    /// - Throws: A `Problem` for another content type or coding, or a stated length beyond the limit: told before any
    ///   byte of it is read.
    init(_ request: Request, limits: CollectorLimits) throws(Problem) {
        isLegacy = LegacyMediaType.matches(request.headers[.contentType] ?? "")
        guard isLegacy || request.mediaType == TransactionSet.mediaType else {
            throw Problem.unsupported(request.headers[.contentType] ?? "", insteadOf: [TransactionSet.mediaType])
        }
        body = try IncomingBody(request, accept: [TransactionSet.mediaType], limits: limits)
    }

    /// The set's bytes, decompressed.
    func read(into room: SharedBudget.Reservation) async throws -> [UInt8] { try await body.read(into: room) }
}

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
