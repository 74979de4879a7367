#if Collector
import Foundation
public import Hummingbird
package import WaybillCore
import WaybillInspector
import WaybillQueries

/// An RFC 9457 problem document. Its type is always `about:blank`, and its title is the phrase of the status.
package struct Problem: Error, Sendable, Hashable, Encodable {
    private var type = "about:blank"
    private let title: String
    private let code: Int
    package var detail: String
    /// 413: The largest body in bytes.
    package var limit: Int?
    /// 400 and 422: An RFC 6901 JSON pointer into the body; empty for the whole body.
    package var pointer: String?
    /// 415: The accepted media types.
    package var accept: [String]?
    package var parameter: String?
    /// 400: The offset in that parameter, in Unicode scalars.
    package var offset: Int?
    package var transactions: [GUID]?
    package var headers: HTTPFields = [:]
    var refusal: Refusal?

    package static let mediaType = "application/problem+json"

    private enum CodingKeys: String, CodingKey {
        case type, title, detail, limit, pointer, accept, parameter, offset, transactions
        case code = "status"
    }

    package init(_ status: HTTPResponse.Status, _ detail: String) { self.init(status, detail, limit: nil) }

    init(
        _ status: HTTPResponse.Status, _ detail: String, limit: Int? = nil, pointer: String? = nil,
        accept: [String]? = nil, refusal: Refusal? = nil, headers: HTTPFields = [:]
    ) {
        (title, code, self.detail) = (status.reasonPhrase, status.code, detail)
        (self.limit, self.pointer, self.accept) = (limit, pointer, accept)
        (self.refusal, self.headers) = (refusal, headers)
    }

    package var status: HTTPResponse.Status { HTTPResponse.Status(code: code, reasonPhrase: title) }
}

extension Problem: HTTPResponseError {
    package func response(from request: Request, context: some RequestContext) throws -> Response {
        let (head, body) = try answer
        return Response(status: head.status, headers: head.headerFields, body: ResponseBody(byteBuffer: body))
    }

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

extension Problem {
    init(_ failure: Redacted<QueryFailure>) {
        let failure = failure.value
        switch failure {
        case .parameter(let name, let message):
            self.init(.badRequest, message)
            parameter = name
        case .filter(let mistake):
            self.init(.badRequest, mistake.message)
            (parameter, offset) = ("filter", mistake.offset)
        case .question(let message): self = .question(message)
        case .notFound(let message): self.init(.notFound, message)
        case .ambiguousExchange: self.init(.conflict, failure.description)
        case .ambiguous(_, let ids):
            self.init(.conflict, failure.description)
            transactions = Array(ids.prefix(QueryFailure.namedTransactions))
        }
    }

    init(_ failure: SetDecodingFailure, instead subject: String = "transaction set") {
        self.init(
            failure.kind == .malformed ? .badRequest : .unprocessableContent,
            "This is no \(subject): \(failure.message).", pointer: failure.pointer)
    }

    static func methodNotAllowed(_ method: HTTPRequest.Method, on route: Route) -> Problem {
        let allowed = route.methodsOfPath.map(\.rawValue).joined(separator: ", ")
        var problem = Problem(.methodNotAllowed, "\(route.path) does not take \(method.rawValue); it takes \(allowed).")
        problem.headers[.allow] = allowed
        return problem
    }

    /// RFC 6750, section 3.1: The error code is sent only if the request had a token.
    static func unauthorized(isTokenGiven: Bool) -> Problem {
        isTokenGiven
            ? Problem(
                .unauthorized, "This is not one of the collector's tokens.", refusal: .unknownToken,
                headers: [.wwwAuthenticate: #"Bearer error="invalid_token""#])
            : Problem(
                .unauthorized, "Send the collector's token as “Authorization: Bearer ...”.", refusal: .noToken,
                headers: [.wwwAuthenticate: "Bearer"])
    }

    static func ended(_ end: String) -> Problem {
        let day = end.hasSuffix("T00:00:00Z") ? String(end.prefix { $0 != "T" }) : end
        return Problem(
            .unauthorized, "This token ended on \(day). Ask for a new one.", refusal: .endedToken,
            headers: [.wwwAuthenticate: #"Bearer error="invalid_token""#])
    }

    /// A page of any site can make a browser send requests with the user's cookies.
    static let crossSite = Problem(.forbidden, "This was asked for by the page of another site.")

    static func forbidden(_ role: Role, for other: Role, isToken: Bool) -> Problem {
        Problem(
            .forbidden,
            isToken
                ? "This token has the role \(role.rawValue), and this takes the role \(other.rawValue): create one with `waybill token add FOLDER --role \(other.rawValue)`."
                : "You have the role \(role.rawValue), and this takes the role \(other.rawValue). Ask for that role.",
            // The scheme of a host's own access is unknown.
            refusal: .role, headers: isToken ? [.wwwAuthenticate: #"Bearer error="insufficient_scope""#] : [:])
    }

    static func tooManyRequests(isToken: Bool, retryAfter seconds: Int) -> Problem {
        let sender = isToken ? "This token sends more requests than it may." : "You send more requests than you may."
        return Problem(
            .tooManyRequests, "\(sender) Wait for \(seconds) s.", refusal: .rate, headers: [.retryAfter: "\(seconds)"])
    }

    static var overloaded: Problem {
        Problem(
            .serviceUnavailable, "The collector has as much to do as it has room for. Nothing was kept; try again.",
            refusal: .overload, headers: [.retryAfter: "1"])
    }

    static func deadline(_ error: WaybillError) -> Problem { Problem(.unprocessableContent, error.message) }

    static var ending: Problem {
        Problem(
            .serviceUnavailable, "The collector is about to end, and answers nothing more. Ask again.",
            headers: [.retryAfter: "5"])
    }

    static var unfinishedErasure: Problem {
        Problem(
            .serviceUnavailable,
            "The erasure was not finished: somebody reads the store, or it cannot be written. Send it again.",
            refusal: .unfinishedErasure, headers: [.retryAfter: "5"])
    }

    static func unsupported(
        _ type: String, insteadOf types: [String], subject: String = "What is taken here"
    ) -> Problem {
        let given = type.isEmpty ? "no Content-Type" : "“\(type)”"
        return Problem(
            .unsupportedMediaType,
            "\(subject) has the Content-Type \(types.joined(separator: " or ")); this request has \(given).",
            accept: types, headers: [.accept: types.joined(separator: ", ")])
    }

    static func unsupported(coding: String, accept types: [String]) -> Problem {
        Problem(
            .unsupportedMediaType, "The Content-Encoding “\(coding)” is not taken; send the body as it is, or as gzip.",
            accept: types, headers: [.acceptEncoding: "gzip, identity"])
    }

    static var notGzip: Problem {
        Problem(.badRequest, "The Content-Encoding is gzip, and the body is not, or not whole.", pointer: "")
    }

    static func tooLarge(limit: Int, isDecompressed: Bool = false) -> Problem {
        let condition = isDecompressed ? " when it is decompressed" : ""
        return Problem(
            .contentTooLarge, "A body has at most \(limit) bytes\(condition). Send fewer facts at a time.", limit: limit
        )
    }

    static func tooMany(facts count: Int, limit: Int) -> Problem {
        Problem(
            .contentTooLarge, "A set has at most \(limit) facts, and this one \(count). Send fewer at a time.",
            limit: limit)
    }

    static func tooMany(spans count: Int, limit: Int) -> Problem {
        Problem(
            .contentTooLarge,
            "A request has at most \(limit) spans and events of spans, and this one \(count). Send fewer at a time.",
            limit: limit)
    }

    static func tooMany(resources count: Int, limit: Int) -> Problem {
        Problem(
            .contentTooLarge,
            "A request has spans of at most \(limit) resources, and this one of \(count). Send fewer at a time.",
            limit: limit)
    }

    /// The store's own error goes to the log alone, because it may contain paths.
    static var unavailable: Problem {
        Problem(
            .serviceUnavailable, "The store cannot be read or written at the moment. Nothing was kept; try again.",
            refusal: .store, headers: [.retryAfter: "5"])
    }
}

/// A middleware that answers with a problem document (RFC 9457) for unknown routes and unexpected errors.
///
/// At an unknown route, browsers get a page instead. Add the middleware before the routes of a router that serves a
/// collector alone. A router with its own error handling doesn't need it.
public struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    /// Creates the middleware.
    public init() {}

    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let problem as Problem {
            throw problem
        } catch let error as HTTPError where error.status == .notFound {
            if request.isForPage { return Self.nothing(at: request) }
            throw Problem(
                .notFound,
                "There is nothing at \(request.uri.path). The routes are described in Schemas/collector.openapi.yaml.")
        } catch let error as any HTTPResponseError {
            throw Problem(error.status, "The request cannot be answered.")
        }
    }

    private static func nothing(at request: Request) -> Response {
        let response = Response(InspectorResponse.nothing(at: request.uri.path))
        return request.method == .head ? response.createHeadResponse() : response
    }
}

extension Request {
    fileprivate var isForPage: Bool {
        (method == .get || method == .head)
            && headers[values: .accept].contains { $0.lowercased().contains("text/html") }
    }
}
#endif
