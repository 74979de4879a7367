#if Collector
package import HTTPTypes
public import Hummingbird
import Logging
import ServiceLifecycle
import WaybillCore
import WaybillExport
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
                    let acceptsGzip = request.acceptsGzip
                    let request = try await InspectorRequest(request, route)
                    var response = await cancelWhenGracefulShutdown { await respond(to: request) }
                    if acceptsGzip { response.compress() }
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

extension InspectorResponse {
    /// Smaller responses fit into one packet anyway (RFC 9110, section 8.4.1.3).
    private static let leastCompressed = 1024

    /// Compresses texts. Images and other files keep their bytes, as most are compressed already.
    mutating func compress() {
        guard case .bytes(let bytes) = body, bytes.count > Self.leastCompressed,
            let type = fields["Content-Type"], type.hasPrefix("text/") || type.hasPrefix("image/svg"),
            let compressed = bytes.gzipped
        else { return }
        body = .bytes(compressed)
        (fields["Content-Encoding"], fields["Vary"]) = ("gzip", "Accept-Encoding")
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
    /// The pages that show this collector's projects to clients who may read.
    ///
    /// With ``Access/tokens``, users log in on a page. With ``Access/authorizing(_:)``, the pages have no login: a
    /// client that is refused sees the refusal's reason.
    public var inspector: Inspector { Inspector(access: CollectorAccess(collector: self)) }
}

extension Collector {
    package func identity(of request: HTTPRequest) -> Access.Identity? { access.knownIdentity(of: request) }

    package func countOverload(of identity: Access.Identity) {
        (projects.opened(identity.projectName)?.counters ?? unknown).count(.overload)
    }
}

private struct CollectorAccess: InspectorAccess {
    let collector: Collector

    var redactor: Redactor { collector.redactor }

    var hasLogin: Bool { !collector.access.isOfHost }

    func store(for request: InspectorRequest) async throws -> InspectedStore {
        let identity = try await admit { try await collector.access.identity(of: request) }
        let project = try await collector.projects.project(identity.projectName)
        let (counters, unknown) = (project.counters, collector.unknown)
        return InspectedStore(
            name: project.name.description, store: project.store.asked(by: identity.key), clock: collector.clock,
            isLoggedIn: collector.access.hasTokens, redactor: collector.redactor
        ) { DeliveryPage.Collected(counters, unknown: unknown) }
    }

    func logIn(token: String) async throws -> String? {
        let identity = try await admit { try collector.access.identity(fieldValue: "Bearer \(token)") }
        return collector.access.beginSession(of: identity)
    }

    func logOut(session: String) { collector.access.endSession(session) }

    private func admit(_ find: () async throws -> Access.Identity) async throws -> Access.Identity {
        do {
            let identity = try await find()
            try collector.access.admit(identity, as: .read)
            return identity
        } catch let problem as Problem {
            if problem.refusal == .host { collector.unknown.count(.host) }
            throw InspectorProblem(problem)
        } catch let failure as Access.Failure {
            collector.unknown.count(.hostFailure)
            var problem = InspectorProblem(.unidentified)
            problem.failure = failure.cause
            throw problem
        }
    }
}

extension InspectorProblem {
    fileprivate init(_ problem: Problem) {
        self.init(problem.status.code, problem.status.reasonPhrase, problem.detail)
        fields = Dictionary(problem.headers.map { ($0.name.canonicalName, $0.value) }) { $1 }
    }
}

extension DeliveryPage.Collected {
    fileprivate init(_ project: Counters, unknown: Counters) {
        let (values, others) = (project.values, unknown.values)
        self.init(since: project.begunMicroseconds)
        (accepted, known, rejected) = (values.acceptedFacts, values.knownFacts, values.rejectedFacts)
        (failedSets, rejections) = (values.failedSets, values.rejections)
        refusals = Refusal.allCases.map { ($0.words, (values.refusals[$0] ?? 0) + (others.refusals[$0] ?? 0)) }
    }
}

extension Refusal {
    fileprivate var words: String {
        switch self {
        case .noToken: "requests without a token"
        case .unknownToken: "requests with a token that nobody gave them"
        case .endedToken: "requests with a token that has ended"
        case .host: "requests that the service refused"
        case .hostFailure: "requests while the service could not tell who sent them"
        case .role: "requests of clients that may not do that"
        case .rate: "requests beyond what a client may send"
        case .overload: "requests that there was no room for"
        case .store: "requests while the store could not be read or written"
        case .unfinishedErasure: "erasures that were not finished"
        }
    }
}
#endif
