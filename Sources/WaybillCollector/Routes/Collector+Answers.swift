#if Collector
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import WaybillCore
import WaybillExport
import WaybillQueries

extension Collector {
    /// Answers the question in the body. Query parameters, if there are any, replace its filter.
    func ask(_ request: Request, of store: any ProjectStore) async throws -> Response {
        let question = try QuestionBody.decode(await request.question())
        return try json(await store.answer(question, where: request.queryItems))
    }
}

extension Request {
    fileprivate func question() async throws -> Data {
        let type = (headers[.contentType] ?? "").prefix { $0 != ";" }.lowercased().split(separator: " ").joined()
        let isPlain = (headers[.contentEncoding] ?? "identity").lowercased() == "identity"
        guard type == QuestionBody.mediaType, isPlain else {
            let given = type == QuestionBody.mediaType ? "a Content-Encoding" : type
            throw Problem.unsupported(given, insteadOf: [QuestionBody.mediaType], subject: "A question")
        }
        var bytes = Data()
        for try await buffer in body {
            guard bytes.count + buffer.readableBytes <= QuestionBody.byteLimit else {
                throw Problem(
                    .contentTooLarge, "A question has at most \(QuestionBody.byteLimit) bytes.",
                    limit: QuestionBody.byteLimit)
            }
            bytes.append(contentsOf: buffer.readableBytesView)
        }
        return bytes
    }
}

extension Collector {
    /// Streams facts as text. It reads the store no faster than the client receives.
    func export(_ request: Request, of store: any ProjectStore) async throws -> Response {
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
    /// RFC 9110, section 12.5.3: gzip is listed, with a weight other than 0.
    var acceptsGzip: Bool {
        (headers[.acceptEncoding] ?? "").lowercased().split(separator: ",").contains { coding in
            let words = coding.split(separator: ";").map { $0.filter { $0 != " " } }
            return words.first == "gzip"
                && !words.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) == 0 }
        }
    }
}

extension Collector {
    /// Returns only when the erased bytes are gone.
    func erase(_ request: Request, from project: Project, _ context: some RequestContext) async throws -> Erasure {
        let scope = try await project.store.erasureScope(ErasureQuery(request.queryItems))
        do {
            return try await project.store.erase(scope)
        } catch {
            context.logger.error("waybill: \(error)")
            throw Problem.unfinishedErasure
        }
    }
}
#endif
