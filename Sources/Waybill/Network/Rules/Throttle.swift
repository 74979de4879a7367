/// How slow an exchange is made.
public struct Throttle: Sendable, Hashable {
    /// How long the request waits before it is sent.
    public var latency: Duration
    /// How long it waits at most: each request waits a time that is drawn between ``latency`` and this; nil: always
    /// ``latency``.
    public var longestLatency: Duration?
    /// How many bytes of a body the caller sees sent, and then come, in a second; nil: as many as the network does.
    ///
    /// What the network carries meanwhile waits in memory, so this is for looking at progress bars, not for bodies of
    /// gigabytes.
    public var bytesPerSecond: Int64?

    /// Makes a throttle.
    public init(latency: Duration = .zero, longestLatency: Duration? = nil, bytesPerSecond: Int64? = nil) {
        self.latency = latency
        self.longestLatency = longestLatency
        self.bytesPerSecond = bytesPerSecond
    }

    var problem: String? {
        guard let bytesPerSecond, bytesPerSecond < 1 else { return Duration.problem(from: latency, to: longestLatency) }
        return "At \(bytesPerSecond) bytes a second nothing would ever come."
    }
}
