#if Collector
package import Hummingbird

/// The routes of a collector, as `Schemas/collector.openapi.yaml` describes them.
package enum Route: String, CaseIterable, Sendable {
    case addSet = "POST /v1/sets"
    case listTransactions = "GET /v1/transactions"
    case showTransaction = "GET /v1/transactions/{id}"
    case listSources = "GET /v1/sources"
    case export = "GET /v1/export"
    case checkHealth = "GET /v1/health"

    package var method: HTTPRequest.Method { self == .addSet ? .post : .get }

    /// A path of Hummingbird's router and of OpenAPI alike.
    package var path: String { String(rawValue.drop { $0 != "/" }) }

    /// Probes have no secrets, and health tells nothing of what is stored.
    var needsToken: Bool { self != .checkHealth }

    /// The methods that are answered; all others get 405.
    var methods: [HTTPRequest.Method] { method == .get ? [.get, .head] : [method] }
}
#endif
