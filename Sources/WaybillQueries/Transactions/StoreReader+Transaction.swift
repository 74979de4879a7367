package import WaybillCore
package import WaybillStore

extension StoreReader {
    package func transaction(_ id: GUID, now wall: Int64, names: NameTable? = nil) throws(WaybillError)
        -> TransactionRecord?
    {
        try read { () throws(WaybillError) in
            let shares = try shares(of: id)
            guard let leader = shares.first, leader.isLeader,
                let summary = try summary(leader: leader.id.sequence, of: leader.row, now: wall)
            else { return nil }
            let lastActivity = try connection.integer("SELECT \(SQL.lastActivity(guid: "?1"))", id)
            let timeline = Timeline(shares: shares, names: names ?? NameTable(connection))
            var sources: [TransactionRecord.Source] = []
            for share in shares where !sources.contains(where: { $0.id == share.source.id }) {
                sources.append(share.source)
            }
            return TransactionRecord(
                summary: summary, sources: sources,
                parts: shares.map { $0.record(lastActivity: lastActivity, now: wall) },
                timeline: try timeline.entries(), exchanges: timeline.exchanges(),
                clocks: sources.count > 1 ? try clockAlignment(of: id) : nil,
                family: try family(of: summary, now: wall))
        }
    }

    private func shares(of transaction: GUID) throws(WaybillError) -> [PartShare] {
        let parts = try connection.statement(
            """
            SELECT p.source, p.sequence, p.listed_us IS NOT NULL, p.outcome, \(TransactionRecord.Source.columns) \
            FROM parts p JOIN sources s ON s.id = p.source WHERE p.guid = ?
            """
        ).rows(transaction) { row in
            (
                row: row.int(0) as Int64, sequence: row.int(1) as Int64, isLeader: row.bool(2),
                outcome: row.int(3) as Int,
                source: TransactionRecord.Source(row.dropFirst(4))
            )
        }
        var shares: [PartShare] = []
        for part in parts {
            let facts = PartFacts(try PartFacts.all(of: part.sequence, in: part.row, connection))
            guard let opened = facts.opened else { continue }
            shares.append(
                PartShare(
                    row: part.row, isLeader: part.isLeader, storedOutcome: part.outcome, source: part.source,
                    clock: try WallClock(of: part.row, connection), facts: facts, opened: opened))
        }
        try findCauses(of: shares, in: transaction)
        return shares.sorted(by: PartShare.precedes)
    }

    /// A part joined by W3C Trace Context alone knows only a span, which a later exchange may have.
    private func findCauses(of shares: [PartShare], in transaction: GUID) throws(WaybillError) {
        let waiting = shares.filter { $0.cause == nil && $0.toldCause != nil }
        guard !waiting.isEmpty else { return }
        let exchanges = try SpanCauses(connection).exchanges(of: transaction, Set(waiting.compactMap(\.toldCause)))
        for share in waiting { share.cause = share.toldCause.flatMap { exchanges[$0] } }
    }
}

extension TransactionRecord.Source {
    static let columns = "s.uuid, s.app, s.app_version, s.device, s.os, s.os_version, \(SQL.endedBy("s"))"

    init(_ row: Row) {
        self.init(
            id: row.guid(0), app: row.text(1), appVersion: row.text(2), device: row.text(3), os: row.text(4),
            osVersion: row.text(5), endedBy: row.sourceEnd(6))
    }
}

/// A class, because a copy for each fact takes longer than its entry.
final class PartShare {
    let row: Int64
    let id: FactID
    let isLeader: Bool
    let source: TransactionRecord.Source
    let clock: WallClock
    let facts: PartFacts
    let opened: PartFacts.Entry<Fact.Opened>
    var cause: FactID?
    private let storedOutcome: Int

    init(
        row: Int64, isLeader: Bool, storedOutcome: Int, source: TransactionRecord.Source, clock: WallClock,
        facts: PartFacts, opened: PartFacts.Entry<Fact.Opened>
    ) {
        (self.row, self.isLeader, self.storedOutcome, self.source) = (row, isLeader, storedOutcome, source)
        (self.clock, self.facts, self.opened, cause) = (clock, facts, opened, opened.content.cause)
        id = FactID(source: source.id, sequence: opened.sequence)
    }

    var toldCause: SpanID? { opened.content.traceParent?.parent }

    private var begun: Int64 { clock.wall(opened.atMicroseconds) }

    /// Both times use the clock anchor of the opening: the duration is right even if the wall clock was set meanwhile.
    func record(lastActivity: Int64, now wall: Int64) -> TransactionRecord.Part {
        let offset = clock.offset(at: opened.atMicroseconds)
        return TransactionRecord.Part(
            id: id, isJoined: opened.content.isJoined, cause: cause, openedMicroseconds: begun,
            closedMicroseconds: facts.closed.map { $0.atMicroseconds.adding(offset) },
            outcome: TransactionOutcome(
                stored: storedOutcome, lastActivity: lastActivity, timeout: opened.content.timeoutMicroseconds,
                now: wall),
            error: facts.closed?.content.error, attributes: facts.attributes)
    }

    static func precedes(_ left: PartShare, _ right: PartShare) -> Bool {
        guard left.isLeader == right.isLeader else { return left.isLeader }
        return (left.begun, left.id.source, left.id.sequence) < (right.begun, right.id.source, right.id.sequence)
    }
}

/// Parents come from outside: there may be cycles and trees of any size.
extension StoreReader {
    func family(of summary: TransactionSummary, now wall: Int64) throws(WaybillError) -> TransactionRecord.Family? {
        guard summary.parent != nil || summary.children != nil else { return nil }
        var met: Set<GUID> = [summary.id]
        var family = TransactionRecord.Family(above: [], below: [])
        var next = summary.parent
        while let id = next, met.insert(id).inserted, let leader = try leader(of: id),
            let above = try self.summary(leader: leader.id.sequence, of: leader.row, now: wall)
        {
            guard family.above.count < ParentWalk.limit else {
                family.isCut = true
                break
            }
            family.above.insert(above, at: 0)
            next = above.parent
        }
        var children: [GUID: [TransactionSummary]] = [:]
        var (level, count, depth) = ([summary.id], 0, 0)
        while !level.isEmpty {
            guard depth < ParentWalk.limit, count < ParentWalk.familyLimit else {
                family.isCut = true
                break
            }
            var found: [GUID] = []
            for parent in level {
                let room = ParentWalk.familyLimit - count
                let some = try self.children(of: parent, limit: room + 1, now: wall).filter {
                    met.insert($0.id).inserted
                }
                family.isCut = family.isCut || some.count > room
                children[parent] = Array(some.prefix(room))
                found += some.prefix(room).map(\.id)
                count += min(some.count, room)
            }
            (level, depth) = (found, depth + 1)
        }
        family.below = ParentWalk.inOrder(children, below: summary.id)
        return family.above.isEmpty && family.below.isEmpty ? nil : family
    }
}

package enum ParentWalk {
    package static let limit = 32
    package static let familyLimit = 500

    package static func inOrder(_ children: [GUID: [TransactionSummary]], below parent: GUID) -> [TransactionSummary] {
        (children[parent] ?? []).flatMap { [$0] + inOrder(children, below: $0.id) }
    }
}

package struct PartFacts {
    package let all: [Fact]
    package private(set) var opened: Entry<Fact.Opened>?
    package private(set) var closed: Entry<Fact.Closed>?
    package private(set) var attributes: Attributes = [:]
    package private(set) var exchanges: [Exchange] = []

    package typealias Exchange = (opened: Entry<Fact.ExchangeOpened>, closed: Entry<Fact.ExchangeClosed>?)

    package struct Entry<Content> {
        package let sequence, part, atMicroseconds: Int64
        package var content: Content

        package init(_ fact: Fact, _ content: Content) {
            (sequence, part, atMicroseconds, self.content) = (fact.sequence, fact.part, fact.atMicroseconds, content)
        }
    }

    /// - Parameter facts: Sorted by sequence.
    package init(_ facts: [Fact]) {
        all = facts
        var closings: [Int64: Entry<Fact.ExchangeClosed>] = [:]
        for fact in facts {
            switch fact.content {
            case .opened(let content): (opened, attributes) = (Entry(fact, content), content.attributes)
            case .attributesSet(let content): attributes.apply(content)
            case .closed(let content): closed = Entry(fact, content)
            case .exchangeOpened(let content): exchanges.append((Entry(fact, content), nil))
            case .exchangeClosed(let content): closings[content.exchange] = Entry(fact, content)
            case .event, .unknown: break
            }
        }
        for index in exchanges.indices { exchanges[index].closed = closings[exchanges[index].opened.sequence] }
    }

    package static func all(of part: Int64, in source: Int64, _ connection: Connection) throws(WaybillError) -> [Fact] {
        var facts: [Fact] = []
        for (sql, fact) in Self.queries {
            try connection.statement(sql).forEachRow(source, part) { row in facts.append(fact(row)) }
        }
        return facts.sorted { $0.sequence < $1.sequence }
    }

    private static let queries: [(String, @Sendable (Row) -> Fact)] = [
        (
            "SELECT \(FactRowReader.openedColumns) FROM parts p WHERE p.source = ? AND p.sequence = ? AND p.guid IS NOT NULL",
            FactRowReader.opened
        ),
        (
            "SELECT \(FactRowReader.closedColumns) FROM parts p WHERE p.source = ? AND p.sequence = ? AND p.closed IS NOT NULL",
            FactRowReader.closed
        ),
        ("SELECT \(FactRowReader.eventColumns) FROM events e WHERE e.source = ? AND e.part = ?", FactRowReader.event),
        (
            "SELECT \(FactRowReader.exchangeOpenedColumns) FROM exchanges l WHERE l.source = ? AND l.part = ? AND l.method IS NOT NULL",
            FactRowReader.exchangeOpened
        ),
        (
            "SELECT \(FactRowReader.exchangeClosedColumns) FROM exchanges l WHERE l.source = ? AND l.part = ? AND l.closed IS NOT NULL",
            FactRowReader.exchangeClosed
        ),
    ]
}

extension Fact.Opened {
    package var traceParent: TraceParent? {
        guard isJoined, case .string(let text)? = attributes[TraceParent.fieldName] else { return nil }
        return TraceParent(parsing: text)
    }
}

extension TransactionRecord.Exchange {
    /// All times use the clock anchor of the opening: durations are right even if the wall clock was set meanwhile.
    init(_ facts: PartFacts.Exchange, source: GUID, clock: WallClock) {
        let (opened, closed) = (facts.opened.content, facts.closed?.content)
        let offset = clock.offset(at: facts.opened.atMicroseconds)
        let wall = { (at: Int64) in at.adding(offset) }
        self.init(
            id: FactID(source: source, sequence: facts.opened.sequence), part: facts.opened.part, role: opened.role,
            method: opened.method, url: opened.url, state: closed?.state, status: closed?.status,
            openedMicroseconds: wall(facts.opened.atMicroseconds),
            firstByteMicroseconds: closed?.firstByteAtMicroseconds.map(wall),
            closedMicroseconds: facts.closed.map { wall($0.atMicroseconds) },
            sentByteCount: closed?.sentByteCount, receivedByteCount: closed?.receivedByteCount,
            requestHeaderFields: opened.headerFields, responseHeaderFields: closed?.headerFields ?? [],
            error: closed?.error, transfer: closed?.transfer.timed(by: wall) ?? Fact.Transfer())
    }
}

extension Fact.Transfer {
    package func timed(by clock: (Int64) -> Int64) -> Self {
        var transfer = self
        transfer.sentAtMicroseconds = sentAtMicroseconds.map(clock)
        for index in redirects.indices {
            transfer.redirects[index].atMicroseconds = clock(redirects[index].atMicroseconds)
        }
        transfer.webSocket = webSocket?.timed(by: clock)
        return transfer
    }
}
