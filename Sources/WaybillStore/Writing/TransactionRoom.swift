package import WaybillCore

/// How many facts each transaction still takes, so that a client that has learned the ID of one cannot make it grow
/// without end.
package struct TransactionRoom {
    /// Parts of a transaction: each one that comes has all others looked at.
    package static let partLimit = 1_000

    private let source: Int64
    private let limit: Int
    private let connection: Connection
    private var rooms: [Owner: Room] = [:]
    private var owners: [Int64: Owner] = [:]
    /// Parts of those transactions of which one was opened.
    private var partCounts: [GUID: Int] = [:]

    /// Whose room it is: a transaction's, or a part's of which the opening has not come.
    private enum Owner: Hashable {
        case transaction(GUID)
        case part(Int64)
    }

    private struct Room {
        var count: Int
        /// Otherwise it has at least this much.
        var isExact = false
        /// Of those that have taken room, what is written at the end of the batch only, and not to be found in a row
        /// before.
        var eventCount = 0
    }

    package init(source: Int64, limit: Int, _ connection: Connection) {
        self.source = source
        self.limit = limit
        self.connection = connection
    }

    /// At most how many facts a transaction has; counted one by one only where there may be too many.
    package func factCount(of transaction: GUID) throws(WaybillError) -> Int {
        let most = try mostFacts(of: .transaction(transaction))
        return most < limit ? most : try facts(of: .transaction(transaction))
    }

    /// Takes room for a fact; gives the reason where there is none.
    ///
    /// - Parameter writeOpenings: Called before rows are counted: the openings that were taken have theirs then.
    mutating func take(_ fact: Fact, writeOpenings: () throws(WaybillError) -> Void) throws(WaybillError) -> String? {
        if fact.part == 0 { return nil }  // outside any transaction
        let owner = try owner(of: fact)
        if case .opened = fact.content, case .transaction(let guid) = owner {
            let partCount: Int
            if let known = partCounts[guid] {
                partCount = known
            } else {
                partCount = try connection.integer(
                    "SELECT count(*) FROM (SELECT 1 FROM parts WHERE guid = ? LIMIT \(Self.partLimit))", guid)
            }
            guard partCount < Self.partLimit else {
                return "the transaction has \(Self.partLimit) parts, and takes no more"
            }
            partCounts[guid] = partCount + 1
        }
        var room: Room
        if let known = rooms[owner] { room = known } else { room = Room(count: limit - (try mostFacts(of: owner))) }
        defer { rooms[owner] = room }
        if room.count <= 0, !room.isExact {
            try writeOpenings()
            room.count = limit - (try facts(of: owner)) - room.eventCount
            room.isExact = true
        }
        guard room.count > 0 else { return "the transaction has \(limit) facts, and takes no more" }
        room.count -= 1
        switch fact.content {
        case .event, .attributesSet: room.eventCount += 1
        case .opened, .closed, .exchangeOpened, .exchangeClosed: break
        }
        return nil
    }

    private mutating func owner(of fact: Fact) throws(WaybillError) -> Owner {
        if case .opened(let content) = fact.content {
            owners[fact.part] = .transaction(content.transaction)
            return .transaction(content.transaction)
        }
        if let owner = owners[fact.part] { return owner }
        let guid = try connection.statement(
            "SELECT guid FROM parts WHERE source = ? AND sequence = ? AND guid IS NOT NULL"
        )
        .first(source, fact.part) { row in row.guid(0) }
        let owner = guid.map(Owner.transaction) ?? .part(fact.part)
        owners[fact.part] = owner
        return owner
    }

    /// As many as fit between the first sequence and the last of each part: seldom that many, and told without counting
    /// them.
    private func mostFacts(of owner: Owner) throws(WaybillError) -> Int {
        let span = "SELECT ifnull(sum(ifnull(last, sequence) - sequence + 1), 0) FROM parts"
        return switch owner {
        case .transaction(let guid): try connection.integer("\(span) WHERE guid = ?", guid)
        case .part(let part): try connection.integer("\(span) WHERE source = ? AND sequence = ?", source, part)
        }
    }

    /// The facts of all of its rows.
    private func facts(of owner: Owner) throws(WaybillError) -> Int {
        let count = """
            SELECT ifnull(sum((guid IS NOT NULL) + (closed IS NOT NULL) \
            + (SELECT count(*) FROM events e WHERE e.source = p.source AND e.part = p.sequence) \
            + (SELECT count(method) + count(closed) FROM network_logs n WHERE n.source = p.source AND n.part = p.sequence)), 0) FROM parts p
            """
        return switch owner {
        case .transaction(let guid): try connection.integer("\(count) WHERE p.guid = ?", guid)
        case .part(let part): try connection.integer("\(count) WHERE p.source = ? AND p.sequence = ?", source, part)
        }
    }
}
