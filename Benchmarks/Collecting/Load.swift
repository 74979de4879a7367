#if Collector
import Dispatch
import Foundation
import WaybillCore

/// Posts on several connections at once, each on a separate thread, because the cooperative pool is the server's.
struct Load {
    /// The total time, in seconds.
    var seconds: Double
    /// The time that each request waited for its answer, in seconds.
    var latencies: [Double]

    /// - Parameters:
    ///   - requests: The requests for each connection, sent one after the other.
    ///   - interval: How often each connection posts. If a request has to wait for the one before, its latency counts
    ///     from when it was due. `nil` to post as soon as the one before is answered.
    static func run(_ requests: [[[UInt8]]], to port: Int, every interval: Duration? = nil) async throws -> Load {
        let connections = try requests.map { _ in try LoadConnection(port: port) }
        let outcomes = Locked<[Swift.Result<[Double], any Error>]>([])
        let start = ContinuousClock.now
        let group = DispatchGroup()
        for (connection, requests) in zip(connections, requests) {
            // Only its thread uses it from here on.
            nonisolated(unsafe) let connection = connection
            group.enter()
            Thread.detachNewThread {
                let outcome = Swift.Result { try post(requests, on: connection, every: interval) }
                outcomes.withLock { $0.append(outcome) }
                group.leave()
            }
        }
        await withCheckedContinuation { continuation in group.notify(queue: .global()) { continuation.resume() } }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return Load(seconds: seconds, latencies: try outcomes.withLock { $0 }.flatMap { try $0.get() })
    }

    /// The latency that all but the slowest hundredth of the requests did not exceed.
    var slowestHundredth: Double { latencies.sorted()[latencies.count * 99 / 100] }

    private static func post(
        _ requests: [[UInt8]], on connection: LoadConnection, every interval: Duration?
    ) throws -> [Double] {
        let start = ContinuousClock.now
        return try requests.enumerated().map { number, request in
            let begun = interval.map { start + $0 * number } ?? .now
            let wait = begun - .now
            if wait > .zero { Thread.sleep(forTimeInterval: wait / .seconds(1)) }
            try connection.post(request)
            return (ContinuousClock.now - begun) / .seconds(1)
        }
    }
}
#endif
