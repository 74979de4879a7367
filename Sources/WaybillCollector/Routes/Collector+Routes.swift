#if Collector
import Foundation
import HTTPTypes
public import Hummingbird
import Logging
import ServiceLifecycle
import WaybillCore
import WaybillQueries

extension Collector {
    /// Adds the routes to a router or to a group of one. All are below `/v1/`, except `/metrics`.
    ///
    /// The routes check the client themselves, unless the collector is open to all clients.
    @available(macOS 14, iOS 17, tvOS 17, *)
    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
        for route in Route.allCases {
            let path = RouterPath(route.path)
            for method in route.methods {
                router.on(path, method: method) { request, context in
                    var response: Response
                    do {
                        response = try await answer(request, to: route, context)
                    } catch var problem as Problem where takesOtherSites(route) {
                        problem.headers[.accessControlAllowOrigin] = "*"
                        throw problem
                    }
                    response.headers.isolate()
                    if takesOtherSites(route) { response.headers[.accessControlAllowOrigin] = "*" }
                    return method == .head ? response.createHeadResponse() : response
                }
            }
        }
        for route in Route.allCases where Route.allCases.first(where: { $0.path == route.path }) == route {
            let path = RouterPath(route.path)
            var otherMethods = Self.methods.filter { !route.methodsOfPath.contains($0) }
            if takesOtherSites(route) {
                otherMethods.removeAll { $0 == .options }
                router.on(path, method: .options) { _, _ in preflight(of: route) }
            }
            for method in otherMethods {
                router.on(path, method: method) { _, _ -> Response in throw Problem.methodNotAllowed(method, on: route)
                }
            }
        }
    }

    private static let methods: [HTTPRequest.Method] = [
        .get, .head, .post, .put, .patch, .delete, .options, .trace, .query,
    ]

    private func answer(_ request: Request, to route: Route, _ context: some RequestContext) async throws -> Response {
        guard let role = route.role else {
            guard !request.isCrossSite else { throw Problem.crossSite }
            return try await mappingErrors(context) {
                try await route == .checkReadiness ? checkReadiness() : json(["status": "ok"])
            }
        }
        var identity: Access.Identity?
        var project: Project?
        let result = await Result {
            try await mappingErrors(context) {
                guard !request.isCrossSite || takesOtherSites(route) else { throw Problem.crossSite }
                let client = try await access.identity(of: request.head)
                identity = client
                let found = try await projects.project(client.projectName)
                project = found
                try access.admit(client, as: role)
                let answer = { @Sendable in try await self.answer(request, to: route, of: found, from: client, context)
                }
                // Requests that only read don't delay a shutdown.
                return try await role == .read ? cancelWhenGracefulShutdown(answer) : answer()
            }
        }
        let counted = Counters.Answer(route: route.rawValue, status: result.status)
        project?.counters.count { $0.answers[counted, default: 0] += 1 }
        log(result, of: route, identity, project, to: context.logger)
        do { return try result.get() } catch let problem as Problem where route == .addSpans {
            // Requests in an unknown encoding get a problem document.
            guard let encoding = try? SpanEncoding(request) else { throw problem }
            return encoding.answer(problem)
        }
    }

    private func log(
        _ result: Result<Response, any Error>, of route: Route, _ identity: Access.Identity?, _ project: Project?,
        to logger: Logger
    ) {
        var metadata: Logger.Metadata = [
            "route": "\(route.rawValue)", "status": "\(result.status)",
            "project": "\(project?.name.description ?? "none")",
            "\(access.isOfHost ? "identity" : "token")": "\(identity?.key == nil ? "none" : identity?.name ?? "none")",
        ]
        guard let refusal = result.refusal else { return logger.info("answered", metadata: metadata) }
        (project?.counters ?? unknown).count(refusal)
        let kind = RefusalLog.Kind(refusal: refusal, name: identity?.key)
        guard let count = refusalLog.count(kind, now: clock.uptimeMicroseconds()) else { return }
        metadata["reason"] = "\(refusal.rawValue)"
        metadata["count"] = "\(count)"
        logger.warning("refused", metadata: metadata)
    }

    private func answer(
        _ request: Request, to route: Route, of project: Project, from identity: Access.Identity,
        _ context: some RequestContext
    ) async throws -> Response {
        let store = project.store.asked(by: identity.key)
        let key = context.parameters.get("id")?.removingPercentEncoding ?? ""
        switch route {
        case .addSet: return try await addSet(request, to: project, from: identity)
        case .addSpans: return try await addSpans(request, to: project, from: identity)
        case .eraseTransactions: return try json(await erase(request, from: project, context))
        case .listTransactions:
            return try json(await store.transactions(ListRequest(request.queryItems, about: .transactions)))
        case .listNames:
            var response = try await json(store.nameConflicts(ListRequest(request.queryItems, about: .names)))
            response.headers[.totalCount] = "\(try await store.nameConflictCount())"
            return response
        case .showTransaction: return try json(await store.transaction(key))
        case .listExchanges: return try json(await store.exchanges(ListRequest(request.queryItems, about: .exchanges)))
        case .showExchange: return try json(await store.exchange(key))
        case .listSources: return try json(await store.sources(ListRequest(request.queryItems, about: .sources)))
        case .ask: return try await ask(request, of: store)
        case .export: return try await export(request, of: store)
        case .readMetrics: return metrics(of: project)
        case .checkHealth, .checkReadiness: throw HTTPError(.notFound)
        }
    }

    /// Turns errors into problems. The store's own errors go to the log alone.
    private func mappingErrors(_ context: some RequestContext, _ body: () async throws -> Response) async throws
        -> Response
    {
        do {
            return try await body()
        } catch let failure as QueryFailure {
            throw Problem(redactor.redacted(failure))
        } catch is CancellationError {
            throw Problem.ending
        } catch let failure as Access.Failure {
            context.logger.error("waybill: the closure of Access.authorizing failed: \(failure.cause)")
            throw Problem.unidentified
        } catch let error as WaybillError where error.code == .deadline {
            throw Problem.deadline(error)
        } catch let error as WaybillError {
            context.logger.error("waybill: \(error)")
            throw Problem.unavailable
        }
    }
}

extension Result<Response, any Error> {
    fileprivate init(_ body: () async throws -> Response) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }

    fileprivate var status: Int {
        switch self {
        case .success(let response): response.status.code
        case .failure(let error):
            (error as? any HTTPResponseError)?.status.code ?? HTTPResponse.Status.internalServerError.code
        }
    }

    fileprivate var refusal: Refusal? {
        guard case .failure(let error) = self else { return nil }
        return (error as? Problem)?.refusal
    }
}

extension HTTPField.Name {
    fileprivate static let totalCount = HTTPField.Name("Waybill-Total-Count") ?? .contentLength
}

extension Request {
    var queryItems: [(name: String, value: String)] { uri.queryParameters.map { (String($0.key), String($0.value)) } }

    /// Whether a browser sends the request for a page of another site (Fetch Metadata).
    fileprivate var isCrossSite: Bool { HTTPField.Name("Sec-Fetch-Site").flatMap { headers[$0] } == "cross-site" }
}

extension HTTPFields {
    /// Keeps an answer from other sites, by `nosniff` and `Cross-Origin-Resource-Policy` (Fetch).
    mutating func isolate() {
        self[.xContentTypeOptions] = "nosniff"
        if let policy = HTTPField.Name("Cross-Origin-Resource-Policy") { self[policy] = "same-origin" }
    }
}

extension Collector {
    func json(_ value: some Encodable & Redactable) throws -> Response {
        Response(try JSONEncoder.waybill().encode(redactor.redacted(value)), as: "application/json")
    }
}

extension Response {
    /// Records contain personal data, so no cache may store them.
    init(_ bytes: some Sequence<UInt8>, as mediaType: String) {
        self.init(
            status: .ok, headers: [.contentType: mediaType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
#endif
