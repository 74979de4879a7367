#if Collector
import WaybillCore
import WaybillReading

/// The sampling rates that the receipts of a project hand out: as they were set, with the codes of the use cases that
/// were named.
final class HandedRates: Sendable {
    /// So many codes of one name are told apart.
    private static let codeLimit = 4

    private let byCode: [Int?: Double]
    private let byName: [String: Double]
    /// What was called so in the store or since; nil: the store was not asked yet.
    private let codes = Locked<[String: Set<Int>]?>(nil)

    /// - Parameter rates: By code, by name, or for all others (`*`).
    init(_ rates: [String: Double]) throws(WaybillError) {
        guard rates.count <= Limits.samplingRates else {
            throw WaybillError(
                .setting, "There are \(rates.count) sampling rates; at most \(Limits.samplingRates) can be set.")
        }
        var (byCode, byName): ([Int?: Double], [String: Double]) = ([:], [:])
        for (name, rate) in rates {
            guard SamplingRate(useCase: nil, share: rate) != nil else {
                throw WaybillError(.setting, "The sampling rate of “\(name)”, \(rate), is not between 0 and 1.")
            }
            if name == "*" {
                byCode[Int?.none] = rate
            } else if let code = Int(name), (0...Limits.largestCode).contains(code) {
                byCode[code] = rate
            } else {
                byName[name] = rate
            }
        }
        (self.byCode, self.byName) = (byCode, byName)
    }

    /// What the receipt of a set hands out.
    func rates(after set: TransactionSet, _ receipt: Receipt, in store: any CollectedStore) async -> [SamplingRate] {
        var rates = byCode
        for (code, rate) in await named(after: set, receipt, in: store) where rates[code] == nil { rates[code] = rate }
        let sorted = rates.compactMap { SamplingRate(useCase: $0.key, share: $0.value) }
            .sorted { $0.useCase ?? -1 < $1.useCase ?? -1 }
        return Array(sorted.prefix(Limits.samplingRates))
    }

    private func named(after set: TransactionSet, _ receipt: Receipt, in store: any CollectedStore) async -> [Int:
        Double]
    {
        guard !byName.isEmpty else { return [:] }
        let refused = Set(receipt.refusedSources.map(\.source))
        learn(set.sources.filter { !refused.contains($0.source.id) }.flatMap(\.names), isWhole: false)
        if codes.withLock({ $0 == nil }) {
            let names = Array(byName.keys)
            // Where the store is too busy to say, the next set asks again.
            if let known = try? await store.names(including: names) {
                learn(known, isWhole: true)
            }
        }
        return codes.withLock { codes in
            var rates: [Int: Double] = [:]
            for (name, codes) in codes ?? [:] {
                guard var rate = byName[name] else { continue }
                if codes.count > 1 {
                    // Nobody can say which is meant, and anybody may give the name to another one: that keeps nothing
                    // from being delivered that would be without the name.
                    guard let other = byCode[Int?.none] else { continue }
                    rate = max(rate, other)
                }
                for code in codes { rates[code] = max(rates[code] ?? 0, rate) }
            }
            return rates
        }
    }

    /// - Parameter isWhole: Whether they are all that the store has.
    private func learn(_ names: [RecordedName], isWhole: Bool) {
        codes.withLock { codes in
            guard isWhole || codes != nil else { return }
            var known = codes ?? [:]
            for name in names where name.event == nil && byName[name.name] != nil {
                if known[name.name, default: []].count < Self.codeLimit {
                    known[name.name, default: []].insert(name.useCase)
                }
            }
            codes = known
        }
    }
}
#endif
