package import WaybillCore
package import WaybillStore

extension StoreReader {
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
            let timeline = Timeline(shares: sorted, names: names ?? NameTable(connection))
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
            SELECT p.source, p.sequence, p.listed_us IS NOT NULL, p.outcome, \(TransactionRecord.Source.columns) \
            FROM parts p JOIN sources s ON s.id = p.source WHERE p.guid = ?
            """
        ).rows(transaction) { row in
            let source = TransactionRecord.Source(row.dropFirst(4))
            return PartShare(
                row: row.int(0), id: FactID(source: source.id, sequence: row.int(1)), isLeader: row.bool(2),
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

    /// A part joined by W3C Trace Context alone knows only a span, which a later exchange may have.
    private func findCauses(of shares: inout [PartShare], in transaction: GUID) throws(WaybillError) {
        let told = shares.map(\.toldCause)
        let wanted = Set(told.compactMap(\.self))
        guard !wanted.isEmpty else { return }
        let exchanges = try SpanCauses(connection).exchanges(of: transaction, wanted)
        for index in shares.indices { shares[index].foundCause = told[index].flatMap { exchanges[$0] } }
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

struct PartShare {
    var row: Int64
    var id: FactID
    var isLeader: Bool
    var storedOutcome: Int
    var source: TransactionRecord.Source
    var clock = WallClock([])
    var facts: [Fact] = []
    var foundCause: FactID?

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

    private var attributes: Attributes {
        facts.reduce(into: [:]) { attributes, fact in
            switch fact.content {
            case .opened(let opened): attributes = opened.attributes
            case .attributesSet(let content): attributes.apply(content)
            case .event, .closed, .exchangeOpened, .exchangeClosed, .unknown: break
            }
        }
    }

    private var openedAt: Int64 { facts.first { $0.sequence == id.sequence }?.atMicroseconds ?? 0 }
    var begun: Int64 { facts.isEmpty ? 0 : clock.wall(openedAt) }

    var closing: (fact: Fact, content: Fact.Closed)? {
        for fact in facts { if case .closed(let closed) = fact.content { return (fact, closed) } }
        return nil
    }

    /// Both times use the clock anchor of the opening: the duration is right even if the wall clock was set meanwhile.
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
        while let id = next, met.insert(id).inserted, let above = try self.summary(of: id, now: wall) {
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

    private func summary(of transaction: GUID, now wall: Int64) throws(WaybillError) -> TransactionSummary? {
        let leader = try connection.statement(
            "SELECT p.source, p.sequence FROM parts p WHERE p.guid = ? AND p.listed_us IS NOT NULL"
        ).first(transaction) { row in (source: row.int(0), sequence: row.int(1)) }
        guard let leader else { return nil }
        return try summary(leader: leader.sequence, of: leader.source, now: wall)
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
    let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    package func facts(of part: Int64, in source: Int64) throws(WaybillError) -> [Fact] {
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
