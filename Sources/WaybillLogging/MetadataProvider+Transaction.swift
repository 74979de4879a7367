#if Logging
public import Logging
import Waybill
import WaybillCore

extension Logger.MetadataProvider {
    /// Adds the current transaction's ID (`transaction`) and support code (`support-code`) to all lines.
    ///
    /// Outside any transaction, it adds nothing.
    ///
    /// ```swift
    /// LoggingSystem.bootstrap(StreamLogHandler.standardError, metadataProvider: .transaction)
    /// ```
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
