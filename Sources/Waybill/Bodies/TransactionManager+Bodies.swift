public import WaybillCore
public import WaybillStore

extension TransactionManager {
    /// What was kept of a body of an exchange, without its secrets; see ``BodyPolicy``.
    ///
    /// - Parameter exchange: Of this device; ``TransactionRecord/Exchange/id``.
    /// - Returns: nil where nothing is known of one: none was asked for, there was none, or its room went to newer ones.
    /// - Throws: ``WaybillError`` when the store cannot be read.
    public func body(of exchange: Fact.ID, _ direction: BodyDirection) async throws -> ExchangeBody? {
        try await read { reader, _ in try reader.body(of: exchange, direction) } ?? nil
    }
}
