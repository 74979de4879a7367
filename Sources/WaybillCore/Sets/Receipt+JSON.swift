/// How a receipt is written and read, as `Schemas/receipt.v1.schema.json` describes it.
extension Receipt {
    /// The receipt as JSON of media type ``mediaType``.
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
            // A reason that is too long would make the receipt unreadable.
            writer.member("reason", rejection.reason.cut(to: Limits.textLength) ?? rejection.reason)
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

    /// Reads a receipt; members that are not known are ignored.
    ///
    /// - Throws: `.malformed` for what is not JSON, `.invalid` for what is not a receipt of version 1.
    package static func decode(_ bytes: [UInt8]) throws(SetDecodingFailure) -> Receipt {
        try SetDecodingFailure.decoding(bytes) { reader throws(JSONFailure) in
            reader.skipWhitespace()
            let start = reader.offset
            var set: GUID?
            var accepted: Int?
            var known: Int?
            var rejections: [Receipt.Rejection] = []
            var refused: [RefusedSource] = []
            var refusedNames = 0
            var samplingRates: [SamplingRate] = []
            try reader.beginObject()
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
        var refused: [RefusedSource] = []
        try reader.array { reader, start throws(JSONFailure) in
            var source: GUID?
            var reason = ""
            while let key = try reader.nextKey() {
                switch key {
                case "source": source = try reader.guid()
                case "reason": reason = try reader.string(limit: Limits.textLength)
                default: try reader.skipValue()
                }
            }
            refused.append(RefusedSource(source: try reader.required(source, "source", at: start), reason: reason))
        }
        return refused
    }

    private static func rejections(_ reader: inout JSONReader) throws(JSONFailure) -> [Receipt.Rejection] {
        var rejections: [Receipt.Rejection] = []
        try reader.array { reader, start throws(JSONFailure) in
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
            rejections.append(
                Receipt.Rejection(
                    source: try reader.required(source, "source", at: start), sequence: sequence,
                    index: try reader.required(index, "index", at: start), reason: reason))
        }
        return rejections
    }
}

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
