package import WaybillCore
import WaybillReading

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
