package import WaybillCore

/// A set of version 0.0.1, as the PEAppTransaction Logging Framework (2015) sends it:
/// `Schemas/legacy-set.v0.0.1.schema.json`.
///
/// It has no ID, its logs have no identity, and they carry the time of the flush rather than their own.
package struct LegacySet: Hashable, Sendable {
    package var transactions: [Transaction]
    /// Of a set that was read, what could not be read, in order.
    package var unread: [Unread]

    package init(transactions: [Transaction], unread: [Unread] = []) {
        self.transactions = transactions
        self.unread = unread
    }

    /// How many facts it becomes: one for what it has of a transaction, and one for each log.
    package var factCount: Int { transactions.reduce(transactions.count) { $0 + $1.logs.count } }

    /// A transaction that could not be read.
    package struct Unread: Hashable, Sendable {
        /// nil where not even its ID could be read.
        package var transaction: GUID?
        /// One sentence without a full stop, with where in the set (RFC 6901).
        package var reason: String
        /// As it came, secrets included.
        package var json: [UInt8]

        package init(transaction: GUID?, reason: String, json: [UInt8]) {
            self.transaction = transaction
            self.reason = reason
            self.json = json
        }
    }

    /// What was logged of a transaction since the flush before.
    package struct Transaction: Hashable, Sendable {
        /// Of `TXN<use case>-<UUID>`, the UUID.
        package var id: GUID
        package var useCase: Int
        /// nil where it was not told; so for the others.
        package var deviceMake: String?
        package var deviceOS: String?
        package var deviceOSVersion: String?
        /// May be empty.
        package var logs: [Log]

        package init(
            id: GUID, useCase: Int, deviceMake: String? = nil, deviceOS: String? = nil, deviceOSVersion: String? = nil,
            logs: [Log] = []
        ) {
            self.id = id
            self.useCase = useCase
            self.deviceMake = deviceMake
            self.deviceOS = deviceOS
            self.deviceOSVersion = deviceOSVersion
            self.logs = logs
        }
    }

    package struct Log: Hashable, Sendable {
        package var event: Int
        /// As it was written; see ``LegacyDate``.
        package var timestamp: String
        /// nil where it is null or missing.
        package var errorCode: ErrorCode?
        /// nil where it is null or missing.
        package var errorDescription: String?
        /// What a server of that framework puts beside an event; nil for none.
        package var context: String?

        package init(
            event: Int, timestamp: String, errorCode: ErrorCode? = nil, errorDescription: String? = nil,
            context: String? = nil
        ) {
            self.event = event
            self.timestamp = timestamp
            self.errorCode = errorCode
            self.errorDescription = errorDescription
            self.context = context
        }
    }

    /// A number, which some clients keep as a text.
    package enum ErrorCode: Hashable, Sendable {
        case number(Int64)
        /// A text that is no number.
        case text(String)
    }
}
