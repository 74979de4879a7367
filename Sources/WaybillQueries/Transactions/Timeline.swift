import WaybillCore
import WaybillStore

struct Timeline {
    let shares: [PartShare]
    let names: NameTable

    func entries() throws(WaybillError) -> [TransactionRecord.Entry] {
        var entries: [TransactionRecord.Entry] = []
        let sources = Dictionary(grouping: shares, by: \.id.source)
        for (_, ofSource) in sources {
            let facts = ofSource.flatMap { share in share.facts.all.map { (share, $0) } }
                .sorted { ($0.1.atMicroseconds, $0.1.sequence) < ($1.1.atMicroseconds, $1.1.sequence) }
            for (share, fact) in facts { entries.append(try entry(for: fact, in: share)) }
        }
        if sources.count > 1 { entries.putInOrder() }
        return entries
    }

    func exchanges() -> [TransactionRecord.Exchange] {
        let exchanges = shares.flatMap { share in
            share.facts.exchanges.map {
                TransactionRecord.Exchange($0, source: share.id.source, clock: share.clock)
            }
        }
        return exchanges.sorted(by: TransactionRecord.Exchange.precedes)
    }

    private func entry(for fact: Fact, in share: PartShare) throws(WaybillError) -> TransactionRecord.Entry {
        var entry = TransactionRecord.Entry(
            id: FactID(source: share.id.source, sequence: fact.sequence), kind: .begun, part: share.id.sequence,
            timeMicroseconds: share.clock.wall(fact.atMicroseconds), label: "",
            isLate: share.facts.closed.map { fact.sequence > $0.sequence } ?? false)
        switch fact.content {
        case .opened(let content):
            entry.kind = content.isJoined ? .joined : .begun
            entry.label = entry.kind.rawValue
            entry.attributes = content.attributes
        case .event(let content):
            entry.kind = .event
            entry.label = try names.event(
                content.code, of: share.opened.content.useCase, source: share.source.id, app: share.source.app,
                version: share.source.appVersion)
            entry.code = content.code
            entry.error = content.error
            entry.attributes = content.attributes
        case .attributesSet(let content):
            entry.kind = .attributesSet
            entry.label = content.label
            entry.attributes = content.attributes
        case .unknown(let content):
            entry.kind = .unknown
            entry.label = content.kind
        case .closed(let content):
            entry.kind = .finished
            entry.label = content.outcome.name
            entry.error = content.error
            entry.attributes = content.attributes
        case .exchangeOpened(let content):
            entry.kind = .exchangeBegun
            entry.label = "\(content.method) \(content.path)"
            entry.exchange = entry.id
        case .exchangeClosed(let content):
            entry.kind = .exchangeFinished
            entry.label = content.status.map { "\($0)" } ?? content.state.name
            entry.error = content.error
            entry.exchange = FactID(source: share.id.source, sequence: content.exchange)
        }
        return entry
    }
}
