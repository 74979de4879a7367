extension Receipt {
    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 128 + 160 * rejections.count)
        writer.beginObject()
        writer.member("set", set)
        writer.member("accepted", acceptedCount)
        writer.member("known", knownCount)
        writer.array("rejected", rejections) { rejection, writer in
            writer.member("source", rejection.source)
            writer.member("sequence", rejection.sequence)
            writer.member("index", rejection.index)
            // A longer reason would make the receipt unreadable.
            writer.member("reason", rejection.reason.cut(to: Limits.textLength))
        }
        writer.array("refused", refusedSources) { refused, writer in
            writer.member("source", refused.source)
            writer.member("reason", refused.reason)
        }
        if refusedNameCount > 0 { writer.member("refused_names", refusedNameCount) }
        writer.array("sampling", samplingRates) { rate, writer in
            writer.member("use_case", rate.useCase)
            writer.member("sample_ppm", rate.perMillion)
        }
        writer.endObject()
        return writer.bytes
    }

    package static func decode(_ bytes: [UInt8]) throws(SetDecodingFailure) -> Receipt {
        try SetDecodingFailure.decoding(bytes) { reader throws(JSONFailure) in
            var set: GUID?
            var accepted: Int?
            var known: Int?
            var rejections: [Receipt.Rejection] = []
            var refused: [RefusedSource] = []
            var refusedNames = 0
            var samplingRates: [SamplingRate] = []
            let start = try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "set": set = try reader.guid()
                case "accepted": accepted = try reader.count()
                case "known": known = try reader.count()
                case "rejected": rejections = try Receipt.rejections(&reader)
                case "refused": refused = try Receipt.refusedSources(&reader)
                case "refused_names": refusedNames = try reader.count()
                case "sampling": samplingRates = try reader.samplingRates()
                default: try reader.skipValue()
                }
            }
            var receipt = Receipt(
                set: try reader.required(set, "set", at: start),
                acceptedCount: try reader.required(accepted, "accepted", at: start),
                knownCount: try reader.required(known, "known", at: start), rejections: rejections,
                refusedNameCount: refusedNames, samplingRates: samplingRates)
            receipt.refusedSources = refused
            return receipt
        }
    }

    private static func refusedSources(_ reader: inout JSONReader) throws(JSONFailure) -> [RefusedSource] {
        try reader.array { (reader, start) throws(JSONFailure) -> RefusedSource in
            var source: GUID?
            var reason = ""
            while let key = try reader.nextKey() {
                switch key {
                case "source": source = try reader.guid()
                case "reason": reason = try reader.string(limit: Limits.textLength)
                default: try reader.skipValue()
                }
            }
            return RefusedSource(source: try reader.required(source, "source", at: start), reason: reason)
        }
    }

    private static func rejections(_ reader: inout JSONReader) throws(JSONFailure) -> [Receipt.Rejection] {
        try reader.array { (reader, start) throws(JSONFailure) -> Receipt.Rejection in
            var source: GUID?
            var sequence: Int64?
            var index: Int?
            var reason = ""
            while let key = try reader.nextKey() {
                switch key {
                case "source": source = try reader.guid()
                case "sequence": sequence = try reader.integer(in: 1...Limits.largestInteger)
                case "index": index = try reader.count()
                case "reason": reason = try reader.string(limit: Limits.textLength)
                default: try reader.skipValue()
                }
            }
            return Receipt.Rejection(
                source: try reader.required(source, "source", at: start), sequence: sequence,
                index: try reader.required(index, "index", at: start), reason: reason)
        }
    }
}

/// A sampling rate that a collector requests. Apps ignore it unless `Sampling.acceptsRatesFromCollector` is true.
public struct SamplingRate: Equatable, Sendable {
    /// The code of the use case; `nil` for all use cases without a specific rate.
    public var useCase: Int?
    /// The number of delivered transactions per million: 0 to 1,000,000.
    ///
    /// Apps ignore a received rate outside this range. A rate that can't be read is -1.
    public var perMillion: Int

    /// Creates a rate.
    public init(useCase: Int?, perMillion: Int) {
        self.useCase = useCase
        self.perMillion = perMillion
    }

    package init?(useCase: Int?, share: Double) {
        guard (0...1).contains(share) else { return nil }
        self.init(useCase: useCase, perMillion: Int((share * Double(Fact.Sampling.million)).rounded()))
    }

    package var isPossible: Bool { (0...Fact.Sampling.million).contains(perMillion) }
}

extension JSONReader {
    /// An invalid rate does not invalidate the verdicts.
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
