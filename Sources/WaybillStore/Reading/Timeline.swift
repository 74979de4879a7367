import WaybillCore

/// Puts the facts of several sources into one order.
struct Timeline {
    private let shares: [PartShare]
    private let names: NameTable

    init(_ shares: [PartShare], names: NameTable) {
        self.shares = shares
        self.names = names
    }

    /// By sequence within a source, always; across sources by wall time as far as that allows; ties by (source, sequence).
    func entries() throws(WaybillError) -> [TransactionRecord.Entry] {
        var places: [Place] = []
        for (_, ofSource) in Dictionary(grouping: shares, by: \.id.source) {
            var latest = Int.min
            let facts = ofSource.flatMap { share in share.facts.map { (share, $0) } }.sorted { $0.1.sequence < $1.1.sequence }
            for (share, fact) in facts {
                // A wall clock that was set back must not turn the source's own order round.
                latest = max(latest, share.clock.wall(fact.atMicroseconds))
                places.append(Place(time: latest, entry: try entry(for: fact, in: share)))
            }
        }
        return places.sorted(by: Place.precedes).map(\.entry)
    }

    /// By time of opening; those whose opening has not arrived are left out.
    func exchanges() -> [TransactionRecord.Exchange] {
        shares.flatMap(exchanges).sorted {
            ($0.openedMicroseconds, $0.id.source, $0.id.sequence) < ($1.openedMicroseconds, $1.id.source, $1.id.sequence)
        }
    }

    private struct Place {
        var time: Int
        var entry: TransactionRecord.Entry

        static func precedes(_ left: Place, _ right: Place) -> Bool {
            (left.time, left.entry.id.source, left.entry.id.sequence) < (right.time, right.entry.id.source, right.entry.id.sequence)
        }
    }

    private func entry(for fact: Fact, in share: PartShare) throws(WaybillError) -> TransactionRecord.Entry {
        var entry = TransactionRecord.Entry(
            id: Fact.ID(source: share.id.source, sequence: fact.sequence), kind: .opened, part: share.id.sequence,
            timeMicroseconds: share.clock.wall(fact.atMicroseconds), label: "",
            isLate: share.closing.map { fact.sequence > $0.fact.sequence } ?? false)
        switch fact.content {
        case .opened(let content):
            entry.label = content.isJoined ? "joined" : "begun"
            entry.attributes = content.attributes
        case .event(let content):
            entry.kind = .event
            entry.label = try names.event(content.code, of: share.opened?.useCase ?? -1, in: share.source)
            entry.code = content.code
            entry.error = content.error
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
            entry.exchange = Fact.ID(source: share.id.source, sequence: content.exchange)
        }
        return entry
    }

    private func exchanges(of share: PartShare) -> [TransactionRecord.Exchange] {
        var closings: [Int: (Fact, Fact.ExchangeClosed)] = [:]
        for fact in share.facts { if case .exchangeClosed(let content) = fact.content { closings[content.exchange] = (fact, content) } }
        return share.facts.compactMap { fact in
            guard case .exchangeOpened(let opened) = fact.content else { return nil }
            let closing = closings[fact.sequence]
            return TransactionRecord.Exchange(
                id: Fact.ID(source: share.id.source, sequence: fact.sequence), part: share.id.sequence, role: opened.role,
                method: opened.method,
                url: opened.url, state: closing?.1.state, status: closing?.1.status,
                openedMicroseconds: share.clock.wall(fact.atMicroseconds),
                firstByteMicroseconds: closing?.1.firstByteAtMicroseconds.map(share.clock.wall),
                closedMicroseconds: closing.map { share.clock.wall($0.0.atMicroseconds) }, sentByteCount: closing?.1.sentByteCount,
                receivedByteCount: closing?.1.receivedByteCount, requestHeaderFields: opened.headerFields,
                responseHeaderFields: closing?.1.headerFields ?? [], error: closing?.1.error,
                transfer: closing?.1.transfer.timed(by: share.clock.wall) ?? Fact.Transfer())
        }
    }
}

extension Fact.Transfer {
    /// The same with times of another clock.
    func timed(by clock: (Int) -> Int) -> Self {
        var transfer = self
        transfer.sentAtMicroseconds = sentAtMicroseconds.map(clock)
        for index in redirects.indices { transfer.redirects[index].atMicroseconds = clock(redirects[index].atMicroseconds) }
        return transfer
    }
}
