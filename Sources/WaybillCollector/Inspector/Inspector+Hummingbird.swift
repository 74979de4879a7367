#if Collector
import HTTPTypes
public import Hummingbird
import Logging
import ServiceLifecycle
public import WaybillInspector

/// The pages on a Hummingbird server.
///
/// ## Usage
///
/// ```swift
/// let inspector = try Inspector(file: URL(filePath: "phone.sqlite"))
/// try await Application(router: inspector.router()).runService()  // on loopback: all who reach it see everything
/// ```
extension Inspector {
    /// A router that holds the pages and nothing else.
    @available(macOS 14, iOS 17, tvOS 17, *)
    public func router() -> Router<BasicRequestContext> { router(BasicRequestContext.self) }

    @available(macOS 14, iOS 17, tvOS 17, *)
    package func router<Context: RequestContext>(_ context: Context.Type) -> Router<Context> {
        let router = Router(context: context)
        router.add(middleware: ProblemMiddleware())
        addRoutes(to: router)
        return router
    }

    /// Adds the pages to a router or to a group of one. Their addresses are relative.
    @available(macOS 14, iOS 17, tvOS 17, *)
    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
        for route in routes {
            for method in route.methods.compactMap({ HTTPRequest.Method($0) }) {
                router.on(RouterPath(route.path), method: method) { request, context in
                    let request = try await InspectorRequest(request, route)
                    let response = await cancelWhenGracefulShutdown { await respond(to: request) }
                    if let failure = response.failure { context.logger.error("waybill: \(failure)") }
                    return method == .head ? Response(response).createHeadResponse() : Response(response)
                }
            }
        }
    }
}

extension InspectorRequest {
    /// - Parameter route: Whose components are at the end of the path.
    init(_ request: Request, _ route: InspectorRoute) async throws {
        let depth = route.depth
        let components = request.uri.path.split(separator: "/").map { "/\($0)" }
        var request = request
        let form = request.method == .post ? String(buffer: try await request.collectBody(upTo: route.formLimit)) : ""
        var fields = Dictionary(request.headers.map { ($0.name.canonicalName, $0.value) }) { $0 + "; " + $1 }
        fields["host"] = request.head.authority
        self.init(
            method: request.method.rawValue, path: depth == 0 ? "/" : components.suffix(depth).joined(),
            query: request.uri.query ?? "", form: form, fields: fields, root: components.dropLast(depth).joined())
    }
}

extension Response {
    init(_ response: InspectorResponse) {
        var headers = HTTPFields()
        for (name, value) in response.fields.sorted(by: { $0.key < $1.key }) {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        let body: ResponseBody =
            switch response.body {
            case .bytes(let bytes): ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
            case .stream(let pieces):
                ResponseBody { writer in
                    for try await piece in pieces.cancelOnGracefulShutdown() {
                        try await writer.write(ByteBuffer(bytes: piece))
                    }
                    try await writer.finish(nil)
                }
            }
        self.init(status: HTTPResponse.Status(code: response.status), headers: headers, body: body)
    }
}
#endif
