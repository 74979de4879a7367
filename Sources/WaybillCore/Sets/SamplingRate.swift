/// How large a share of its transactions a collector would like an app to deliver; an app takes it only if it is told to
/// (`Sampling.acceptsRatesFromCollector` of the module `Waybill`).
public struct SamplingRate: Hashable, Sendable {
    /// The code of the use case that it holds for; nil: for all that have no rate of their own.
    public var useCase: Int?
    /// Of a million transactions so many: 0 to 1,000,000. One of a receipt may be anything, and is not taken then; what
    /// cannot be read is -1.
    public var perMillion: Int

    /// Makes a rate.
    public init(useCase: Int?, perMillion: Int) {
        self.useCase = useCase
        self.perMillion = perMillion
    }

    /// The same of a share from 0 to 1; nil for any other.
    package init?(useCase: Int?, share: Double) {
        guard (0...1).contains(share) else { return nil }
        self.init(useCase: useCase, perMillion: Int((share * Double(Fact.Sampling.million)).rounded()))
    }

    /// Whether it can be taken.
    package var isPossible: Bool { (0...Fact.Sampling.million).contains(perMillion) }
}

extension JSONReader {
    /// The rates of a receipt. What is wrong with one is no reason not to believe the verdicts beside it.
    mutating func samplingRates() throws(JSONFailure) -> [SamplingRate] {
        let unreadable = SamplingRate(useCase: nil, perMillion: -1)
        guard next == UInt8(ascii: "[") else {
            try skipValue()
            return [unreadable]
        }
        var rates: [SamplingRate] = []
        try beginArray()
        while try nextElement() {
            var (ahead, rate) = (self, unreadable)
            do throws(JSONFailure) {
                rate = try ahead.samplingRate()
                self = ahead
            } catch {
                try skipValue()
            }
            // One too many shows that there are.
            if rates.count <= Limits.samplingRates { rates.append(rate) }
        }
        return rates
    }

    private mutating func samplingRate() throws(JSONFailure) -> SamplingRate {
        var rate = SamplingRate(useCase: nil, perMillion: -1)
        try beginObject()
        while let key = try nextKey() {
            switch key {
            case "use_case": rate.useCase = try count() as Int
            case "sample_ppm": rate.perMillion = try integer(in: -.max ... .max)
            default: try skipValue()
            }
        }
        return rate
    }
}
