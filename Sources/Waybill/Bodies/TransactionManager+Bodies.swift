public import WaybillCore
import WaybillStore

extension TransactionManager {
    /// What was kept of a body of an exchange, without its secrets; see ``BodyPolicy``.
    ///
    /// - Parameters:
    ///   - exchange: Of this device; ``WaybillReading/TransactionRecord/Exchange/id``.
    ///   - direction: Whether the request's body or the answer's.
    /// - Returns: nil where nothing is known of one: none was asked for, there was none, or its room went to newer
    ///   ones.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be read.
    public func body(of exchange: Fact.ID, _ direction: BodyDirection) async throws -> ExchangeBody? {
        try await read { reader, _ in try reader.body(of: exchange, direction) } ?? nil
    }
}
