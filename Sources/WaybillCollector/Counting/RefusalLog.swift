#if Collector
import WaybillCore

/// Which refusals the log is told of: of each kind and token the first, and then one in ten seconds, so that refused
/// requests cannot fill a disk.
final class RefusalLog: Sendable {
    /// What is told apart.
    struct Kind: Hashable {
        var refusal: Refusal
        /// The ID of the token; nil where there is none, or none that is known. So there are only as many kinds as
        /// tokens times refusals.
        var token: String?
    }

    private struct Told {
        /// When last, in microseconds of uptime.
        var at: Int64
        /// Refusals after that.
        var since = 0
    }

    private static let intervalMicroseconds: Int64 = 10_000_000
    private let told = Locked<[Kind: Told]>([:])

    /// Counts a refusal; how many there were since the line before, this one included, where a line is due now.
    func count(_ kind: Kind, now uptime: Int64) -> Int? {
        told.withLock { told in
            if var latest = told[kind], uptime - latest.at < Self.intervalMicroseconds {
                latest.since += 1
                told[kind] = latest
                return nil
            }
            let count = (told[kind]?.since ?? 0) + 1
            told[kind] = Told(at: uptime)
            return count
        }
    }
}
#endif
