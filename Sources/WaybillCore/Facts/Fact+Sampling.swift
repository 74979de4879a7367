extension Fact {
    /// How a transaction was chosen, or not, among those of its use case.
    package struct Sampling: Hashable, Sendable {
        /// Of a million transactions so many are chosen: 0 to 1,000,000.
        package var perMillion: Int
        /// Whether it is one of them. Of one that is not, facts are delivered only because of how it ended.
        package var isChosen: Bool
        /// Microseconds beyond which a transaction counts as slow; nil: none does.
        package var slowMicroseconds: Int64?

        /// Makes what an `opened` fact says about it.
        package init(perMillion: Int, isChosen: Bool, slowMicroseconds: Int64? = nil) {
            self.perMillion = perMillion
            self.isChosen = isChosen
            self.slowMicroseconds = slowMicroseconds
        }

        /// Of a million, the fewest that can be chosen, if any: one transaction never stands for more than 10,000.
        package static let leastPerMillion = 100
        package static let million = 1_000_000

        /// How a transaction of that ID is chosen; nil where all are.
        ///
        /// - Parameter root: Of the transaction that it is below, or its own.
        package init?(root: GUID, perMillion: Int, slowMicroseconds: Int64?) {
            guard perMillion < Self.million else { return nil }
            self.init(
                perMillion: perMillion, isChosen: root.isChosen(perMillion: perMillion),
                slowMicroseconds: slowMicroseconds)
        }

        /// Whether a part with that end is delivered, chosen or not: when it failed, was abandoned or interrupted, timed
        /// out, or was slow.
        ///
        /// One that was canceled is not: somebody wanted it to end, as with one that succeeded.
        ///
        /// - Parameter microseconds: From its opening to its closing; nil: it was not closed.
        package func isKept(for outcome: TransactionOutcome, tookMicroseconds microseconds: Int64?) -> Bool {
            switch outcome {
            case .failed, .abandoned, .interrupted, .timedOut: true
            case .succeeded, .canceled: slowMicroseconds.map { (microseconds ?? 0) > $0 } ?? false
            case .open: false
            }
        }

        /// For how many transactions one stands, where others of its use case were not delivered; in millionths, so that
        /// sums are the same in any order.
        ///
        /// The reciprocal of the probability that it would be here with that end: what is kept for its end is here
        /// whether it was chosen or not, and stands for itself. What was neither chosen nor kept counts nothing; it
        /// is here only where somebody brought along what was never delivered.
        package func weight(for outcome: TransactionOutcome, tookMicroseconds microseconds: Int64?) -> Int64 {
            let million = Int64(Self.million)
            if isKept(for: outcome, tookMicroseconds: microseconds) { return million }
            return isChosen ? million * million / Int64(max(perMillion, Self.leastPerMillion)) : 0
        }
    }
}

/// In records as in facts: `sample_ppm`, `sample_kept` and `slow_us`.
extension Fact.Sampling: Codable {
    private enum CodingKeys: CodingKey { case samplePpm, sampleKept, slowMicroseconds }

    /// Reads what a record says of it.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            perMillion: try members.decode(Int.self, forKey: .samplePpm),
            isChosen: !(try members.decodeIfPresent(Bool.self, forKey: .sampleKept) ?? false),
            slowMicroseconds: try members.decodeIfPresent(Int64.self, forKey: .slowMicroseconds))
    }

    /// Writes it as a record has it.
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(perMillion, forKey: .samplePpm)
        if !isChosen { try members.encode(true, forKey: .sampleKept) }
        try members.encodeIfPresent(slowMicroseconds, forKey: .slowMicroseconds)
    }
}

extension GUID {
    /// Whether sampling chooses the transaction of this ID: the same in every process and language.
    ///
    /// By the last 64 bits, of which 62 are random in a UUID of version 7 or 4, through the mixing function of
    /// SplitMix64: so that whoever chooses a greater share has all that others have chosen.
    package func isChosen(perMillion: Int) -> Bool { samplingPlace < perMillion }

    /// Its place among a million, from 0.
    package var samplingPlace: Int { Int(low.splitMixed % UInt64(Fact.Sampling.million)) }
}

extension Fact.Sampling {
    /// The members of a fact that say it.
    struct Members {
        private var perMillion: Int?
        private var isKept = false
        private var slow: Int64?

        /// Reads a member; false where it is another one.
        mutating func read(_ key: JSONText, _ reader: inout JSONReader) throws(JSONFailure) -> Bool {
            switch key {
            case "sample_ppm": perMillion = try reader.integer(in: 0...Fact.Sampling.million)
            case "sample_kept": isKept = try reader.bool()
            case "slow_us": slow = try reader.count()
            default: return false
            }
            return true
        }

        func sampling(at start: Int) throws(JSONFailure) -> Fact.Sampling? {
            guard let perMillion, perMillion < Fact.Sampling.million || isKept else { return nil }
            guard isKept || perMillion >= Fact.Sampling.leastPerMillion else {
                throw JSONFailure(
                    .invalid, at: start,
                    "`sample_ppm` of a transaction that was chosen is not below \(Fact.Sampling.leastPerMillion)")
            }
            return Fact.Sampling(perMillion: perMillion, isChosen: !isKept, slowMicroseconds: slow)
        }
    }
}

extension JSONWriter {
    mutating func members(_ sampling: Fact.Sampling?) {
        guard let sampling else { return }
        member("sample_ppm", sampling.perMillion)
        member("sample_kept", !sampling.isChosen)
        member("slow_us", sampling.slowMicroseconds)
    }
}
