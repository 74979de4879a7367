public import Foundation
public import WaybillCore
import WaybillQueries

// Import only the class. All of `Waybill` would add a dependency on `WaybillStore`.
public import class Waybill.TransactionManager

/// Web pages that show recorded data: a collector's projects, one store, or an app's data in the app.
///
/// An inspector maps requests to responses, and any server can carry these. Pages are read-only, unless an app enables
/// controls in ``init(_:hasControls:)``. Their addresses are not part of the API and may change.
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

    /// Creates an inspector of one store, read-only and without a login.
    ///
    /// It accepts only requests whose `Host` field names this machine. A page that reads for more than 30 s shows an
    /// error instead.
    ///
    /// - Parameter file: The file of the store, or its folder.
    /// - Throws: ``WaybillCore/WaybillError`` if the store is missing, is invalid, or was written by a newer version.
    public init(file: URL) throws(WaybillError) { try self.init(file: file, clock: SystemClock()) }

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

    package var routes: [InspectorRoute] { InspectorRoute.allCases.filter { !$0.isControl || access.controls != nil } }

    /// Warnings about the store, one sentence each; empty for a collector.
    package func warnings() async -> [String] { await (access as? LocalAccess)?.store.store.warnings() ?? [] }

    /// Returns the response to a request. Errors are pages, too.
    ///
    /// - Returns: The response; for `HEAD` the same as for `GET`.
    public func respond(to request: InspectorRequest) async -> InspectorResponse {
        guard let route = InspectorRoute(request), !route.isControl || access.controls != nil else {
            return .nothing(at: request.path, below: request.root, hasControls: access.controls != nil)
        }
        do {
            return try await response(to: request, route)
        } catch let failure as QueryFailure {
            return message(InspectorProblem(access.redactor.redacted(failure)), route)
        } catch let problem as InspectorProblem {
            return problem.status == 401 && access.hasLogin ? askToken(for: request, route) : message(problem, route)
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
        var response = InspectorResponse.message(problem, root: route.root, hasControls: access.controls != nil)
        response.fields.merge(problem.fields) { ours, _ in ours }
        response.failure = problem.failure
        return response
    }

    private func response(to request: InspectorRequest, _ route: InspectorRoute) async throws -> InspectorResponse {
        try request.checkSite(route)
        let (address, components) = (request.address, request.components)
        let (key, file) = (components.dropFirst().first ?? "", components.dropFirst(2).first ?? "")
        if let response = try request.choosingZone(route) { return response }
        func store() async throws -> InspectedStore {
            var store = try await access.store(for: request)
            store.frame.show(address, below: route.root, in: request.zone)
            return store
        }
        func controls() throws -> InspectorControls {
            guard var controls = access.controls else {
                throw InspectorProblem.notFound("Nothing can be changed here.")
            }
            controls.root = route.root
            return controls
        }
        return switch route {
        case .home: .seeOther(request.root + "/transactions")
        case .loadAsset: try .asset(key)
        case .askToken: try loginPage(address)
        case .logIn: try await logIn(request)
        case .logOut: try logOut(request)
        case .listTransactions: try await store().transactionsPage()
        case .downloadTransactions: try await store().transactionsFile()
        case .showTransaction: try await store().transactionPage(key)
        case .compareTransactions: try await store().comparisonPage()
        case .listSessions: try await store().sessionsPage()
        case .downloadTransaction: try await store().download(key, as: file)
        case .listTerms: try await store().terms()
        case .listExchanges: try await store().exchangesPage()
        case .showExchange: try await store().exchangePage(key)
        case .downloadExchange: try await store().file(of: key, named: file)
        case .listEndpoints: try await store().endpointsPage()
        case .downloadEndpoints: try await store().endpointsFile()
        case .showEndpoint: try await store().endpointPage()
        case .listUseCases: try await store().useCasesPage()
        case .downloadUseCases: try await store().useCasesFile()
        case .showUseCase, .askUseCase: try await store().useCasePage(key, file)
        case .listErrors: try await store().errorsPage()
        case .downloadErrors: try await store().errorsFile()
        case .listSources: try await store().sourcesPage()
        case .showSource: try await store().sourcePage(key)
        case .showDelivery: try await store().deliveryPage()
        case .downloadDelivery: try await store().downloadDelivery(key)
        case .showControls: try controls().page()
        case .change: try controls().change(request)
        case .newRule: try controls().rulePage(nil, request)
        case .addRule: try controls().save(nil, request)
        case .editRule: try controls().rulePage(file, request)
        case .saveRule: try controls().save(file, request)
        case .follow: try await store().changes(since: address["version"].flatMap { Int64($0) })
        }
    }
}

/// Login with a token, for a session in a cookie.
///
/// The cookie contains a session ID instead of the token, to limit the damage of a leak. Scripts can't read it, and
/// other sites can't send it (RFC 6265bis, `HttpOnly` and `SameSite=Strict`).
extension Inspector {
    private func askToken(for request: InspectorRequest, _ route: InspectorRoute) -> InspectorResponse {
        guard route.isPage else { return .page(InspectorFrame.loginPage(to: ""), status: 401) }
        let asked = request.path.split(separator: "/").joined(separator: "/")
        let destination = LoginDestination(asked + (request.query.isEmpty ? "" : "?\(request.query)"))
        return .seeOther("\(route.root)login?to=\(PercentEncoding.encoded(destination.path))")
    }

    private func loginPage(_ address: ListAddress) throws(InspectorProblem) -> InspectorResponse {
        guard access.hasLogin else { throw .loginIsElsewhere }
        return .page(InspectorFrame.loginPage(to: LoginDestination(address).path))
    }

    private func logIn(_ request: InspectorRequest) async throws -> InspectorResponse {
        guard access.hasLogin else { throw InspectorProblem.loginIsElsewhere }
        try request.checkOrigin()
        let form = request.sentForm
        let destination = LoginDestination(form)
        let token = (form["token"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        do {
            var response = InspectorResponse.seeOther(destination.path)
            if let session = try await access.logIn(token: token) {
                response.fields["Set-Cookie"] = request.sessionCookie(session)
            }
            return response
        } catch let problem as InspectorProblem {
            return .page(
                InspectorFrame.loginPage(to: destination.path, problem: problem.detail), status: problem.status)
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

extension Inspector {
    /// Creates an inspector of a manager in this process, for example for a web view of its app. Each request shows all
    /// data recorded so far.
    ///
    /// It uses the manager's clock and redaction. It accepts any `Host` field or none; a server must check `Host`
    /// itself, or use ``init(file:)``. If recording is off and nothing was recorded, pages respond with 404.
    ///
    /// With controls, a page turns recording and rules on and off, and edits rules, without authentication. Use it only
    /// in development and test builds, in a web view, or behind a server on loopback. Forms are rejected unless `Host`
    /// is missing or names this machine.
    ///
    /// - Parameters:
    ///   - manager: The manager, which the inspector retains.
    ///   - hasControls: Whether the inspector can change the manager. Default: false.
    public init(_ manager: TransactionManager, hasControls: Bool = false) {
        self.init(access: ManagerAccess(manager: manager, hasControls: hasControls))
    }
}

/// The store is opened for each request, since it may have been replaced.
struct ManagerAccess: InspectorAccess {
    let manager: TransactionManager
    let hasControls: Bool

    var controls: InspectorControls? { hasControls ? InspectorControls(manager: manager) : nil }

    var redactor: Redactor { manager.sources.settings?.redactor ?? Redactor() }

    func store(for request: InspectorRequest) async throws -> InspectedStore {
        guard let settings = manager.sources.settings, let store = try await manager.store() else {
            throw InspectorProblem.notFound(
                "Recording is off and nothing was recorded: there is nothing to show."
                    + (hasControls ? " Turn it on under Controls." : ""))
        }
        let app = settings.describe(GUID()).app
        return InspectedStore(
            name: app, store: store, clock: settings.options.clock, redactor: redactor, hasControls: hasControls)
    }
}

package protocol InspectorAccess: Sendable {
    /// Throws ``InspectorProblem`` if there is no store. Status 401 redirects to the login.
    func store(for request: InspectorRequest) async throws -> InspectedStore

    /// Returns the ID of a session; `nil` if no login is required. Throws ``InspectorProblem`` for an invalid token.
    func logIn(token: String) async throws -> String?

    /// Unknown sessions are ignored.
    func logOut(session: String)

    /// Whether the inspector asks unknown users for a token. If not, they see the problem. Default: true.
    var hasLogin: Bool { get }

    /// Default: well-known names only.
    var redactor: Redactor { get }

    /// Default: `nil`, for none.
    var controls: InspectorControls? { get }
}

extension InspectorAccess {
    package var redactor: Redactor { Redactor() }

    package var hasLogin: Bool { true }

    package var controls: InspectorControls? { nil }

    package func logIn(token: String) -> String? { nil }

    package func logOut(session: String) {}
}

extension InspectorProblem {
    fileprivate static let loginIsElsewhere = notFound("There are no tokens here. Log in to the service itself.")
}

/// The `Host` check prevents DNS rebinding, which would let a foreign page read the store.
struct LocalAccess: InspectorAccess {
    let store: InspectedStore

    var redactor: Redactor { store.redactor }

    func store(for request: InspectorRequest) throws(InspectorProblem) -> InspectedStore {
        guard request.isForLoopback else {
            throw .forbidden("This is shown to this machine alone: ask for 127.0.0.1 or localhost.")
        }
        return store
    }
}
