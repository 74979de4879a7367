import WaybillCore
import WaybillStore

/// Puts the facts of several sources into one order.
struct Timeline {
    private let shares: [PartShare]
    private let names: NameTable

    init(_ shares: [PartShare], names: NameTable) {
        self.shares = shares
        self.names = names
    }

    /// Within a source by the clock that cannot be set, then by sequence; across sources by wall time as far as that
    /// allows; ties by source.
    func entries() throws(WaybillError) -> [TransactionRecord.Entry] {
        var places: [Place] = []
        let sources = Dictionary(grouping: shares, by: \.id.source)
        for (_, ofSource) in sources {
            var latest = Int64.min
            let facts = ofSource.map(Frame.init).flatMap { frame in frame.share.facts.map { (frame, $0) } }
                .sorted { ($0.1.atMicroseconds, $0.1.sequence) < ($1.1.atMicroseconds, $1.1.sequence) }
            for (frame, fact) in facts {
                // A wall clock that was set back must not turn the source's own order round.
                latest = max(latest, frame.share.clock.wall(fact.atMicroseconds))
                places.append(Place(time: latest, number: places.count, entry: try entry(for: fact, in: frame)))
            }
        }
        // Those of one source are in order already.
        if sources.count > 1 { places.sort(by: Place.precedes) }
        return places.map(\.entry)
    }

    /// By time of opening; those whose opening has not arrived are left out.
    func exchanges() -> [TransactionRecord.Exchange] {
        shares.flatMap(exchanges).sorted {
            ($0.openedMicroseconds, $0.id.source, $0.id.sequence) < (
                $1.openedMicroseconds, $1.id.source, $1.id.sequence
            )
        }
    }

    private struct Place {
        var time: Int64
        /// Greater than those of all before it of its source: times that tie do not turn the source's own order round.
        var number: Int
        var entry: TransactionRecord.Entry

        static func precedes(_ left: Place, _ right: Place) -> Bool {
            (left.time, left.entry.id.source, left.number) < (right.time, right.entry.id.source, right.number)
        }
    }

    /// What every fact of a part is seen against, found once for all of them; a class, since a copy for each fact takes
    /// longer than its entry.
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
            id: FactID(source: share.id.source, sequence: fact.sequence), kind: .opened, part: share.id.sequence,
            timeMicroseconds: share.clock.wall(fact.atMicroseconds), label: "",
            isLate: frame.closing.map { fact.sequence > $0 } ?? false)
        switch fact.content {
        case .opened(let content):
            entry.label = content.isJoined ? "joined" : "begun"
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
        case .closed(let content):
            entry.kind = .closed
            entry.label = content.outcome.name
            entry.error = content.error
            entry.attributes = content.attributes
        case .exchangeOpened(let content):
            entry.kind = .exchangeOpened
            entry.label = "\(content.method) \(content.path)"
            entry.exchange = entry.id
        case .exchangeClosed(let content):
            entry.kind = .exchangeClosed
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
