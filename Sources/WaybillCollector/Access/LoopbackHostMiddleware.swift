#if Collector
package import Hummingbird
import WaybillInspector

/// Refuses requests that name another host than this machine: for a server that asks for no token, and is therefore on
/// loopback alone.
///
/// A page from elsewhere whose name was turned to this machine (DNS rebinding) may, as far as a browser can tell, read
/// what it gets from there. The name that it went by stays in the field `Host`.
package struct LoopbackHostMiddleware<Context: RequestContext>: RouterMiddleware {
    package init() {}

    package func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard InspectorRequest.isLoopback(host: request.head.authority ?? "") else { throw Problem.notForLoopback }
        return try await next(request, context)
    }
}

extension Problem {
    fileprivate static let notForLoopback = Problem(
        .forbidden, "This is shown to this machine alone: ask for 127.0.0.1 or localhost.")
}
#endif
