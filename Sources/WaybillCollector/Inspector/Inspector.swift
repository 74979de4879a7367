#if Collector
public import Foundation
public import Hummingbird
import Logging
public import WaybillCore
import WaybillInspector
import WaybillReading
import WaybillStore

/// Pages that show what was recorded to people with a browser: of a collector's projects, or of one store.
///
/// ## Usage
///
/// ```swift
/// let inspector = try Inspector(file: URL(filePath: "phone.sqlite"))
/// try await Application(router: inspector.router()).runService()  // on loopback: all who reach it see everything
/// ```
///
/// A collector's own is part of ``Collector/router()``. Nothing can be changed with it.
public struct Inspector: Sendable {
    let site: Site

    /// Whose stores are shown, and to whom.
    enum Site: Sendable {
        /// A collector's, to those who carry one of its tokens.
        case collector(Collector)
        /// One, to everybody on this machine.
        case store(InspectedStore)
    }

    init(site: Site) { self.site = site }

    /// Shows one store, a file or the folder of one, read-only and without asking for a token, to requests for a name of loopback.
    ///
    /// - Throws: where it is missing, no store, or made by a newer version.
    public init(file: URL) throws(WaybillError) { try self.init(file: file, clock: SystemClock()) }

    package init(file: URL, clock: any TransactionClock) throws(WaybillError) {
        let place = ResolvedLocation(path: file.path(percentEncoded: false))
        site = .store(
            InspectedStore(
                name: file.lastPathComponent, queries: try StoreQueries(place, clock: clock),
                questions: try StoreQueries(place, clock: clock),
                token: nil))
    }

    /// What a person should know before trusting what is shown, a sentence each; empty for a collector's.
    package func warnings() async -> [String] {
        if case .store(let store) = site { await store.queries.warnings() } else { [] }
    }

    /// A router that holds the pages and nothing else.
    public func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: ProblemMiddleware())
        addRoutes(to: router)
        return router
    }

    /// Adds the pages to a router or to a group of one. Their addresses are relative.
    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
        for route in InspectorRoute.allCases {
            for method in route.methods {
                router.on(RouterPath(route.path), method: method) { request, context in
                    let response = await answer(request, to: route, context)
                    return method == .head ? response.createHeadResponse() : response
                }
            }
        }
    }

    private func answer(_ request: Request, to route: InspectorRoute, _ context: some RequestContext) async -> Response {
        do {
            return try await page(request, route, context)
        } catch let failure as QueryFailure {
            return message(Problem(failure), route)
        } catch let problem as Problem {
            return problem.status == .unauthorized ? askToken(for: request, route) : message(problem, route)
        } catch {
            context.logger.error("waybill: \(error)")
            return message(.unavailable, route)
        }
    }

    private func page(_ request: Request, _ route: InspectorRoute, _ context: some RequestContext) async throws -> Response {
        switch route {
        case .home: return .seeOther(request.ownPath + "/transactions")
        case .loadAsset: return try .asset(context.parameters.get("name") ?? "")
        case .askToken: return .page(LoginPage(to: Destination(request).path).html)
        case .logIn: return try await logIn(request)
        case .logOut: return try logOut(request)
        default: break
        }
        let store = try await store(for: request)
        let key = context.parameters.get("id")?.removingPercentEncoding ?? ""
        return switch route {
        case .showTransaction: try await store.transactionPage(key, request.formItems)
        case .showBeside: try await store.besidePage(request.formItems)
        case .downloadTransaction: try await store.download(key, as: context.parameters.get("file") ?? "")
        case .listExchanges: try await store.exchangesPage(request.formItems)
        case .showExchange: try await store.exchangePage(key)
        case .listUseCases: try await store.useCasesPage(request.formItems)
        case .downloadUseCases: try await store.useCasesFile(request.formItems)
        case .showUseCase, .askUseCase:
            try await store.useCasePage(key, context.parameters.get("file")?.removingPercentEncoding ?? "", request.formItems)
        case .listSources: try await store.sourcesPage(request.formItems)
        case .showSource: try await store.sourcePage(key)
        case .showDelivery: try await store.deliveryPage()
        case .downloadDelivery: try await store.downloadDelivery(context.parameters.get("file") ?? "")
        case .downloadExchange: try await store.file(of: key, named: context.parameters.get("file") ?? "")
        case .follow: store.changes(since: request.queryItems.last { $0.name == "version" }.flatMap { Int($0.value) })
        default: try await store.transactionsPage(request.formItems)
        }
    }

    /// The store that the sender of the request may look at; throws the `Problem` where there is none.
    private func store(for request: Request) async throws -> InspectedStore {
        switch site {
        case .store(let store):
            // As ``LoopbackHostMiddleware`` does for a whole server.
            guard request.isForLoopback else { throw Problem.notForLoopback }
            return store
        case .collector(let collector):
            let bearer = try collector.access.bearer(fieldValue: request.fieldValueOfCookie)
            try collector.access.admit(bearer, as: .read)
            let project = try await collector.projects.project(bearer.project)
            return InspectedStore(
                name: project.name.description, queries: project.queries, questions: project.questions, token: bearer.token?.id,
                counters: InspectedStore.Counted(project: project.counters, unknown: collector.unknown))
        }
    }

    private func message(_ problem: Problem, _ route: InspectorRoute) -> Response {
        let frame = InspectorFrame(store: "", isLoggedIn: false)
        let page = MessagePage(problem.status.reasonPhrase, problem.detail, depth: max(1, route.depth), in: frame)
        return .page(page.html, status: problem.status)
    }
}

extension Collector {
    /// The pages that show this collector's projects to those who log in with a token to read.
    public var inspector: Inspector { Inspector(site: .collector(self)) }
}

extension Request {
    /// The path that was asked for, without slashes at its end and with one at its beginning: never another host's name.
    fileprivate var ownPath: String {
        let components = uri.path.split(separator: "/")
        return components.map { "/\($0)" }.joined()
    }
}
#endif
