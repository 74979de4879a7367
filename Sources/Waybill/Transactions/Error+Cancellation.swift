import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Error {
    /// Whether somebody no longer wanted what was under way, which is no failure.
    package var isCancellation: Bool {
        self is CancellationError || (self as? URLError)?.code == .cancelled
            || (self as? any TransactionError)?.recordedAsCanceled == true
    }
}
