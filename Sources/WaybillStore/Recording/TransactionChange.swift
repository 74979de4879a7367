public import WaybillCore

/// What has just been recorded.
public enum TransactionChange: Hashable, Sendable {
    /// Something was added to these transactions; at most a thousand.
    case transactions(Set<GUID>)
    /// More than that has changed, or something was erased: read again what is shown.
    case reload
}
