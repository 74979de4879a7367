extension Fact {
    package struct Sampling: Hashable, Sendable {
        /// The rate: chosen transactions per million.
        package var perMillion: Int
        /// A transaction that is not chosen is delivered only because of its outcome or duration.
        package var isChosen: Bool
        /// Longer transactions are slow; `nil` if slowness does not matter.
        package var slowMicroseconds: Int64?

        package init(perMillion: Int, isChosen: Bool, slowMicroseconds: Int64? = nil) {
            self.perMillion = perMillion
            self.isChosen = isChosen
            self.slowMicroseconds = slowMicroseconds
        }

        /// The lowest rate above 0: a transaction never represents more than 10,000.
        package static let leastPerMillion = 100
        package static let million = 1_000_000

        /// `nil` if all transactions are chosen. `root` is the ID of the root transaction.
        package init?(root: GUID, perMillion: Int, slowMicroseconds: Int64?) {
            guard perMillion < Self.million else { return nil }
            self.init(
                perMillion: perMillion, isChosen: root.isChosen(perMillion: perMillion),
                slowMicroseconds: slowMicroseconds)
        }

        /// Whether a part is delivered because of its end alone. `microseconds` is `nil` if it was not closed.
        package func isKept(for outcome: TransactionOutcome, tookMicroseconds microseconds: Int64?) -> Bool {
            switch outcome {
            case .failed, .abandoned, .interrupted, .timedOut: true
            case .succeeded, .cancelled: slowMicroseconds.map { (microseconds ?? 0) > $0 } ?? false
            case .open: false
            }
        }

        /// The number of transactions that this one represents, in millionths. A kept transaction represents itself,
        /// and a chosen one the reciprocal of the rate.
        package func weight(for outcome: TransactionOutcome, tookMicroseconds microseconds: Int64?) -> Int64 {
            let million = Int64(Self.million)
            if isKept(for: outcome, tookMicroseconds: microseconds) { return million }
            return isChosen ? million * million / Int64(max(perMillion, Self.leastPerMillion)) : 0
        }
    }
}

extension Fact.Sampling: Codable {
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: MemberKey.self)
        self.init(
            perMillion: try members.decode(Int.self, forKey: "samplePpm"),
            isChosen: !(try members.decodeIfPresent(Bool.self, forKey: "sampleKept") ?? false),
            slowMicroseconds: try members.decodeIfPresent(Int64.self, forKey: "slowMicroseconds"))
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: MemberKey.self)
        try members.encode(perMillion, forKey: "samplePpm")
        if !isChosen { try members.encode(true, forKey: "sampleKept") }
        try members.encodeIfPresent(slowMicroseconds, forKey: "slowMicroseconds")
    }
}

extension GUID {
    /// Whether sampling chooses the transaction with this ID; the same in every process and language. Mixes the last 64
    /// bits, 62 of them random in UUIDs of version 4 and 7. A higher rate includes all of a lower one.
    package func isChosen(perMillion: Int) -> Bool { samplingPlace < perMillion }

    package var samplingPlace: Int { Int(low.splitMixed % UInt64(Fact.Sampling.million)) }
}

extension Fact.Sampling {
    struct Members {
        private var perMillion: Int?
        private var isKept = false
        private var slow: Int64?

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
