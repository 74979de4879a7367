#if Logging
public import Logging
import Waybill
import WaybillCore

extension Logger.MetadataProvider {
    /// Adds the current transaction's ID (`transaction`) and its code for support (`support-code`) to every line that any
    /// handler writes, so that logs lead to the transaction; nothing outside of one.
    ///
    /// ```swift
    /// LoggingSystem.bootstrap(StreamLogHandler.standardError, metadataProvider: .transaction)
    /// ```
    ///
    /// They become text where a handler writes them.
    public static let transaction = Logger.MetadataProvider {
        guard let part = TransactionScope.current?.part else { return [:] }
        return [
            transactionName: .stringConvertible(part.transaction),
            supportCodeName: .stringConvertible(part.transaction.supportCode),
        ]
    }

    static let transactionName = "transaction"
    static let supportCodeName = "support-code"
}
#endif
