#if Collector
import HTTPTypes
import Hummingbird
import WaybillCore
import WaybillExport
import WaybillReading
import WaybillStore

extension Collector {
    /// Streams facts as text. The store is read a piece at a time, when the client has taken the one before.
    func export(_ request: Request, of project: Project) async throws -> Response {
        let query = try ExportQuery(request.uri.queryParameters.map { (name: String($0.key), value: String($0.value)) })
        let scope = try await query.scope(project.queries, now: clock.wallMicroseconds())
        let isCompressed = request.acceptsGzip
        let (place, format) = (project.place, query.format)
        // A connection of its own for each: a client that takes hours keeps no other waiting.
        let thread = StoreThread(label: "waybill.export") { StreamedExport() }
        let cursor: ExportCursor
        do {
            cursor = try await thread.run { export in try export.begin(scope, as: format, of: place, isCompressed: isCompressed) }
        } catch let error as WaybillError where error.code == .format {
            throw QueryFailure.parameter("after", error.message)
        }
        var headers: HTTPFields = [.contentType: format.mediaType, .cacheControl: "no-store", .vary: "Accept-Encoding"]
        if let name = HTTPField.Name(ExportQuery.cursorField) { headers[name] = cursor.description }
        if isCompressed { headers[.contentEncoding] = "gzip" }
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                while let piece = try await thread.run({ export throws(WaybillError) in try export.piece() }) {
                    if !piece.isEmpty { try await writer.write(ByteBuffer(bytes: piece)) }
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
            return words.first == "gzip" && !words.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) == 0 }
        }
    }
}
#endif
