public import Foundation
public import Waybill

extension TransactionManager {
    /// Makes the manager of this app. It records only after the user has agreed. If the user withdraws consent, it
    /// erases pending facts.
    ///
    /// - Parameters:
    ///   - server: The server that joins the transactions.
    ///   - collector: The collector; `nil` keeps all data on the device.
    ///   - store: Defaults to the app's container.
    public static func app(server: URL, collector: URL?, store: StoreLocation = .default) -> TransactionManager {
        TransactionManager(
            store: store, delivery: collector.map { .collector($0) }, correlatedHosts: server.host().map { [$0] } ?? []
        ) { options in
            options.recording = .off
            options.remembersRecording = true
            options.erasesPendingWhenOff = true
        }
    }
}
