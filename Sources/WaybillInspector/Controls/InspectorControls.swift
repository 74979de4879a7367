import WaybillCore

import class Waybill.NetworkRules
import enum Waybill.RecordingMode
import class Waybill.TransactionManager

/// What can be changed of this process: whether its manager records, and the rules that its sessions obey.
package struct InspectorControls: Sendable {
    private let manager: TransactionManager

    init(_ manager: TransactionManager) { self.manager = manager }

    /// The app's, for the pages' head.
    var name: String { manager.sources.settings?.describe(GUID()).app ?? "" }

    var redactor: Redactor { manager.sources.settings?.redactor ?? Redactor() }

    var rules: NetworkRules { manager.rules }

    var recording: RecordingMode {
        get { manager.recording }
        nonmutating set { manager.recording = newValue }
    }

    /// What turning it off and on does besides.
    var effects: ControlsPage.Effects {
        guard let settings = manager.sources.settings else { return .disabled }
        return .init(isRemembered: settings.mark != nil, offErasesPending: settings.offErasesPending)
    }
}
