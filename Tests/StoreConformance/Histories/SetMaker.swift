package import TestSupport
package import WaybillCore

/// Cuts histories into sets as deliveries could: of any length, overlapping, repeated, in any order of arrival.
package struct SetMaker {
    package var random: RandomNumbers

    package init(random: RandomNumbers) { self.random = random }

    package mutating func sets(of histories: [SourceHistory]) -> [TransactionSet] {
        var shares = histories.flatMap { history in self.shares(of: history) }
        for share in shares where random.oneIn(5) { shares.append(share) }
        shares.shuffle(using: &random)
        var sets: [TransactionSet] = []
        while !shares.isEmpty {
            var taken: [TransactionSet.Share] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                // A source has one share in a set.
                guard let next = shares.last, !taken.contains(where: { $0.source.id == next.source.id }) else { break }
                taken.append(shares.removeLast())
            }
            sets.append(TransactionSet(id: random.guid(), sources: taken))
        }
        return sets
    }

    private mutating func shares(of history: SourceHistory) -> [TransactionSet.Share] {
        var shares: [TransactionSet.Share] = []
        var next = 0
        while next < history.facts.count {
            let first = max(0, next - (random.oneIn(3) ? Int.random(in: 0...5, using: &random) : 0))
            let end = min(history.facts.count, next + Int.random(in: 1...12, using: &random))
            shares.append(share(of: history, facts: first..<end))
            next = end
        }
        // The last share has no facts.
        shares.append(share(of: history, facts: history.facts.count..<history.facts.count))
        return shares
    }

    /// The share of these facts that a source would have sent after recording them.
    private mutating func share(of history: SourceHistory, facts: Range<Int>) -> TransactionSet.Share {
        let isLast = facts.upperBound == history.facts.count
        // An anchor may be written after facts that it applies to.
        let clockCount = isLast ? history.clocks.count : Int.random(in: 1...history.clocks.count, using: &random)
        let sent = Set(history.sentFacts.map(\.sequence))
        var share = TransactionSet.Share(
            source: history.source, clocks: Array(history.clocks.prefix(clockCount)),
            hasEnded: isLast && history.hasEnded, endedBy: isLast ? history.endedBy : nil, names: history.names,
            ledger: Ledger(recorded: Int64(facts.upperBound), refused: isLast ? history.refused : 0),
            dropped: history.dropped.filter { $0.last <= facts.upperBound },
            facts: history.facts[facts].filter { sent.contains($0.sequence) },
            sourceProof: IdentityProof("the secret of source \(history.source.id)"),
            installationProof: history.source.installation.flatMap { IdentityProof("the secret of installation \($0)") }
        )
        // Senders before 1.5 name no continued parts.
        if facts.lowerBound.isMultiple(of: 2) {
            share.continuedParts = share.earlierParts.compactMap(history.continuedPart)
        }
        return share
    }
}

extension SourceHistory {
    fileprivate func continuedPart(_ part: Int64) -> ContinuedPart? {
        guard case .opened(let opened) = facts.first(where: { $0.sequence == part })?.content else { return nil }
        return ContinuedPart(part: part, transaction: opened.transaction, useCase: opened.useCase)
    }
}
