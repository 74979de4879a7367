#if Collector
import HTTPTypes
import Hummingbird
import WaybillCore
import WaybillExport
import WaybillReading

extension Collector {
    /// Streams facts as text. The store is read a piece at a time, when the client has taken the one before.
    func export(_ request: Request, of store: any CollectedStore) async throws -> Response {
        let query = try ExportQuery(request.queryItems)
        let export = try await store.export(query.facts(now: clock.wallMicroseconds()), as: query.format)
        let isCompressed = request.acceptsGzip
        let pieces = isCompressed ? try export.compressed() : export
        var headers: HTTPFields = [
            .contentType: query.format.mediaType, .cacheControl: "no-store", .vary: "Accept-Encoding",
        ]
        if let name = HTTPField.Name(ExportQuery.cursorField) { headers[name] = export.cursor }
        if isCompressed { headers[.contentEncoding] = "gzip" }
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                while let piece = try await pieces.next() {
                    if !piece.bytes.isEmpty { try await writer.write(ByteBuffer(bytes: piece.bytes)) }
                }
                try await writer.finish(nil)
            })
    }
}

extension Request {
    /// RFC 9110, section 12.5.3: named, and not with a weight of 0.
    fileprivate var acceptsGzip: Bool {
        (headers[.acceptEncoding] ?? "").lowercased().split(separator: ",").contains { coding in
            let words = coding.split(separator: ";").map { $0.filter { $0 != " " } }
            return words.first == "gzip"
                && !words.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) == 0 }
        }
    }
}
#endif
