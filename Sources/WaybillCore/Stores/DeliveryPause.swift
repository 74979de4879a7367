/// For how long nothing is to be sent: kept with the store, so that it outlives the process, and known to all processes that share it.
package struct DeliveryPause: Hashable, Sendable {
    /// Failures in a row.
    package var failureCount: Int
    /// Microseconds from now.
    package var remainingMicroseconds: Int
    /// Whether the other side asked for it.
    package var wasAskedFor: Bool

    package init(failureCount: Int, remainingMicroseconds: Int, wasAskedFor: Bool) {
        self.failureCount = failureCount
        self.remainingMicroseconds = remainingMicroseconds
        self.wasAskedFor = wasAskedFor
    }
}
