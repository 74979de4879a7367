import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Error {
    /// Whether the caller canceled the work, which is not a failure. The errors behind this one count, too: an app often
    /// wraps the `URLError` of a canceled request in an error of its own.
    package var isCancellation: Bool {
        isCaused {
            $0 is CancellationError || ($0 as? URLError)?.code == .cancelled
                || ($0 as? any TransactionError)?.recordedAsCanceled == true
        }
    }
}
