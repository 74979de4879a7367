#if Collector
import Hummingbird

/// The routes of the inspector: pages for people, and what they load. They are no part of the API: `Schemas/collector.openapi.yaml` does not
/// describe them, and they may be other ones tomorrow.
package enum InspectorRoute: String, CaseIterable, Sendable {
    case home = "GET /"
    case listTransactions = "GET /transactions"
    case showTransaction = "GET /transactions/{id}"
    case downloadTransaction = "GET /transactions/{id}/{file}"
    case showBeside = "GET /beside"
    case listExchanges = "GET /network"
    case showExchange = "GET /network/{id}"
    case downloadExchange = "GET /network/{id}/{file}"
    case listUseCases = "GET /use-cases"
    case downloadUseCases = "GET /use-cases.csv"
    case showUseCase = "GET /use-cases/{id}"
    case askUseCase = "GET /use-cases/{id}/{file}"
    case listSources = "GET /sources"
    case showSource = "GET /sources/{id}"
    case showDelivery = "GET /delivery"
    case downloadDelivery = "GET /delivery/{file}"
    case follow = "GET /live"
    case loadAsset = "GET /assets/{name}"
    case askToken = "GET /login"
    case logIn = "POST /login"
    case logOut = "POST /logout"

    var method: HTTPRequest.Method { rawValue.hasPrefix("POST") ? .post : .get }

    /// A path of Hummingbird's router.
    var path: String { String(rawValue.drop { $0 != "/" }) }

    /// The methods that it answers. A stream has no end that its length could be told by.
    var methods: [HTTPRequest.Method] { method == .get && self != .follow ? [.get, .head] : [method] }

    /// Whether it shows what was recorded: where the login leads back to, other than to a file, a stream, or itself.
    var isPage: Bool {
        switch self {
        case .home, .downloadTransaction, .downloadExchange, .downloadUseCases, .downloadDelivery, .follow, .loadAsset, .askToken, .logIn,
            .logOut:
            false
        default: true
        }
    }

    /// How many components its path has.
    var depth: Int { path.split(separator: "/").count }
}
#endif
