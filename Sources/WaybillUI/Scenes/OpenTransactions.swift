public import Waybill
import WaybillCore

/// The transactions of the views around a view; see `View.transaction(_:attributes:)`.
public struct OpenTransactions: Sendable {
    private var screens: [ObjectIdentifier: any Sendable] = [:]

    package init() {}

    /// The transaction of the nearest enclosing view for a use case. It begins now, unless it has begun.
    ///
    /// `nil` if no enclosing view has a transaction of this use case.
    public subscript<U: UseCase>(useCase: U.Type) -> UseCaseTransaction<U>? {
        (screens[ObjectIdentifier(useCase)] as? ScreenTransaction<U>)?.begun()
    }

    package func adding<U>(_ screen: ScreenTransaction<U>) -> OpenTransactions {
        var all = self
        all.screens[ObjectIdentifier(U.self)] = screen
        return all
    }
}

/// The transaction of a view: it begins when the view appears, and is abandoned when it disappears unfinished.
package final class ScreenTransaction<U: UseCase>: Sendable {
    private struct State {
        var transactions = TransactionManager.disabled
        var attributes: Attributes = [:]
        var handle: UseCaseTransaction<U>?
    }

    private let state = Locked(State())

    package init() {}

    package func use(_ transactions: TransactionManager, _ attributes: Attributes) {
        state.withLock { ($0.transactions, $0.attributes) = (transactions, attributes) }
    }

    /// A view inside may need it before this one appears.
    @discardableResult
    package func begun() -> UseCaseTransaction<U> {
        let (known, transactions, attributes) = state.withLock { ($0.handle, $0.transactions, $0.attributes) }
        if let known { return known }
        let handle = transactions.begin(U.self, attributes: attributes)
        state.withLock { $0.handle = handle }
        return handle
    }

    /// A model may still have the handle, so it is finished, not only released.
    package func end() { state.withLock { $0.handle.take() }?.finish(.abandoned) }
}

extension TransactionManager {
    /// Flushes early, since the system may delay uploads that begin in the background.
    package func deliver(whileActive isActive: Bool) {
        if isActive { startDelivery() } else { flush { _ in } }
    }
}
