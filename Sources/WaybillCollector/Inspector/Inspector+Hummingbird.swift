#if Collector
package import HTTPTypes
public import Hummingbird
import Logging
import ServiceLifecycle
import WaybillCore
public import WaybillInspector

/// The inspector's pages on a Hummingbird server.
///
/// ## Usage
///
/// ```swift
/// let inspector = try Inspector(file: URL(filePath: "phone.sqlite"))
/// try await Application(router: inspector.router()).runService()  // on loopback: all who reach it see everything
/// ```
extension Inspector {
    /// Returns a router with the inspector's pages and nothing else.
    @available(macOS 14, iOS 17, tvOS 17, *)
    public func router() -> Router<BasicRequestContext> { router(BasicRequestContext.self) }

    @available(macOS 14, iOS 17, tvOS 17, *)
    package func router<Context: RequestContext>(_ context: Context.Type) -> Router<Context> {
        let router = Router(context: context)
        router.add(middleware: ProblemMiddleware())
        addRoutes(to: router)
        return router
    }

    /// Adds the pages to a router or to a group of one. The pages use relative links.
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
    /// The components of `route` are at the end of the request's path.
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

extension Collector {
    /// The pages that show this collector's projects to users who log in with a token for reading.
    public var inspector: Inspector { Inspector(access: CollectorAccess(collector: self)) }
}

extension Collector {
    package func bearer(of request: HTTPRequest) -> Bearer? {
        if access.isOpen { return Bearer(project: .standard) }
        let fields = request.headerFields
        if let field = fields[.authorization], let bearer = try? access.bearer(fieldValue: field) { return bearer }
        let session = fields[.cookie].flatMap { InspectorRequest(path: "", fields: ["cookie": $0]).session }
        return session.flatMap { try? access.bearer(session: $0) }
    }

    package func countOverload(of bearer: Bearer) {
        (projects.opened(bearer.project)?.counters ?? unknown).count(.overload)
    }
}

private struct CollectorAccess: InspectorAccess {
    let collector: Collector

    var redactor: Redactor { collector.redactor }

    func store(for request: InspectorRequest) async throws -> InspectedStore {
        let bearer = try admit { try collector.access.bearer(session: request.session) }
        let project = try await collector.projects.project(bearer.project)
        let (counters, unknown) = (project.counters, collector.unknown)
        return InspectedStore(
            name: project.name.description, store: project.store.asked(by: bearer.token?.id), clock: collector.clock,
            isLoggedIn: bearer.token != nil, redactor: collector.redactor
        ) { DeliveryPage.Collected(counters, unknown: unknown) }
    }

    func logIn(token: String) throws -> String? {
        collector.access.beginSession(of: try admit { try collector.access.bearer(fieldValue: "Bearer \(token)") })
    }

    func logOut(session: String) { collector.access.endSession(session) }

    private func admit(_ find: () throws -> Bearer) throws -> Bearer {
        do {
            let bearer = try find()
            try collector.access.admit(bearer, as: .read)
            return bearer
        } catch let problem as Problem {
            throw InspectorProblem(problem.status.code, problem.status.reasonPhrase, problem.detail)
        }
    }
}

extension DeliveryPage.Collected {
    fileprivate init(_ project: Counters, unknown: Counters) {
        let (values, others) = (project.values, unknown.values)
        self.init(
            begunMicroseconds: project.begunMicroseconds, accepted: values.acceptedFacts, known: values.knownFacts,
            rejected: values.rejectedFacts, failedSets: values.failedSets,
            refusals: Refusal.allCases.map { ($0.words, (values.refusals[$0] ?? 0) + (others.refusals[$0] ?? 0)) },
            rejections: values.rejections)
    }
}

extension Refusal {
    fileprivate var words: String {
        switch self {
        case .noToken: "requests without a token"
        case .unknownToken: "requests with a token that nobody gave them"
        case .endedToken: "requests with a token that has ended"
        case .role: "requests whose token may not do that"
        case .rate: "requests beyond what a token may send"
        case .overload: "requests that there was no room for"
        case .store: "requests while the store could not be read or written"
        case .unfinishedErasure: "erasures that were not finished"
        }
    }
}
#endif
