/// For how long nothing is to be sent: kept with the store, so that it outlives the process, and known to all processes
/// that share it.
public struct DeliveryPause: Hashable, Sendable {
    /// Failures in a row.
    public var failureCount: Int
    /// Microseconds from now.
    package var remainingMicroseconds: Int64
    /// Whether the other side asked for it.
    public var wasAskedFor: Bool

    package init(failureCount: Int, remainingMicroseconds: Int64, wasAskedFor: Bool) {
        self.failureCount = failureCount
        self.remainingMicroseconds = remainingMicroseconds
        self.wasAskedFor = wasAskedFor
    }

    /// Makes a pause.
    public init(failureCount: Int, remaining: Duration, wasAskedFor: Bool) {
        self.init(failureCount: failureCount, remainingMicroseconds: remaining.microseconds, wasAskedFor: wasAskedFor)
    }

    /// From now.
    public var remaining: Duration { .microseconds(remainingMicroseconds) }
}
