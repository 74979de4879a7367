public import Foundation
import WaybillCore
import WaybillStore

/// What ``TransactionManager/erase(_:)`` takes away; transactions whole, but for ``networkLogs``.
public enum ErasureSelection: Sendable, Hashable {
    /// Everything that was recorded.
    case all
    /// These transactions.
    case ids([GUID])
    /// The transactions that began before this time.
    case before(Date)
    /// The network exchanges, in and outside of transactions, with what was kept of their bodies. Events stay.
    case networkLogs
    /// What was recorded under the present installation ID, and the transactions that began under it; after
    /// ``TransactionManager/resetInstallation()`` that is what came since.
    case installation

    /// - Parameter installation: The present one.
    func scope(installation: GUID?) -> ErasureScope {
        switch self {
        case .all: .all
        case .ids(let ids): .transactions(ids)
        case .before(let date): .begunBefore(date)
        case .networkLogs: .networkLogs
        case .installation: installation.map { .installation($0) } ?? .transactions([])
        }
    }
}
