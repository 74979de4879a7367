#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension TransactionManager {
    /// The delegate to give to a `URLSession` in place of your own, so that its exchanges are recorded; see
    /// ``CapturingDelegate``.
    ///
    /// - Parameter delegate: Yours; nil where the session has none.
    public func capturing(_ delegate: (any URLSessionDelegate)?) -> CapturingDelegate {
        CapturingDelegate(delegate, sources: sources)
    }
}
