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
    /// - Parameter manager: Kept for as long as the inspector is.
    public init(_ manager: TransactionManager) { self.init(access: ManagerAccess(manager: manager)) }
}

/// The store of a manager in this process, opened for each request: it may have been replaced since the one before.
struct ManagerAccess: InspectorAccess {
    let manager: TransactionManager

    var redactor: Redactor { manager.sources.settings?.redactor ?? Redactor() }

    func store(for request: InspectorRequest) async throws -> InspectedStore {
        guard let settings = manager.sources.settings, let store = try await manager.store() else {
            throw InspectorProblem.notFound("Recording is off and nothing was recorded: there is nothing to show.")
        }
        let app = settings.describe(GUID()).app
        return InspectedStore(name: app, store: store, clock: settings.clock, redactor: redactor)
    }

    func logIn(token: String) -> String? { nil }

    func logOut(session: String) {}
}
