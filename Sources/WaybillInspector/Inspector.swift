public import Foundation
public import WaybillCore
import WaybillQueries

// The class alone: all of `Waybill` would bring `WaybillStore` along, which pages do without.
public import class Waybill.TransactionManager

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
        case .newRule: try controls().rulePage(nil, request)
        case .addRule: try controls().save(nil, request)
        case .editRule: try controls().rulePage(file, request)
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

// The class alone: all of `Waybill` would bring `WaybillStore` along, which pages are to do without.

extension Inspector {
    /// Shows the store of a manager in this process, e.g. in a web view of its app: at each request everything that was
    /// recorded until then.
    ///
    /// Clock and redaction are the manager's. A request may have any field `Host` or none, because no server carries
    /// it; a server has to refuse names that are not its own before it asks, or ask an inspector made by
    /// ``init(file:)``. Where recording is off and nothing was recorded, a page says so (404).
    ///
    /// With controls it has one page more, on which recording is turned off and on, and rules are turned off and on,
    /// added, edited and removed: of this process, and without a question who does it. So they are for builds that
    /// developers and testers have, in a web view, or behind a server on loopback: a form that came to another name
    /// than this machine's is refused.
    ///
    /// - Parameters:
    ///   - manager: Kept for as long as the inspector is.
    ///   - hasControls: Whether what the manager does can be changed. Default: nothing can.
    public init(_ manager: TransactionManager, hasControls: Bool = false) {
        self.init(access: ManagerAccess(manager: manager, hasControls: hasControls))
    }
}

/// The store of a manager in this process, opened for each request: it may have been replaced since the one before.
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
            name: app, store: store, clock: settings.clock, redactor: redactor, hasControls: hasControls)
    }

    func logIn(token: String) -> String? { nil }

    func logOut(session: String) {}
}

/// Who may look at which store.
package protocol InspectorAccess: Sendable {
    /// The store that the sender of a request may look at.
    ///
    /// - Throws: ``InspectorProblem`` where there is none; one of status 401 leads to the login.
    func store(for request: InspectorRequest) async throws -> InspectedStore

    /// Begins a session of somebody who logs in with a token: what the browser is to keep and send along; nil where
    /// nothing is asked for.
    ///
    /// - Throws: ``InspectorProblem`` for a token that opens nothing.
    func logIn(token: String) throws -> String?

    /// Ends a session; any other text is none.
    func logOut(session: String)

    /// What pages are redacted by. Default: without names of its own.
    var redactor: Redactor { get }

    /// What can be changed of this process; nil, the default: nothing.
    var controls: InspectorControls? { get }
}

extension InspectorAccess {
    package var redactor: Redactor { Redactor() }

    package var controls: InspectorControls? { nil }
}

/// One store, shown to all who ask by a name of this machine.
///
/// A page from elsewhere whose name was turned to this machine (DNS rebinding) may, as far as a browser can tell, read
/// what it gets from there. The name that it went by stays in the field `Host`.
struct LocalAccess: InspectorAccess {
    let store: InspectedStore

    var redactor: Redactor { store.redactor }

    func store(for request: InspectorRequest) throws(InspectorProblem) -> InspectedStore {
        guard request.isForLoopback else {
            throw .forbidden("This is shown to this machine alone: ask for 127.0.0.1 or localhost.")
        }
        return store
    }

    func logIn(token: String) -> String? { nil }

    func logOut(session: String) {}
}
