import WaybillCore

extension Throttle: Codable {
    private enum Member: String, CodingKey {
        case latency = "latency_us"
        case longestLatency = "longest_latency_us"
        case bytesPerSecond = "bytes_per_second"
    }

    /// Reads a throttle: an object with `latency_us`, `longest_latency_us`, `bytes_per_second`, or several of these.
    ///
    /// - Throws: `DecodingError` with where, also for a member that is not known.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members(Member.self)
        let (latency, longestLatency) = try members.delay(.latency, .longestLatency)
        let bytesPerSecond = try members.integer(.bytesPerSecond, in: 1...Limits.largestInteger)
        guard [.latency, .longestLatency, .bytesPerSecond].contains(where: members.contains) else {
            throw decoder.failure("latency_us or bytes_per_second was expected")
        }
        self.init(latency: latency, longestLatency: longestLatency, bytesPerSecond: bytesPerSecond)
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        if latency > .zero || bytesPerSecond == nil {
            try members.encode(max(0, latency.microseconds), forKey: .latency)
        }
        try members.encodeIfPresent(longestLatency?.microseconds, forKey: .longestLatency)
        try members.encodeIfPresent(bytesPerSecond, forKey: .bytesPerSecond)
    }
}
