import WaybillCore

// The class alone: all of `Waybill` would bring `WaybillStore` along, which pages are to do without.
public import class Waybill.TransactionManager

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

    var controls: InspectorControls? { hasControls ? InspectorControls(manager) : nil }

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
