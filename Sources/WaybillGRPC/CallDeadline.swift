#if GRPC
import GRPCCore
import WaybillCore

/// Until when a call is waited for, by what its metadata say (`grpc-timeout`:
/// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct CallDeadline {
    let timeoutMicroseconds: Int64
    private let latest: ContinuousClock.Instant

    /// nil where there is none, or none that can be read.
    init?(_ metadata: Metadata) {
        let now = ContinuousClock.now
        guard let field = metadata[stringValues: "grpc-timeout"].first(where: { _ in true }),
            let timeout = Self.duration(field)
        else { return nil }
        timeoutMicroseconds = timeout.microseconds
        // The time that was left was taken before a connection was there, and how long before is not known.
        latest = now + timeout * 3 / 4
    }

    /// Whether a call that is no longer waited for has run out of time.
    var hasPassed: Bool { ContinuousClock.now >= latest }

    /// Eight digits at most, and a unit.
    private static func duration(_ field: String) -> Duration? {
        guard (2...9).contains(field.utf8.count), let amount = Int64(field.dropLast()), amount >= 0 else { return nil }
        switch field.last {
        case "H": return .seconds(amount * 3_600)
        case "M": return .seconds(amount * 60)
        case "S": return .seconds(amount)
        case "m": return .milliseconds(amount)
        case "u": return .microseconds(amount)
        case "n": return .nanoseconds(amount)
        default: return nil
        }
    }
}
#endif
