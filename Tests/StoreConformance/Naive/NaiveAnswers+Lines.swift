import WaybillCore
import WaybillExport
import WaybillStore

extension NaiveAnswers {
    /// The chosen facts that are stored, as lines of an export, in order of source, part and sequence.
    func lines(of chosen: Set<FactID>) throws(WaybillError) -> [UInt8] {
        var found: [(source: ScannedSource, part: ScannedPart, fact: Fact, opening: Fact?)] = []
        for (number, history) in histories.enumerated() {
            let source = ScannedSource(
                share: ScannedShare(row: Int64(number)), source: history.source, clock: WallClock(history.clocks),
                hasEnded: history.hasEnded, endedBy: history.endedBy)
            for fact in facts[number].sorted(by: { ($0.part, $0.sequence) < ($1.part, $1.sequence) })
            where chosen.contains(FactID(source: history.source.id, sequence: fact.sequence)) {
                let opening = facts[number].first { $0.sequence == fact.part }
                var part = ScannedPart(sequence: fact.part, opened: opening, closed: nil, useCaseName: nil)
                if case .opened(let opened) = opening?.content {
                    part.useCaseName = useCaseName(opened.useCase, number)
                }
                found.append((source, part, fact, self.opening(of: fact, among: facts[number])))
            }
        }
        return try TextFormat.ndjson(found) { code, useCase, source in
            eventName(code, of: useCase, histories.firstIndex { $0.source.id == source.id } ?? 0)
        }
    }

    private func opening(of fact: Fact, among facts: [Fact]) -> Fact? {
        switch fact.content {
        case .closed: facts.first { $0.sequence == fact.part }
        case .exchangeClosed(let closed): facts.first { $0.sequence == closed.exchange }
        case .opened, .event, .attributesSet, .exchangeOpened, .unknown: nil
        }
    }

    /// The number of errors in each transaction that has any.
    func errorCounts(of transactions: [GUID]) -> [GUID: Int] {
        var counts: [GUID: Int] = [:]
        for run in runs where transactions.contains(run.id) {
            counts[run.id] = run.parts.flatMap(\.facts).count { fact in
                switch fact.content {
                case .event(let event): event.error != nil
                case .exchangeClosed(let closed): closed.state == .failed || closed.status ?? 0 >= 400
                case .opened, .attributesSet, .closed, .exchangeOpened, .unknown: false
                }
            }
        }
        return counts.filter { $0.value > 0 }
    }
}
