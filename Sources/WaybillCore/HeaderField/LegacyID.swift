/// The ID that the first framework gave a transaction: `TXN17-586AB00B-F16E-4AE6-8A91-0210264925C7`, the use case's
/// code and a UUID.
///
/// Sets and header fields of that framework carry the same ID, so that both lead to the transaction whose GUID is the
/// UUID.
package struct LegacyID: Hashable, Sendable, CustomStringConvertible {
    package var transaction: GUID
    /// nil where only the UUID was given.
    package var useCase: Int?

    package init(transaction: GUID, useCase: Int?) {
        self.transaction = transaction
        self.useCase = useCase
    }

    /// Reads an ID in any case; also the UUID alone. nil for anything else.
    package init?(_ text: String) {
        guard let transaction = GUID(text.suffix(36)) else { return nil }
        self.transaction = transaction
        let head = text.dropLast(36)
        if head.isEmpty { return }
        guard head.lowercased().hasPrefix("txn"), head.last == "-", let useCase = Int(head.dropFirst(3).dropLast()),
            (0...Limits.largestCode).contains(useCase)
        else { return nil }
        self.useCase = useCase
    }

    /// As that framework wrote it.
    package var description: String {
        let uuid = transaction.description.uppercased()
        return useCase.map { "TXN\($0)-\(uuid)" } ?? uuid
    }
}

extension TransactionHeader {
    /// Reads the value that clients of the first framework send: an ``LegacyID`` with its use case. It tells neither
    /// source nor exchange.
    init?(legacy value: String) {
        guard value.utf8.count <= Self.lengthLimit, let id = LegacyID(value), let useCase = id.useCase else {
            return nil
        }
        self.init(transaction: id.transaction, useCase: useCase)
    }

    /// The value that servers of the first framework read.
    var legacyDescription: String { LegacyID(transaction: transaction, useCase: useCase).description }
}
