public import WaybillCore

/// The transaction below which another one is begun.
///
/// A child is a transaction of its own, with its own outcome and timeout; its parent may have ended already.
///
/// ## Usage
///
/// ```swift
/// let payment = transactions.begin(Payment.self, parent: .transaction(checkout))
/// let sync = transactions.begin(Sync.self, parent: nil)
/// ```
public struct TransactionParent: Hashable, Sendable {
    let transaction: GUID
    /// The topmost one above the child, as far as this process knows.
    let root: GUID
    /// The trace that both belong to.
    let trace: GUID
    /// What other vendors say of that trace; `nil` if none does.
    let otherVendors: String?
    /// The part that this process has in it, whose sequence is 0 where it was not recorded; nil: none is known.
    let part: Fact.ID?

    /// The innermost transaction that the current task works for; nil outside of any.
    public static var current: TransactionParent? {
        // What was withheld, or found no room, is nobody's parent.
        TransactionScope.innermost { $0.sequence > 0 }.map { TransactionParent($0) }
    }

    /// One that this process takes part in, whether it is finished or not.
    ///
    /// What is begun below one that was not recorded stands by itself.
    public static func transaction<Event>(_ transaction: UseCaseTransaction<Event>) -> TransactionParent {
        TransactionParent(transaction.part)
    }

    /// One by its ID, e.g. as it was remembered from an earlier launch; it need not be known here.
    public static func id(_ id: GUID) -> TransactionParent {
        TransactionParent(transaction: id, root: id, trace: id, otherVendors: nil, part: nil)
    }

    private init(_ part: OpenPart) {
        self.init(
            transaction: part.transaction, root: part.root, trace: part.trace,
            otherVendors: part.otherVendors,
            part: Fact.ID(source: part.source?.id ?? part.transaction, sequence: part.sequence))
    }

    private init(transaction: GUID, root: GUID, trace: GUID, otherVendors: String?, part: Fact.ID?) {
        self.transaction = transaction
        self.root = root
        self.trace = trace
        self.otherVendors = otherVendors
        self.part = part
    }
}
