#if Collector
import CWaybillZlib
import Foundation
import Hummingbird
import NIOCore
import WaybillCore
import WaybillSpans

struct IncomingBody {
    private let request: Request
    private let limits: CollectorLimits
    private let isCompressed: Bool

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

    /// Receives the whole body before it decompresses it: a stalled body must not hold more memory than was sent.
    /// It reserves room for received bytes alone, because declaring a length costs the sender nothing.
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
        try bytes.decompress { piece in
            guard body.count + piece.count <= limits.decompressedByteCount else {
                throw Problem.tooLarge(limit: limits.decompressedByteCount, isDecompressed: true)
            }
            try room.grow(by: piece.count)
            body.append(contentsOf: piece)
        }
        room.shrink(by: bytes.count)
        return body
    }
}

extension Request {
    /// The `Content-Type` without parameters, in lower case; empty if the field is missing.
    var mediaType: String {
        let type = headers[.contentType] ?? ""
        return type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }
}

extension [UInt8] {
    /// Decompresses a gzip stream (RFC 1952), and passes the output on in pieces. An error from `take` ends it.
    fileprivate func decompress(_ take: (ArraySlice<UInt8>) throws -> Void) throws {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        defer { stream.deallocate() }
        stream.initialize(to: z_stream())
        // zlib.h, "inflateInit2", a macro for this function: a window of 15 bits, and 16 for gzip alone.
        guard inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw Problem.overloaded
        }
        defer { inflateEnd(stream) }
        var (input, output) = (self, [UInt8](repeating: 0, count: 64 << 10))
        var isBetweenMembers = false
        try input.withUnsafeMutableBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(input.count)
            var isOutputFull = false
            while stream.pointee.avail_in > 0 || isOutputFull {
                // RFC 1952, section 2.2: members follow each other without anything between them.
                if isBetweenMembers { inflateReset(stream) }
                let status = output.withUnsafeMutableBufferPointer { output in
                    stream.pointee.next_out = output.baseAddress
                    stream.pointee.avail_out = UInt32(output.count)
                    return inflate(stream, Z_NO_FLUSH)
                }
                let count = output.count - Int(stream.pointee.avail_out)
                // `Z_BUF_ERROR` is no failure: zlib needs more input.
                guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(status) else { throw Problem.notGzip }
                isBetweenMembers = status == Z_STREAM_END
                isOutputFull = count == output.count
                try take(output[..<count])
                if status == Z_BUF_ERROR { break }
            }
        }
        guard isBetweenMembers else { throw Problem.notGzip }
    }
}

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

    /// Answers with `google.rpc.Status` (https://opentelemetry.io/docs/specs/otlp/#failures). OTLP needs no gRPC code.
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
