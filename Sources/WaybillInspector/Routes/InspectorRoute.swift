import Foundation
import WaybillCore
import WaybillQueries

/// The routes of the inspector: pages for people, and what they load.
package enum InspectorRoute: String, CaseIterable, Sendable {
    case home = "GET /"
    case listTransactions = "GET /transactions"
    case downloadTransactions = "GET /transactions.html"
    case showTransaction = "GET /transactions/{id}"
    case downloadTransaction = "GET /transactions/{id}/{file}"
    case compareTransactions = "GET /beside"
    case listExchanges = "GET /network"
    case showExchange = "GET /network/{id}"
    case downloadExchange = "GET /network/{id}/{file}"
    /// What a search field completes: an array of JSON.
    case listTerms = "GET /terms"
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
    // Of an app's own process alone.
    case showControls = "GET /controls"
    case change = "POST /controls"
    case newRule = "GET /controls/rule"
    case addRule = "POST /controls/rule"
    case editRule = "GET /controls/rule/{id}"
    case saveRule = "POST /controls/rule/{id}"

    /// The one that answers a request; nil where none does.
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

    /// A path of Hummingbird's router and of OpenAPI alike.
    package var path: String { String(rawValue.drop { $0 != "/" }) }

    /// The methods that it answers. A stream has no end that its length could be told by.
    package var methods: [String] {
        if rawValue.hasPrefix("POST") { return ["POST"] }
        return self == .follow ? ["GET"] : ["GET", "HEAD"]
    }

    /// Whether it is there only with controls.
    package var isControl: Bool {
        switch self {
        case .showControls, .change, .newRule, .addRule, .editRule, .saveRule: true
        case .home, .listTransactions, .downloadTransactions, .showTransaction, .downloadTransaction,
            .compareTransactions, .listExchanges, .showExchange, .downloadExchange, .listTerms, .listUseCases,
            .downloadUseCases, .showUseCase, .askUseCase,
            .listSources, .showSource, .showDelivery, .downloadDelivery, .follow, .loadAsset, .askToken, .logIn,
            .logOut:
            false
        }
    }

    /// The maximum number of bytes in a form: a login has some hundred. The JSON of a rule holds the body of an answer,
    /// where a character takes up to nine bytes.
    package var formLimit: Int { self == .addRule || self == .saveRule ? 1 << 20 : 8192 }

    /// Whether it shows what was recorded: where the login leads back to, other than to a file, a stream, or itself.
    var isPage: Bool {
        switch self {
        case .home, .downloadTransactions, .downloadTransaction, .downloadExchange, .downloadUseCases,
            .downloadDelivery, .follow, .listTerms,
            .loadAsset,
            .askToken, .logIn, .logOut, .showControls, .change, .newRule, .addRule, .editRule, .saveRule:
            false
        case .listTransactions, .showTransaction, .compareTransactions, .listExchanges, .showExchange, .listUseCases,
            .showUseCase,
            .askUseCase, .listSources, .showSource, .showDelivery:
            true
        }
    }

    /// How many components its path has.
    package var depth: Int { path.split(separator: "/").count }
}

/// Why a request gets no page: said in its place.
package struct InspectorProblem: Error, Hashable {
    /// Of HTTP.
    package var status: Int
    /// The phrase of the status.
    package var title: String
    /// One sentence for a person.
    package var detail: String

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

    /// Its words are ours, and name no path.
    static func deadline(_ error: WaybillError) -> InspectorProblem {
        InspectorProblem(422, "Unprocessable Content", error.message)
    }

    /// The store's own words stay in the log: they may name paths.
    static let unavailable = InspectorProblem(
        503, "Service Unavailable", "The store cannot be read or written at the moment. Nothing was kept; try again.")
}

/// Where a login leads: always a page of the inspector, even where another address was asked for.
struct LoginDestination {
    /// Relative to `/login`.
    let path: String

    /// - Parameter items: Of a request; the last `to` counts.
    init(_ items: [(name: String, value: String)]) { self.init(items.last { $0.name == "to" }?.value ?? "") }

    private static let lists = Set(
        InspectorRoute.allCases.filter(\.isPage).map { String($0.path.dropFirst().prefix { $0 != "/" }) })

    /// Anything that is not an inspector's list or something in one becomes the list of transactions: a login never
    /// leads to another site.
    init(_ asked: String) {
        let isOwn =
            Self.lists.contains(String(asked.prefix { $0 != "/" && $0 != "?" }))
            && asked.wholeMatch(of: #/[a-z-]+(/[A-Za-z0-9:%._~-]+){0,2}(\?[!-~]*)?/#) != nil
            && asked.prefix { $0 != "?" }.split(separator: "/").allSatisfy(Self.isName)
        path = isOwn ? asked : "transactions"
    }

    /// Whether a segment of a path leads to what has that name: browsers take `%2e%2e` for `..`.
    private static func isName(_ segment: Substring) -> Bool {
        guard let name = segment.removingPercentEncoding else { return false }
        return !name.hasPrefix(".") && !name.contains { "/\\".contains($0) }
    }
}

extension InspectorRequest {
    private static let cookieName = "waybill_session"

    /// What the cookie says; nil where there is none.
    package var session: String? { cookie(Self.cookieName) }

    /// Without a path it holds for the folder that the login is in, wherever the pages are (RFC 6265, section 5.1.4).
    /// Secure where the browser says that it came by HTTPS, to this server or to the proxy before it.
    func sessionCookie(_ session: String, attributes: String = "") -> String {
        let secure = fields["origin"]?.hasPrefix("https://") == true ? "; Secure" : ""
        return "\(Self.cookieName)=\(session)\(attributes)\(secure); HttpOnly; SameSite=Strict"
    }

    /// Refuses what another site's page makes the browser ask for (Fetch Metadata, `Sec-Fetch-Site`): pictures, scripts,
    /// frames and the like. A link to a page may be followed: the browser then shows it by itself, and without the
    /// cookie.
    func checkSite(_ route: InspectorRoute) throws(InspectorProblem) {
        guard fields["sec-fetch-site"] == "cross-site" else { return }
        let isFollowed = fields["sec-fetch-mode"] == "navigate" && fields["sec-fetch-dest"] == "document"
        guard isFollowed, method != "POST", route.isPage || route == .home || route == .askToken else {
            throw .forbidden("This was asked for by the page of another site.")
        }
    }

    /// Refuses a form that another site made the browser send. Programs other than browsers send neither field, and no
    /// site can make them send a form.
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

    /// Whether an origin is a scheme that an app gives its own pages in a web view, where no server carries a `Host`.
    private static func isOfApp(_ origin: String) -> Bool {
        let parts = origin.lowercased().components(separatedBy: "://")
        return parts.count == 2 && !["http", "https"].contains(parts[0])
    }
}
