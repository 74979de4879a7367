public import Foundation
public import Waybill

extension TransactionManager {
    /// The manager of this app: records nothing until the user has agreed, and gives up what waits where they take that
    /// back.
    ///
    /// - Parameters:
    ///   - server: Whose server joins the transactions.
    ///   - collector: nil: everything stays on the device.
    ///   - store: Default: the app's own container.
    public static func app(server: URL, collector: URL?, store: StoreLocation = .default) -> TransactionManager {
        TransactionManager(
            store: store, delivery: collector.map { .collector($0) }, correlatedHosts: server.host().map { [$0] } ?? []
        ) { options in
            options.recording = .off
            options.remembersRecording = true
            options.offErasesPending = true
        }
    }
}
