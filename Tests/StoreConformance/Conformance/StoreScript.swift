import Foundation
import TestSupport
import WaybillCore
import WaybillStore

/// The steps that a store goes through; the same for the same seed.
struct StoreScript {
    enum Step {
        case add(TransactionSet)
        case erase(ErasureScope)
        /// Retires facts that were received before that step, or all facts if the step is still to come.
        case retire(Int)
        /// Asks everything.
        case compare
    }

    private(set) var steps: [Step] = []
    /// Microseconds since 1970, shortly before or after open transactions time out.
    private let start: Int64
    private(set) var random: RandomNumbers

    /// When a step happens, in microseconds since 1970.
    func time(of step: Int) -> Int64 { start + Int64(step) * 1_000 }

    init(seed: Int) {
        var maker = HistoryMaker(seed: seed)
        maker.isSampling = true
        var histories = maker.histories()
        if maker.random.oneIn(2) {
            var mixer = NetworkMixer(random: maker.random)
            histories = mixer.mix(histories)
            maker.random = mixer.random
        }
        random = maker.random
        for index in histories.indices {
            if random.oneIn(3) { histories[index].source.installation = histories[0].source.installation }
            Self.drop(&histories[index], &random)
            Self.closeAgain(&histories[index], &random)
        }
        Self.tie(&histories, &random)
        let end = histories.flatMap { history in
            history.facts.map { $0.atMicroseconds + history.clocks[0].offsetMicroseconds }
        }.max()
        start = (end ?? HistoryMaker.wall) + 900_000 + Int64.random(in: 0...200_000, using: &random)
        var sets = SetMaker(random: random)
        steps = sets.sets(of: histories).map(Step.add)
        random = sets.random
        for _ in 0..<Int.random(in: 0...2, using: &random) { pretend() }
        // A set that never arrives is a gap.
        if steps.count > 2, random.oneIn(3) { steps.remove(at: Int.random(in: steps.indices, using: &random)) }
        for _ in 0..<Int.random(in: 0...2, using: &random) { insert(erasure(histories)) }
        if random.oneIn(2) { insert(.retire(Int.random(in: 0...steps.count, using: &random))) }
        if random.oneIn(2) { insert(.compare) }
        steps.append(.compare)
    }

    private mutating func insert(_ step: Step) {
        steps.insert(step, at: Int.random(in: 0...steps.count, using: &random))
    }

    /// Adds a set from an impostor, with a wrong secret or none, for a source or as another source of its installation.
    private mutating func pretend() {
        let sets = steps.compactMap { step -> TransactionSet? in if case .add(let set) = step { set } else { nil } }
        guard var set = sets.randomElement(using: &random) else { return }
        set.id = random.guid()
        for index in set.sources.indices {
            let proof = random.oneIn(2) ? IdentityProof("the secret of nobody at all, or of somebody else") : nil
            set.sources[index].sourceProof = proof
            if random.oneIn(2) { set.sources[index].installationProof = proof }
            if random.oneIn(3) { set.sources[index].source.id = random.guid() }
            if random.oneIn(2) { set.sources[index].hasEnded = true }
            if random.oneIn(2), let last = set.sources[index].facts.last?.sequence {
                set.sources[index].dropped.append(DroppedRange(first: 1, last: last, reason: .erased))
            }
        }
        insert(.add(set))
    }

    private mutating func erasure(_ histories: [SourceHistory]) -> Step {
        let transactions = histories.flatMap(\.facts).compactMap { fact -> GUID? in
            if case .opened(let opened) = fact.content { opened.transaction } else { nil }
        }
        let some = [transactions.randomElement(using: &random), random.guid()].compactMap(\.self)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .erase(.all)
        case 1, 2:
            return .erase(
                .begunBefore(Date(microseconds: HistoryMaker.wall + Int64.random(in: 0...100_000, using: &random))))
        case 3, 4:
            return .erase(
                .installation(
                    histories.compactMap(\.source.installation).randomElement(using: &random) ?? random.guid()))
        case 5: return .erase(.networkLogs)
        default: return .erase(.transactions(some))
        }
    }

    /// Drops some facts, for any reason.
    private static func drop(_ history: inout SourceHistory, _ random: inout RandomNumbers) {
        var next = 1
        while next <= history.facts.count, random.oneIn(2) {
            let first = Int.random(in: next...history.facts.count, using: &random)
            let last = min(history.facts.count, first + Int.random(in: 0...3, using: &random))
            history.dropped.append(
                DroppedRange(
                    first: Int64(first), last: Int64(last),
                    reason: Ledger.DropReason.allCases.randomElement(using: &random) ?? .age))
            next = last + 2
        }
    }

    /// Closes a part once more, which every store rejects.
    private static func closeAgain(_ history: inout SourceHistory, _ random: inout RandomNumbers) {
        guard random.oneIn(6), let last = history.facts.last else { return }
        let closed = history.facts.filter { if case .closed = $0.content { true } else { false } }
        guard let part = closed.randomElement(using: &random)?.part else { return }
        history.facts.append(
            Fact(
                sequence: last.sequence + 1, part: part, atMicroseconds: last.atMicroseconds,
                content: .closed(Fact.Closed(outcome: .cancelled))))
    }

    /// Makes exchanges of one source the causes of parts of others: their clocks can then be compared.
    private static func tie(_ histories: inout [SourceHistory], _ random: inout RandomNumbers) {
        let naive = NaiveAnswers(histories: histories, now: 0)
        for (source, history) in histories.enumerated() {
            for (index, fact) in history.facts.enumerated() {
                guard case .opened(var opened) = fact.content, opened.isJoined else { continue }
                let possible = naive.exchanges.filter {
                    $0.transaction == opened.transaction && $0.source != source && $0.opened.role == .client
                }
                guard let cause = possible.randomElement(using: &random) else { continue }
                opened.cause = cause.id
                histories[source].facts[index].content = .opened(opened)
            }
        }
    }
}
