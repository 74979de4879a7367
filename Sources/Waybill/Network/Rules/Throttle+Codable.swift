import WaybillCore

extension Throttle: Codable {
    private enum Member: String, CodingKey {
        case latency = "latency_us"
        case bytesPerSecond = "bytes_per_second"
    }

    /// Reads a throttle: an object with `latency_us`, `bytes_per_second` or both.
    ///
    /// - Throws: `DecodingError` with where, also for a member that is not known.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members(Member.self)
        let latency = try members.integer(.latency)
        let bytesPerSecond = try members.integer(.bytesPerSecond, in: 1...Limits.largestInteger)
        guard latency != nil || bytesPerSecond != nil else {
            throw decoder.failure("latency_us or bytes_per_second was expected")
        }
        self.init(latency: .microseconds(latency ?? 0), bytesPerSecond: bytesPerSecond)
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        if latency > .zero || bytesPerSecond == nil {
            try members.encode(max(0, latency.microseconds), forKey: .latency)
        }
        try members.encodeIfPresent(bytesPerSecond, forKey: .bytesPerSecond)
    }
}
