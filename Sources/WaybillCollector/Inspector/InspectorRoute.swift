#if Collector
import Hummingbird

/// The routes of the inspector: pages for people, and what they load. They are no part of the API: `Schemas/collector.openapi.yaml` does not
/// describe them, and they may be other ones tomorrow.
package enum InspectorRoute: String, CaseIterable, Sendable {
    case home = "GET /"
    case listTransactions = "GET /transactions"
    case showTransaction = "GET /transactions/{id}"
    case downloadTransaction = "GET /transactions/{id}/{file}"
    case listExchanges = "GET /network"
    case showExchange = "GET /network/{id}"
    case downloadExchange = "GET /network/{id}/{file}"
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

    /// How many components its path has.
    var depth: Int { path.split(separator: "/").count }
}
#endif
