#if Collector
package import Hummingbird
import Foundation
package import WaybillCore

/// What every answer of the collector other than a success says: an RFC 9457 problem document.
///
/// The status says what kind of problem it is, so the type is always `about:blank` and the title the status's own
/// phrase. Further members help to put it right.
package struct Problem: Error, Sendable, Hashable {
    /// Its phrase is the document's title.
    package var status: HTTPResponse.Status
    /// One sentence for a person.
    package var detail: String
    /// 413: the largest body in bytes.
    package var limit: Int?
    /// 400 and 422: where in the body, as an RFC 6901 JSON pointer; empty for the whole.
    package var pointer: String?
    /// 415: the media types that are taken.
    package var accept: [String]?
    /// 400: the query parameter that cannot be read.
    package var parameter: String?
    /// 400: where in that parameter, in Unicode scalars from its start.
    package var offset: Int?
    /// 409: the transactions that share a support code.
    package var transactions: [GUID]?
    /// Header fields of the answer; not part of the document.
    package var headers: HTTPFields = [:]
    /// Why the request was refused, where the reason is other than what it asked; not part of the document.
    var refusal: Refusal?

    package static let mediaType = "application/problem+json"

    package init(_ status: HTTPResponse.Status, _ detail: String) {
        self.status = status
        self.detail = detail
    }
}

extension Problem: Codable {
    private enum CodingKeys: CodingKey {
        case type, title, status, detail, limit, pointer, accept, parameter, offset, transactions
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let code = try container.decode(Int.self, forKey: .status)
        guard (400..<600).contains(code) else {  // `Status` traps beyond 999
            throw DecodingError.dataCorruptedError(
                forKey: .status, in: container, debugDescription: "No status of an error.")
        }
        status = HTTPResponse.Status(code: code, reasonPhrase: try container.decode(String.self, forKey: .title))
        detail = try container.decode(String.self, forKey: .detail)
        limit = try container.decodeIfPresent(Int.self, forKey: .limit)
        pointer = try container.decodeIfPresent(String.self, forKey: .pointer)
        accept = try container.decodeIfPresent([String].self, forKey: .accept)
        parameter = try container.decodeIfPresent(String.self, forKey: .parameter)
        offset = try container.decodeIfPresent(Int.self, forKey: .offset)
        transactions = try container.decodeIfPresent([GUID].self, forKey: .transactions)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("about:blank", forKey: .type)
        try container.encode(status.reasonPhrase, forKey: .title)
        try container.encode(status.code, forKey: .status)
        try container.encode(detail, forKey: .detail)
        try container.encodeIfPresent(limit, forKey: .limit)
        try container.encodeIfPresent(pointer, forKey: .pointer)
        try container.encodeIfPresent(accept, forKey: .accept)
        try container.encodeIfPresent(parameter, forKey: .parameter)
        try container.encodeIfPresent(offset, forKey: .offset)
        try container.encodeIfPresent(transactions, forKey: .transactions)
    }
}

extension Problem: HTTPResponseError {
    package func response(from request: Request, context: some RequestContext) throws -> Response {
        let (head, body) = try answer
        return Response(status: head.status, headers: head.headerFields, body: ResponseBody(byteBuffer: body))
    }

    /// The answer, for who writes to the connection itself.
    package var answer: (head: HTTPResponse, body: ByteBuffer) {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let body = ByteBuffer(bytes: try encoder.encode(self))
            var headers = headers
            headers[.contentType] = Self.mediaType
            headers[.contentLength] = "\(body.readableBytes)"
            headers.isolate()
            return (HTTPResponse(status: status, headerFields: headers), body)
        }
    }
}
#endif
