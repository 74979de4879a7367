#if Collector
package import Hummingbird

/// The routes of a collector, as `Schemas/collector.openapi.yaml` describes them.
package enum Route: String, CaseIterable, Sendable {
    case addSet = "POST /v1/sets"
    case addSpans = "POST /v1/traces"
    case listTransactions = "GET /v1/transactions"
    case eraseTransactions = "DELETE /v1/transactions"
    case showTransaction = "GET /v1/transactions/{id}"
    case listExchanges = "GET /v1/exchanges"
    case showExchange = "GET /v1/exchanges/{id}"
    case ask = "POST /v1/answers"
    case listNames = "GET /v1/names"
    case listSources = "GET /v1/sources"
    case export = "GET /v1/export"
    case checkHealth = "GET /v1/health"
    case checkReadiness = "GET /v1/ready"
    case readMetrics = "GET /metrics"

    package var method: HTTPRequest.Method {
        switch self {
        case .addSet, .addSpans, .ask: .post
        case .eraseTransactions: .delete
        default: .get
        }
    }

    /// A path of Hummingbird's router and of OpenAPI alike.
    package var path: String { String(rawValue.drop { $0 != "/" }) }

    /// What a token has to have for it; nil: no token, since probes have no secrets, and these tell nothing of what is
    /// stored.
    package var role: Role? {
        switch self {
        case .addSet, .addSpans: .ingest
        case .eraseTransactions: .admin
        case .checkHealth, .checkReadiness: nil
        default: .read
        }
    }

    /// The methods that it answers.
    var methods: [HTTPRequest.Method] { method == .get ? [.get, .head] : [method] }

    /// The methods that any route answers at this path; all others get 405.
    var methodsOfPath: [HTTPRequest.Method] { Self.allCases.filter { $0.path == path }.flatMap(\.methods) }
}
#endif
