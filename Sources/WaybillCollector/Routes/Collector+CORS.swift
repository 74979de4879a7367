#if Collector
import HTTPTypes
import Hummingbird

/// Pages of other sites send what they record (Fetch standard, "CORS protocol").
///
/// Only the routes that take something in are open to them, and only where a token is asked for: a page has to know it,
/// since no browser adds one by itself. A collector that is open to all would take in what any page sends.
extension Collector {
    /// Whether pages of other sites may use a route.
    func takesOtherSites(_ route: Route) -> Bool { route.role == .ingest && !access.isOpen }

    /// The answer to the question whether a page may send a request.
    func preflight(of route: Route) -> Response {
        var headers: HTTPFields = [.accessControlAllowOrigin: "*"]
        headers[.accessControlAllowMethods] = route.method.rawValue
        headers[.accessControlAllowHeaders] = "authorization, content-type, content-encoding"
        headers[.accessControlMaxAge] = "86400"
        return Response(status: .noContent, headers: headers)
    }
}
#endif
