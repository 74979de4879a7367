#if Collector
public import Hummingbird

/// Answers with a problem document (RFC 9457) where nothing else made the answer: an unknown route, an unforeseen error.
///
/// Add it to a router that serves a collector alone, before the routes; a router that has errors of its own needs it not.
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
            throw Problem(.notFound, "There is nothing at \(request.uri.path). The routes are described in Schemas/collector.openapi.yaml.")
        } catch let error as any HTTPResponseError {
            throw Problem(error.status, "The request cannot be answered.")
        }
    }
}
#endif
