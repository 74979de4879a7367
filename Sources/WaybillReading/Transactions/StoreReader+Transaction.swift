package import WaybillCore
package import WaybillStore

/// One transaction, merged from all its sources.
extension StoreReader {
    /// Everything that is stored of a transaction; nil where there is nothing.
    ///
    /// - Parameters:
    ///   - wall: Now, in microseconds since 1970: decides what has timed out.
    ///   - names: Where several are read within one read of the store, the table for all of them.
    package func transaction(_ id: GUID, now wall: Int64, names: NameTable? = nil) throws(WaybillError)
        -> TransactionRecord?
    {
        try read { () throws(WaybillError) in
            let shares = try shares(of: id)
            guard let leader = shares.first(where: \.isLeader),
                let summary = try summary(leader: leader.id.sequence, of: leader.row, now: wall)
            else { return nil }
            let lastActivity = try connection.integer("SELECT \(SQL.lastActivity(guid: "?1"))", id)
            let sorted = shares.sorted(by: PartShare.precedes)
            let timeline = Timeline(sorted, names: names ?? NameTable(connection))
            var sources: [TransactionRecord.Source] = []
            for share in sorted where !sources.contains(where: { $0.id == share.source.id }) {
                sources.append(share.source)
            }
            return TransactionRecord(
                summary: summary, sources: sources,
                parts: sorted.map { $0.record(lastActivity: lastActivity, now: wall) },
                timeline: try timeline.entries(), exchanges: timeline.exchanges(),
                clocks: sources.count > 1 ? try clockAlignment(of: id) : nil,
                family: try family(of: summary, now: wall))
        }
    }

    private func shares(of transaction: GUID) throws(WaybillError) -> [PartShare] {
        var shares = try connection.statement(
            """
            SELECT p.source, p.sequence, p.listed_us IS NOT NULL, p.outcome, s.uuid, s.app, s.app_version, s.device, s.os, s.os_version, \
            \(SQL.endedBy("s")) \
            FROM parts p JOIN sources s ON s.id = p.source WHERE p.guid = ?
            """
        ).rows(transaction) { row in
            let source = TransactionRecord.Source(
                id: row.guid(4), app: row.text(5), appVersion: row.text(6), device: row.text(7), os: row.text(8),
                osVersion: row.text(9), endedBy: row.sourceEnd(10))
            return PartShare(
                row: row.int(0), id: Fact.ID(source: source.id, sequence: row.int(1)), isLeader: row.bool(2),
                storedOutcome: row.int(3),
                source: source)
        }
        for index in shares.indices {
            shares[index].clock = try WallClock(of: shares[index].row, connection)
            shares[index].facts = try PartFacts(connection: connection).facts(
                of: shares[index].id.sequence, in: shares[index].row)
        }
        try findCauses(of: &shares, in: transaction)
        return shares
    }

    /// What was joined by W3C Trace Context alone was told the span that asked, which a service may have sent since.
    private func findCauses(of shares: inout [PartShare], in transaction: GUID) throws(WaybillError) {
        let told = shares.map(\.toldCause)
        let wanted = Set(told.compactMap(\.self))
        guard !wanted.isEmpty else { return }
        let exchanges = try SpanCauses(connection).exchanges(of: transaction, wanted)
        for index in shares.indices { shares[index].foundCause = told[index].flatMap { exchanges[$0] } }
    }
}

/// One part of a transaction, with all that was recorded of it.
struct PartShare {
    /// The `sources.id` of its source.
    var row: Int64
    var id: Fact.ID
    var isLeader: Bool
    var storedOutcome: Int
    var source: TransactionRecord.Source
    var clock = WallClock([])
    /// In order of sequence.
    var facts: [Fact] = []
    /// The exchange that its request named as a span alone; nil: none, or none that is known.
    var foundCause: Fact.ID?

    /// The span that its request named, where that was all it named.
    var toldCause: SpanID? {
        guard let opened, opened.isJoined, opened.cause == nil,
            case .string(let text)? = opened.attributes[TraceParent.fieldName]
        else { return nil }
        return TraceParent(parsing: text)?.parent
    }

    var opened: Fact.Opened? {
        for fact in facts { if case .opened(let opened) = fact.content { return opened } }
        return nil
    }

    /// Those that count: of each name the latest value.
    private var attributes: Attributes {
        facts.reduce(into: [:]) { attributes, fact in
            switch fact.content {
            case .opened(let opened): attributes = opened.attributes
            case .attributesSet(let content): attributes.apply(content)
            case .event, .closed, .exchangeOpened, .exchangeClosed: break
            }
        }
    }

    private var openedAt: Int64 { facts.first { $0.sequence == id.sequence }?.atMicroseconds ?? 0 }
    var begun: Int64 { facts.isEmpty ? 0 : clock.wall(openedAt) }

    var closing: (fact: Fact, content: Fact.Closed)? {
        for fact in facts { if case .closed(let closed) = fact.content { return (fact, closed) } }
        return nil
    }

    /// Both times go by the clock anchor of the opening, so that the duration is that of the source's own clock, also
    /// where the wall clock was set meanwhile.
    func record(lastActivity: Int64, now wall: Int64) -> TransactionRecord.Part {
        let timeout = opened?.timeoutMicroseconds ?? 0
        let offset = clock.offset(at: openedAt)
        return TransactionRecord.Part(
            id: id, isJoined: opened?.isJoined ?? false, cause: opened?.cause ?? foundCause, openedMicroseconds: begun,
            closedMicroseconds: closing.map { $0.fact.atMicroseconds.adding(offset) },
            outcome: TransactionOutcome(stored: storedOutcome, lastActivity: lastActivity, timeout: timeout, now: wall),
            error: closing?.content.error,
            attributes: attributes)
    }

    /// The leader first, then by time; ties by (source, sequence).
    static func precedes(_ left: PartShare, _ right: PartShare) -> Bool {
        guard left.isLeader == right.isLeader else { return left.isLeader }
        return (left.begun, left.id.source, left.id.sequence) < (right.begun, right.id.source, right.id.sequence)
    }
}
