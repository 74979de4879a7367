#if Collector
public import Hummingbird
import WaybillInspector

/// Answers with a problem document (RFC 9457) where nothing else made the answer: an unknown route, an unforeseen
/// error. A browser at an unknown route is shown a page that says so.
///
/// Add it to a router that serves a collector alone, before the routes; a router that has errors of its own needs it
/// not.
public struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    /// Makes the middleware.
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
    /// Whether it comes from a browser that goes to an address, rather than from a program.
    fileprivate var isForPage: Bool {
        (method == .get || method == .head)
            && headers[values: .accept].contains { $0.lowercased().contains("text/html") }
    }
}
#endif
