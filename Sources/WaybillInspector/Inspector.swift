public import Foundation
public import WaybillCore
import WaybillReading

/// Pages that show what was recorded to people with a browser: of a collector's projects, of one store, or of an app to
/// its own user.
///
/// An inspector is a function from a request to a response, and no server: what serves it carries bytes and fields.
/// Nothing that was recorded can be changed with it, and nothing else either, unless an app gives the controls of its own
/// process to ``init(_:hasControls:)``. The pages are no part of a collector's API, and their addresses may be other ones
/// tomorrow.
///
/// ## Usage
///
/// ```swift
/// let inspector = try Inspector(file: URL(filePath: "phone.sqlite"))
/// let response = await inspector.respond(to: InspectorRequest(path: "/transactions", fields: ["host": "localhost"]))
/// ```
public struct Inspector: Sendable {
    private let access: any InspectorAccess

    package init(access: any InspectorAccess) { self.access = access }

    /// Shows one store, a file or the folder of one, read-only and without asking for a token, to requests whose field
    /// `Host` is a name of this machine. A page for which it would read longer than 30 s says so instead.
    ///
    /// - Parameter file: Of the store, or its folder.
    /// - Throws: where it is missing, no store, or made by a newer version.
    public init(file: URL) throws(WaybillError) { try self.init(file: file, clock: SystemClock()) }

    /// - Parameter readLimit: How long a page may read; nil: as long as it does.
    package init(
        file: URL, clock: any TransactionClock = SystemClock(), readLimit: Duration? = .seconds(30),
        redactor: Redactor = Redactor()
    ) throws(WaybillError) {
        var store = try SQLiteStore(file, clock: clock)
        (store.readLimit, store.redactor) = (readLimit, redactor)
        self.init(
            access: LocalAccess(
                store: InspectedStore(name: file.lastPathComponent, store: store, clock: clock, redactor: redactor)))
    }

    /// The routes that there are.
    package var routes: [InspectorRoute] { InspectorRoute.allCases.filter { !$0.isControl || access.controls != nil } }

    /// What a person should know before trusting what is shown, a sentence each; empty for a collector's.
    package func warnings() async -> [String] { await (access as? LocalAccess)?.store.store.warnings() ?? [] }

    /// Answers a request; what goes wrong is a page, too.
    ///
    /// - Parameter request: Of a browser.
    /// - Returns: With `HEAD`, what `GET` would get.
    public func respond(to request: InspectorRequest) async -> InspectorResponse {
        guard let route = InspectorRoute(request), !route.isControl || access.controls != nil else {
            return .nothing(at: request.root + request.path)
        }
        do {
            return try await response(to: request, route)
        } catch let failure as QueryFailure {
            return message(InspectorProblem(access.redactor.redacted(failure)), route)
        } catch let problem as InspectorProblem {
            return problem.status == 401 ? askToken(for: request, route) : message(problem, route)
        } catch let error as WaybillError where error.code == .deadline {
            return message(.deadline(error), route)
        } catch is CancellationError {
            return message(.unavailable, route)
        } catch {
            var response = message(.unavailable, route)
            response.failure = error
            return response
        }
    }

    private func message(_ problem: InspectorProblem, _ route: InspectorRoute) -> InspectorResponse {
        .message(problem, depth: route.depth, hasControls: access.controls != nil)
    }

    private func response(to request: InspectorRequest, _ route: InspectorRoute) async throws -> InspectorResponse {
        try request.checkSite(route)
        let items = request.items
        let components = request.components
        let (key, file) = (components.dropFirst().first ?? "", components.dropFirst(2).first ?? "")
        func store() async throws -> InspectedStore { try await access.store(for: request) }
        func controls() throws -> InspectorControls {
            guard let controls = access.controls else {
                throw InspectorProblem.notFound("Nothing can be changed here.")
            }
            return controls
        }
        return switch route {
        case .home: .seeOther(request.root + "/transactions")
        case .loadAsset: try .asset(key)
        case .askToken: .page(LoginPage(to: LoginDestination(items).path).html)
        case .logIn: try logIn(request)
        case .logOut: try logOut(request)
        case .listTransactions: try await store().transactionsPage(items)
        case .downloadTransactions: try await store().transactionsFile(items)
        case .showTransaction: try await store().transactionPage(key, items)
        case .compareTransactions: try await store().comparisonPage(items)
        case .downloadTransaction: try await store().download(key, as: file)
        case .listTerms: try await store().terms(items)
        case .listExchanges: try await store().exchangesPage(items)
        case .showExchange: try await store().exchangePage(key)
        case .downloadExchange: try await store().file(of: key, named: file)
        case .listUseCases: try await store().useCasesPage(items)
        case .downloadUseCases: try await store().useCasesFile(items)
        case .showUseCase, .askUseCase: try await store().useCasePage(key, file, items)
        case .listSources: try await store().sourcesPage(items)
        case .showSource: try await store().sourcePage(key)
        case .showDelivery: try await store().deliveryPage()
        case .downloadDelivery: try await store().downloadDelivery(key)
        case .showControls: try controls().page()
        case .change: try controls().change(request)
        case .newRule: try controls().rulePage(nil)
        case .addRule: try controls().save(nil, request)
        case .editRule: try controls().rulePage(file)
        case .saveRule: try controls().save(file, request)
        case .follow: try await store().changes(since: items.last { $0.name == "version" }.flatMap { Int64($0.value) })
        }
    }
}

/// Logging in with a token, for a session that the browser keeps as a cookie until it is closed.
///
/// The cookie is the random ID of a session and not the token, so that what a browser loses ends by itself. Scripts
/// cannot read it, and no other site can have it sent (RFC 6265bis, `HttpOnly` and `SameSite=Strict`). It counts for
/// pages alone, which change nothing; the API asks for the header field.
extension Inspector {
    /// To the form, and from there to where the request was going.
    private func askToken(for request: InspectorRequest, _ route: InspectorRoute) -> InspectorResponse {
        guard route.isPage else { return .page(LoginPage(to: "").html, status: 401) }
        let asked = request.path.split(separator: "/").joined(separator: "/")
        let destination = LoginDestination(asked + (request.query.isEmpty ? "" : "?\(request.query)"))
        let root = String(repeating: "../", count: max(0, route.depth - 1))
        return .seeOther("\(root)login?to=\(ListAddress.encoded(destination.path))")
    }

    private func logIn(_ request: InspectorRequest) throws -> InspectorResponse {
        try request.checkOrigin()
        let form = request.formItems
        let destination = LoginDestination(form)
        let token = (form.last { $0.name == "token" }?.value ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        do {
            var response = InspectorResponse.seeOther(destination.path)
            if let session = try access.logIn(token: token) {
                response.fields["Set-Cookie"] = request.sessionCookie(session)
            }
            return response
        } catch let problem as InspectorProblem {
            return .page(LoginPage(to: destination.path, problem: problem.detail).html, status: problem.status)
        }
    }

    private func logOut(_ request: InspectorRequest) throws(InspectorProblem) -> InspectorResponse {
        try request.checkOrigin()
        if let session = request.session { access.logOut(session: session) }
        var response = InspectorResponse.seeOther("login")
        response.fields["Set-Cookie"] = request.sessionCookie("", attributes: "; Max-Age=0")
        return response
    }
}
