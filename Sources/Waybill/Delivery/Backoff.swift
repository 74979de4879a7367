import WaybillCore

/// How long to wait after failures in a row: exponential, with full jitter, so that clients that failed together do not
/// come back together.
///
/// Source: Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015: a random time between nothing
/// and the bound.
struct Backoff {
    /// The bound after the first failure; doubled with each further one.
    var first = Duration.seconds(10)
    /// The bound is never higher: an hour, so that a host that is blocked for good costs a device some fifty attempts a
    /// day.
    var longest = Duration.seconds(3_600)

    /// The longest wait after so many failures in a row.
    func bound(afterFailures count: Int) -> Duration { min(longest, first * (1 << max(0, min(count - 1, 20)))) }

    /// A wait after so many failures in a row.
    func wait(afterFailures count: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        .microseconds(Int64.random(in: 0...bound(afterFailures: count).microseconds, using: &generator))
    }
}
