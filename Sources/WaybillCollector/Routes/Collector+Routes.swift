#if Collector
import Foundation
public import Hummingbird
import Logging
import WaybillCore
import WaybillStore

extension Collector {
    /// Adds the routes, all below `/v1/`, to a router or to a group of one.
    ///
    /// Where the collector has a token the routes ask for it themselves.
    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
        for route in Route.allCases {
            let path = RouterPath(route.path)
            for method in route.methods {
                router.on(path, method: method) { request, context in
                    try authorize(request, for: route)
                    let response = try await answer(request, to: route, context)
                    return method == .head ? response.createHeadResponse() : response
                }
            }
        }
        for route in Route.allCases where Route.allCases.first(where: { $0.path == route.path }) == route {
            let path = RouterPath(route.path)
            let otherMethods = Self.methods.filter { !route.methodsOfPath.contains($0) }
            for method in otherMethods {
                router.on(path, method: method) { _, _ -> Response in throw Problem.methodNotAllowed(method, on: route) }
            }
        }
    }

    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete]

    private func authorize(_ request: Request, for route: Route) throws(Problem) {
        let field = request.headers[.authorization]
        if route.needsAdminToken {
            guard let adminToken else { throw Problem.noAdminToken }
            guard let field, adminToken.matches(fieldValue: field) else {
                throw Problem.unauthorized(isTokenGiven: field != nil, kind: "admin token")
            }
        } else if let token, route.needsToken {
            guard let field, token.matches(fieldValue: field) else { throw Problem.unauthorized(isTokenGiven: field != nil) }
        }
    }

    private func answer(_ request: Request, to route: Route, _ context: some RequestContext) async throws -> Response {
        do {
            switch route {
            case .addSet: return try await addSet(request)
            case .listTransactions:
                return try .json(await queries.transactions(TransactionQuery(request.queryItems)))
            case .eraseTransactions: return try .json(await erase(request, context))
            case .listNames: return try .json(await queries.nameConflicts())
            case .showTransaction:
                let key = context.parameters.get("id")?.removingPercentEncoding ?? ""
                return try .json(await queries.transaction(key))
            case .listExchanges: return try .json(await queries.exchanges(ExchangeQuery(request.queryItems)))
            case .showExchange:
                let key = context.parameters.get("id")?.removingPercentEncoding ?? ""
                return try .json(await queries.exchange(key))
            case .listSources: return try .json(await queries.sources())
            case .export: return try await export(request)
            case .checkHealth: return try await checkHealth()
            }
        } catch let failure as QueryFailure {
            throw Problem(failure)
        } catch let error as WaybillError {
            context.logger.error("waybill: \(error)")
            throw Problem.unavailable
        }
    }

    private func checkHealth() async throws -> Response {
        _ = try await writer.run { store throws(WaybillError) in try store.setting("installation") }
        var one = TransactionQuery()
        one.limit = "1"
        _ = try await queries.transactions(one)
        return try .json(["status": "ok"])
    }
}

extension Request {
    /// The parameters of its URL, decoded.
    var queryItems: [(name: String, value: String)] { uri.queryParameters.map { (String($0.key), String($0.value)) } }
}

extension Response {
    /// An answer for a program, in the keys of the description.
    fileprivate static func json(_ value: some Encodable) throws -> Response {
        let encoder = JSONEncoder.waybill()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = ByteBuffer(bytes: try encoder.encode(value))
        // What was recorded concerns people: no cache on the way keeps it.
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"], body: ResponseBody(byteBuffer: body))
    }
}
#endif
