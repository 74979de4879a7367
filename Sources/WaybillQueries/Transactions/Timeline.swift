import WaybillCore
import WaybillStore

struct Timeline {
    let shares: [PartShare]
    let names: NameTable

    func entries() throws(WaybillError) -> [TransactionRecord.Entry] {
        var entries: [TransactionRecord.Entry] = []
        let sources = Dictionary(grouping: shares, by: \.id.source)
        for (_, ofSource) in sources {
            let facts = ofSource.map(Frame.init).flatMap { frame in frame.share.facts.map { (frame, $0) } }
                .sorted { ($0.1.atMicroseconds, $0.1.sequence) < ($1.1.atMicroseconds, $1.1.sequence) }
            for (frame, fact) in facts { entries.append(try entry(for: fact, in: frame)) }
        }
        if sources.count > 1 { entries.putInOrder() }
        return entries
    }

    func exchanges() -> [TransactionRecord.Exchange] {
        shares.flatMap(exchanges).sorted(by: TransactionRecord.Exchange.precedes)
    }

    /// The context of a part's facts. It is a class, because a copy per fact takes longer than its entry.
    private final class Frame {
        let share: PartShare
        let useCase: Int
        let closing: Int64?

        init(_ share: PartShare) {
            self.share = share
            useCase = share.opened?.useCase ?? -1
            closing = share.closing?.fact.sequence
        }
    }

    private func entry(for fact: Fact, in frame: Frame) throws(WaybillError) -> TransactionRecord.Entry {
        let share = frame.share
        var entry = TransactionRecord.Entry(
            id: FactID(source: share.id.source, sequence: fact.sequence), kind: .begun, part: share.id.sequence,
            timeMicroseconds: share.clock.wall(fact.atMicroseconds), label: "",
            isLate: frame.closing.map { fact.sequence > $0 } ?? false)
        switch fact.content {
        case .opened(let content):
            entry.kind = content.isJoined ? .joined : .begun
            entry.label = entry.kind.rawValue
            entry.attributes = content.attributes
        case .event(let content):
            entry.kind = .event
            entry.label = try names.event(
                content.code, of: frame.useCase, source: share.source.id, app: share.source.app,
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

    private func exchanges(of share: PartShare) -> [TransactionRecord.Exchange] {
        var closings: [Int64: Fact] = [:]
        for fact in share.facts {
            if case .exchangeClosed(let content) = fact.content { closings[content.exchange] = fact }
        }
        return share.facts.compactMap { fact in
            TransactionRecord.Exchange(
                fact, closed: closings[fact.sequence], source: share.id.source, clock: share.clock)
        }
    }
}
