public import WaybillCore

/// Why a transport's set was not taken, and what is to be done about it.
///
/// A transport that throws anything else is tried again later, by ``Remedy/retry(after:)`` without a time.
///
/// ## Usage
///
/// ```swift
/// throw DeliveryFailure(WaybillError(.refused, "The queue takes 256 KB at most."), remedy: .sendLess)
/// ```
public struct DeliveryFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is to be done. The facts stay pending in every case.
    public enum Remedy: Sendable, Hashable {
        /// The same facts go out again: after this time, a day at most; nil: after a pause that grows with each
        /// failure.
        case retry(after: Duration? = nil)
        /// Half as many go out at once; a fact that is too large all by itself goes into quarantine.
        case sendLess
        /// Nothing goes out until ``TransactionManager/delivery`` is set anew, as a rule with another token, or the
        /// process is.
        case waitForNewDelivery
    }

    /// What went wrong, for people.
    public var error: WaybillError
    /// What is to be done about it.
    public var remedy: Remedy

    /// Makes a failure.
    public init(_ error: WaybillError, remedy: Remedy = .retry()) {
        self.error = error
        self.remedy = remedy
    }

    public var description: String { error.description }
}

extension DeliveryFailure {
    /// What any error of a transport comes to.
    init(wrapping error: any Error) {
        self =
            error as? DeliveryFailure
            ?? DeliveryFailure(
                error as? WaybillError
                    ?? WaybillError(.transport, "The set could not be sent.", cause: "\(type(of: error))"))
    }
}
