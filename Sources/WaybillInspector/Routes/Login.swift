import Foundation

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
