package import WaybillCore

/// How many facts each transaction still takes, so that a client that has learned the ID of one cannot make it grow
/// without end.
package struct TransactionQuota {
    /// Parts of a transaction: each one that comes has all others looked at.
    package static let partLimit = 1_000

    private let source: Int64
    private let limit: Int
    /// Facts that only the source which began the transaction may still add: nobody who knows its ID can keep it from
    /// being finished.
    private let reserve: Int
    private let connection: Connection
    private var rooms: [Room] = []
    /// Where each part's is among them, and each transaction's.
    private var places: [Int64: Int] = [:]
    private var placesOfTransactions: [GUID: Int] = [:]

    /// Whose room it is: a transaction's, or a part's of which the opening has not come.
    private enum Owner {
        case transaction(GUID)
        case part(Int64)
    }

    private struct Room {
        let owner: Owner
        var count: Int
        /// Otherwise it has at least this much.
        var isExact = false
        /// Of those that have taken room, what is written at the end of the batch only, and not to be found in a row
        /// before.
        var eventCount = 0
        /// How many parts it has.
        var partCount: Int
        /// Whether this source began the transaction; nil while nobody had to know.
        var isBeginner: Bool?
    }

    package init(source: Int64, limit: Int, _ connection: Connection) {
        self.source = source
        self.limit = limit
        reserve = limit / 16
        self.connection = connection
    }

    /// How many facts a transaction may have with those that this source adds.
    ///
    /// - Parameter wanted: As many as it would have: only near the limit somebody has to look who began it.
    package func limit(of transaction: GUID, having wanted: Int) throws(WaybillError) -> Int {
        guard reserve > 0, wanted > limit - reserve else { return limit }
        return try begins(.transaction(transaction)) ? limit : limit - reserve
    }

    /// Whether this source began a transaction: of several that say so, the one that was heard of first. What belongs to
    /// no transaction yet has no other source.
    private func begins(_ owner: Owner) throws(WaybillError) -> Bool {
        guard case .transaction(let guid) = owner else { return true }
        let first: Int64 = try connection.integer(
            "SELECT ifnull(min(source), 0) FROM parts WHERE guid = ? AND joined = 0", guid)
        return first == source
    }

    /// At most how many facts a transaction has, without counting them one by one.
    package func mostFacts(of transaction: GUID) throws(WaybillError) -> Int {
        try size(of: .transaction(transaction)).mostFacts
    }

    /// How many facts a transaction has, counted one by one.
    package func facts(of transaction: GUID) throws(WaybillError) -> Int { try facts(of: .transaction(transaction)) }

    /// Takes room for a fact; gives the reason where there is none.
    ///
    /// - Parameter writeOpenings: Called before rows are counted: the openings that were taken have theirs then.
    mutating func take(_ fact: Fact, writeOpenings: () throws(WaybillError) -> Void) throws(WaybillError) -> String? {
        if fact.part == 0 { return nil }  // outside any transaction
        let place = try place(of: fact)
        if case .opened = fact.content, let reason = try takePart(of: place) { return reason }
        if rooms[place].count <= reserve {
            if !rooms[place].isExact {
                try writeOpenings()
                rooms[place].count = limit - (try facts(of: rooms[place].owner)) - rooms[place].eventCount
                rooms[place].isExact = true
            }
            if rooms[place].isBeginner == nil { rooms[place].isBeginner = try begins(rooms[place].owner) }
            let isBeginner = rooms[place].isBeginner == true
            guard rooms[place].count > (isBeginner ? 0 : reserve) else {
                return "the transaction has \(limit - max(0, rooms[place].count)) facts, and takes no more"
                    + (rooms[place].count > 0 ? " of this source" : "")
            }
        }
        rooms[place].count -= 1
        switch fact.content {
        case .event, .attributesSet: rooms[place].eventCount += 1
        case .opened, .closed, .exchangeOpened, .exchangeClosed: break
        }
        return nil
    }

    private mutating func takePart(of place: Int) throws(WaybillError) -> String? {
        guard case .transaction = rooms[place].owner else { return nil }
        guard rooms[place].partCount < Self.partLimit else {
            return "the transaction has \(Self.partLimit) parts, and takes no more"
        }
        rooms[place].partCount += 1
        return nil
    }

    private mutating func place(of fact: Fact) throws(WaybillError) -> Int {
        var transaction: GUID?
        if case .opened(let content) = fact.content {
            transaction = content.transaction
        } else if let place = places[fact.part] {
            return place
        } else {
            transaction = try connection.statement(
                "SELECT guid FROM parts WHERE source = ? AND sequence = ? AND guid IS NOT NULL"
            ).first(source, fact.part) { row in row.guid(0) }
        }
        let place: Int
        if let transaction, let known = placesOfTransactions[transaction] {
            place = known
        } else {
            let owner = transaction.map(Owner.transaction) ?? .part(fact.part)
            place = rooms.count
            let (mostFacts, parts) = try size(of: owner)
            rooms.append(Room(owner: owner, count: limit - mostFacts, partCount: parts))
            if let transaction { placesOfTransactions[transaction] = place }
        }
        places[fact.part] = place
        return place
    }

    /// How many parts it has, and as many facts as fit between the first sequence and the last of each: seldom that
    /// many, and told without counting them.
    private func size(of owner: Owner) throws(WaybillError) -> (mostFacts: Int, parts: Int) {
        let size = "SELECT ifnull(sum(ifnull(last, sequence) - sequence + 1), 0), count(*) FROM parts"
        let told: (mostFacts: Int, parts: Int)? =
            switch owner {
            case .transaction(let guid):
                try connection.statement("\(size) WHERE guid = ?").first(guid) { row in (row.int(0), row.int(1)) }
            case .part(let part):
                try connection.statement("\(size) WHERE source = ? AND sequence = ?").first(source, part) { row in
                    (row.int(0), row.int(1))
                }
            }
        return told ?? (0, 0)
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
