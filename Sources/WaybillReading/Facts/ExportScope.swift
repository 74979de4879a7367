package import WaybillCore

/// Which facts an export takes.
package enum ExportScope: Sendable, Hashable {
    /// All, also exchanges outside any transaction.
    case everything
    /// Those of the transactions that pass a filter; `now` in microseconds since 1970 decides what has timed out.
    case transactions(TransactionFilter, now: Int64)
    /// Those of one transaction.
    case transaction(GUID)
    /// Those behind a cursor.
    case after(ExportCursor)
    /// Those received, or recorded here, at this time or later, in microseconds since 1970.
    case since(Int64)
    /// Those that were rejected, and are still there.
    case quarantine
}
