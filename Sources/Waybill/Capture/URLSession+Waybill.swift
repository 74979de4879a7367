#if canImport(FoundationNetworking)
public import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSession {
    /// A session as `URLSession(configuration:delegate:delegateQueue:)` makes it, whose exchanges are recorded: one line
    /// to change, and nothing is sent twice.
    ///
    /// ```swift
    /// let session = URLSession.waybill(transactions, configuration: configuration, delegate: delegate)
    /// ```
    ///
    /// The session's delegate is a ``CapturingDelegate``, which passes everything on to yours; with its `task(for:)` a
    /// request gets the header field of its transaction. What it sees without that, and on which platform, is in the
    /// guide <doc:CaptureTheNetwork>.
    ///
    /// - Parameters:
    ///   - transactions: What records.
    ///   - configuration: The session's. Default: the default one.
    ///   - delegate: Yours; nil, the default, where the session has none.
    ///   - delegateQueue: Where the delegate is called; nil, the default: a serial queue of the session's own.
    public static func waybill(
        _ transactions: TransactionManager, configuration: URLSessionConfiguration = .default,
        delegate: (any URLSessionDelegate)? = nil, delegateQueue: OperationQueue? = nil
    ) -> URLSession {
        URLSession(
            configuration: configuration, delegate: transactions.capturing(delegate), delegateQueue: delegateQueue)
    }
}
