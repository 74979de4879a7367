import Foundation
import WaybillCore
import WaybillQueries

/// A method and a path. A login may lead back to a `PAGE`.
package enum InspectorRoute: String, CaseIterable, Sendable {
    case home = "GET /"
    case listTransactions = "PAGE /transactions"
    case downloadTransactions = "GET /transactions.html"
    case showTransaction = "PAGE /transactions/{id}"
    case downloadTransaction = "GET /transactions/{id}/{file}"
    case compareTransactions = "PAGE /beside"
    case listSessions = "PAGE /sessions"
    case listExchanges = "PAGE /network"
    case showExchange = "PAGE /network/{id}"
    case downloadExchange = "GET /network/{id}/{file}"
    case listEndpoints = "PAGE /endpoints"
    case downloadEndpoints = "GET /endpoints.csv"
    case showEndpoint = "PAGE /endpoint"
    case listTerms = "GET /terms"
    case listUseCases = "PAGE /use-cases"
    case downloadUseCases = "GET /use-cases.csv"
    case showUseCase = "PAGE /use-cases/{id}"
    case askUseCase = "PAGE /use-cases/{id}/{file}"
    case listErrors = "PAGE /errors"
    case downloadErrors = "GET /errors.csv"
    case listSources = "PAGE /sources"
    case showSource = "PAGE /sources/{id}"
    case showDelivery = "PAGE /delivery"
    case downloadDelivery = "GET /delivery/{file}"
    case follow = "GET /live"
    case loadAsset = "GET /assets/{name}"
    case askToken = "GET /login"
    case logIn = "POST /login"
    case logOut = "POST /logout"
    // Only in an app's own process.
    case showControls = "GET /controls"
    case change = "POST /controls"
    case newRule = "GET /controls/rule"
    case addRule = "POST /controls/rule"
    case editRule = "GET /controls/rule/{id}"
    case saveRule = "POST /controls/rule/{id}"

    init?(_ request: InspectorRequest) {
        let asked = request.path.split(separator: "/")
        let found = Self.allCases.first { route in
            let own = route.path.split(separator: "/")
            return route.methods.contains(request.method) && own.count == asked.count
                && zip(own, asked).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
        }
        guard let found else { return nil }
        self = found
    }

    /// The path in the syntax of Hummingbird and OpenAPI.
    package var path: String { String(rawValue.drop { $0 != "/" }) }

    /// A stream has no length, and therefore no `HEAD`.
    package var methods: [String] {
        if rawValue.hasPrefix("POST") { return ["POST"] }
        return self == .follow ? ["GET"] : ["GET", "HEAD"]
    }

    package var isControl: Bool { path.hasPrefix("/controls") }

    /// A rule contains a response body, whose characters can take nine bytes each.
    package var formLimit: Int { self == .addRule || self == .saveRule ? 1 << 20 : 8192 }

    var isPage: Bool { rawValue.hasPrefix("PAGE") }

    package var depth: Int { path.split(separator: "/").count }

    var root: String { Self.root(depth: depth) }

    static func root(depth: Int) -> String { String(repeating: "../", count: max(0, depth - 1)) }
}

package struct InspectorProblem: Error {
    package var status: Int
    package var title: String
    package var detail: String
    /// Additional header fields of the page.
    package var fields: [String: String] = [:]
    /// The internal error for a log; `nil` if there is none.
    package var failure: (any Error)?

    package init(_ status: Int, _ title: String, _ detail: String) {
        (self.status, self.title, self.detail) = (status, title, detail)
    }

    init(_ failure: Redacted<QueryFailure>) {
        let failure = failure.value
        switch failure {
        case .parameter, .filter, .question: self.init(400, "Bad Request", failure.description)
        case .notFound: self = .notFound(failure.description)
        case .ambiguous, .ambiguousExchange: self.init(409, "Conflict", failure.description)
        }
    }

    static func notFound(_ detail: String) -> InspectorProblem { InspectorProblem(404, "Not Found", detail) }

    static func forbidden(_ detail: String) -> InspectorProblem { InspectorProblem(403, "Forbidden", detail) }

    static func deadline(_ error: WaybillError) -> InspectorProblem {
        InspectorProblem(422, "Unprocessable Content", error.message)
    }

    /// The store's error stays in the log, since it may contain paths.
    static let unavailable = InspectorProblem(
        503, "Service Unavailable", "The store cannot be read or written at the moment. Nothing was kept; try again.")
}

struct LoginDestination {
    let path: String

    init(_ address: ListAddress) { self.init(address["to"] ?? "") }

    /// Other addresses become the list of transactions, to prevent open redirects.
    init(_ asked: String) {
        let path = String(asked.prefix { $0 != "?" })
        let isOwn =
            InspectorRoute(InspectorRequest(path: path))?.isPage == true
            && asked.wholeMatch(of: #/[a-z-]+(/[A-Za-z0-9:%._~-]+){0,2}(\?[!-~]*)?/#) != nil
            && path.split(separator: "/").allSatisfy(Self.isName)
        self.path = isOwn ? asked : "transactions"
    }

    /// Browsers treat `%2e%2e` as `..`.
    private static func isName(_ segment: Substring) -> Bool {
        guard let name = segment.removingPercentEncoding else { return false }
        return !name.hasPrefix(".") && !name.contains { "/\\".contains($0) }
    }
}

extension InspectorRequest {
    private static let cookieName = "waybill_session"

    package var session: String? { cookie(Self.cookieName) }

    /// Without a path, the cookie applies to the login's folder (RFC 6265, section 5.1.4). It is secure if the browser
    /// used HTTPS.
    func sessionCookie(_ session: String, attributes: String = "") -> String {
        let secure = fields["origin"]?.hasPrefix("https://") == true ? "; Secure" : ""
        return "\(Self.cookieName)=\(session)\(attributes)\(secure); HttpOnly; SameSite=Strict"
    }

    private static let zoneCookie = "waybill_zone"

    /// The time zone that the reader or the script chose; `nil` for that of this process.
    var zone: ShownZone? { cookie(Self.zoneCookie).flatMap(ShownZone.init) }

    /// Returns the response to a choice of a time zone, `?zone=Europe/Berlin`: the same page, and a cookie.
    func choosingZone(_ route: InspectorRoute) throws(QueryFailure) -> InspectorResponse? {
        guard route.isPage, let name = address["zone"] else { return nil }
        guard let zone = ShownZone(name) else {
            throw .parameter("zone", "“\(name)” is no time zone: give UTC, or a name such as Europe/Berlin.")
        }
        let path = root + path.split(separator: "/").map { "/\($0)" }.joined()
        var response = InspectorResponse.seeOther(path + ListAddress(address.items(besides: ["zone"])).query)
        response.fields["Set-Cookie"] =
            "\(Self.zoneCookie)=\(zone.name); Path=\(root)/; Max-Age=31536000; SameSite=Strict"
        return response
    }

    /// Rejects requests by pages of other sites (Fetch Metadata, `Sec-Fetch-Site`), except links to a page.
    func checkSite(_ route: InspectorRoute) throws(InspectorProblem) {
        guard fields["sec-fetch-site"] == "cross-site" else { return }
        let isFollowed = fields["sec-fetch-mode"] == "navigate" && fields["sec-fetch-dest"] == "document"
        guard isFollowed, method != "POST", route.isPage || route == .home || route == .askToken else {
            throw .forbidden("This was asked for by the page of another site.")
        }
    }

    /// Rejects forms from other sites. Programs other than browsers send neither field, and sites can't control them.
    func checkOrigin() throws(InspectorProblem) {
        let isOwn =
            if let site = fields["sec-fetch-site"] {
                site == "same-origin" || site == "none"
            } else if let origin = fields["origin"] {
                fields["host"].map { origin == "https://\($0)" || origin == "http://\($0)" } ?? Self.isOfApp(origin)
            } else {
                true
            }
        guard isOwn else { throw .forbidden("This was sent by the page of another site.") }
    }

    /// Whether an origin is an app's custom scheme, whose web view sends no `Host`.
    private static func isOfApp(_ origin: String) -> Bool {
        let parts = origin.lowercased().components(separatedBy: "://")
        return parts.count == 2 && !["http", "https"].contains(parts[0])
    }
}
