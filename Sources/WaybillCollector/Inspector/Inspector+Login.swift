#if Collector
import Foundation
import HTTPTypes
import Hummingbird
import WaybillInspector

/// Logging in with a token, which the browser keeps as a cookie until it is closed.
///
/// The cookie is the token itself: revoking that ends every session at once, and nothing has to be kept here. Scripts cannot read it, and no other
/// site can have it sent (RFC 6265bis, `HttpOnly` and `SameSite=Strict`). It counts for pages alone, which change nothing; the API asks for the header
/// field.
extension Inspector {
    fileprivate static let cookieName = "waybill_token"

    /// To the form, and from there to where the request was going.
    func askToken(for request: Request, _ route: InspectorRoute) -> Response {
        guard route.isPage else {
            return .page(LoginPage(to: "").html, status: .unauthorized)
        }
        let asked = request.uri.path.split(separator: "/").suffix(route.depth).joined(separator: "/")
        let destination = Destination(asked + (request.uri.query.map { "?\($0)" } ?? ""))
        let root = String(repeating: "../", count: max(0, route.depth - 1))
        return .seeOther("\(root)login?to=\(ListAddress.encoded(destination.path))")
    }

    func logIn(_ request: Request) async throws -> Response {
        try request.checkOrigin()
        guard case .collector(let collector) = site else { return .seeOther(Destination("").path) }
        var request = request
        let body = try await request.collectBody(upTo: 8192)
        let form = try? URLEncodedFormDecoder().decode(LoginForm.self, from: String(buffer: body))
        let destination = Destination(form?.to ?? "")
        let token = (form?.token ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        do {
            try collector.access.admit(try collector.access.bearer(fieldValue: "Bearer \(token)"), as: .read)
        } catch let problem as Problem {
            return .page(LoginPage(to: destination.path, problem: problem.detail).html, status: problem.status)
        }
        var response = Response.seeOther(destination.path)
        // Open to all, a collector has no use for what was typed.
        guard !collector.access.isOpen else { return response }
        response.setCookie(request.cookie(token))
        return response
    }

    func logOut(_ request: Request) throws -> Response {
        try request.checkOrigin()
        var response = Response.seeOther("login")
        response.setCookie(request.cookie("", maxAge: 0))
        return response
    }
}

private struct LoginForm: Decodable {
    var token: String?
    var to: String?
}

/// Where a login leads: always a page of the inspector, even where another address was asked for.
struct Destination {
    /// Relative to `/login`.
    let path: String

    init(_ request: Request) { self.init(request.queryItems.last { $0.name == "to" }?.value ?? "") }

    private static let lists = Set(InspectorRoute.allCases.filter(\.isPage).map { String($0.path.dropFirst().prefix { $0 != "/" }) })

    /// Anything that is not an inspector's list or something in one becomes the list of transactions: a login never
    /// leads to another site.
    init(_ asked: String) {
        let isOwn =
            Self.lists.contains(String(asked.prefix { $0 != "/" && $0 != "?" }))
            && asked.wholeMatch(of: #/[a-z-]+(/(?!\.)[A-Za-z0-9:%._~-]+){0,2}(\?[!-~]*)?/#) != nil
        path = isOwn ? asked : "transactions"
    }
}

extension Request {
    /// What the cookie says, as the header field that programs send; nil where there is none.
    var fieldValueOfCookie: String? { cookies[Inspector.cookieName].map { "Bearer \($0.value)" } }

    /// Without a path it holds for the folder that the login is in, wherever the pages are (RFC 6265, section 5.1.4). Secure where the browser says that
    /// it came by HTTPS, to this server or to the proxy before it.
    fileprivate func cookie(_ token: String, maxAge: Int? = nil) -> Cookie {
        Cookie(
            name: Inspector.cookieName, value: token, maxAge: maxAge, secure: headers[.origin]?.hasPrefix("https://") == true,
            httpOnly: true, sameSite: .strict)
    }

    /// Refuses a form that another site made the browser send. Programs other than browsers send neither field, and no
    /// site can make them send a form.
    fileprivate func checkOrigin() throws(Problem) {
        if let name = HTTPField.Name("Sec-Fetch-Site"), let site = headers[name] {
            guard site == "same-origin" || site == "none" else { throw .anotherSite }
        } else if let origin = headers[.origin] {
            guard let host = head.authority, origin == "https://\(host)" || origin == "http://\(host)" else { throw .anotherSite }
        }
    }
}

extension Problem {
    fileprivate static let anotherSite = Problem(.forbidden, "This was sent by the page of another site.")
}
#endif
