package import Dispatch

/// Runs what a store's thread has to do later; tests bring their own, and let time pass by hand.
package protocol StoreTimer: Sendable {
    /// Runs work on a queue, not before so much time has passed.
    func run(after delay: Duration, on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void)
}

/// Timers of the system, which stand still while the device sleeps.
package struct SystemTimer: StoreTimer {
    package init() {}

    package func run(after delay: Duration, on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        let (seconds, attoseconds) = delay.components
        // Dispatch's own intervals are an `Int`, which holds two seconds in nanoseconds where it has 32 bits: whole
        // seconds go by themselves.
        let (whole, rest) = (Int(clamping: seconds), Int(attoseconds / 1_000_000_000))
        queue.asyncAfter(deadline: .now() + .seconds(whole) + .nanoseconds(rest), execute: work)
    }
}
