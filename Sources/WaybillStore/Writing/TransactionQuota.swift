package import WaybillCore

/// The room that each transaction has left. A client that learns a transaction's ID can't grow it without end.
package struct TransactionQuota {
    /// Limits parts, because each new one reads all others.
    package static let partLimit = 1_000

    private let source: Int64
    private let limit: Int
    /// The room for the source that began the transaction, so others can't keep it from finishing.
    private let reserve: Int
    private let connection: Connection
    private var rooms: [Room] = []
    private var places: [Int64: Int] = [:]
    private var placesOfTransactions: [GUID: Int] = [:]

    private enum Owner {
        case transaction(GUID)
        case part(Int64)
    }

    private struct Room {
        let owner: Owner
        var count: Int
        /// `false` if the room may be larger.
        var isExact = false
        /// No row has these facts before the end of the batch.
        var eventCount = 0
        var partCount: Int
        /// `nil` until needed.
        var isBeginner: Bool?
    }

    package init(source: Int64, limit: Int, _ connection: Connection) {
        self.source = source
        self.limit = limit
        reserve = limit / 16
        self.connection = connection
    }

    /// Returns the limit for this source. Only near the limit, this must find out who began the transaction.
    package func limit(of transaction: GUID, having wanted: Int) throws(WaybillError) -> Int {
        guard reserve > 0, wanted > limit - reserve else { return limit }
        return try begins(.transaction(transaction)) ? limit : limit - reserve
    }

    /// Of several sources that claim to have begun a transaction, the first one heard counts.
    private func begins(_ owner: Owner) throws(WaybillError) -> Bool {
        guard case .transaction(let guid) = owner else { return true }
        let first: Int64 = try connection.integer(
            "SELECT ifnull(min(source), 0) FROM parts WHERE guid = ? AND joined = 0", guid)
        return first == source
    }

    package func mostFacts(of transaction: GUID) throws(WaybillError) -> Int {
        try size(of: .transaction(transaction)).mostFacts
    }

    package func facts(of transaction: GUID) throws(WaybillError) -> Int { try facts(of: .transaction(transaction)) }

    /// Returns a rejection if there is no room.
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
        case .event, .attributesSet, .unknown: rooms[place].eventCount += 1
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
            transaction = try PlacedParts(of: source, connection).part(fact.part)?.transaction
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

    /// Returns the number of parts, and an upper bound for the facts: the sequences between each part's first and last.
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

    private func facts(of owner: Owner) throws(WaybillError) -> Int {
        let count = """
            SELECT ifnull(sum((guid IS NOT NULL) + (closed IS NOT NULL) \
            + (SELECT count(*) FROM events e WHERE e.source = p.source AND e.part = p.sequence) \
            + (SELECT count(method) + count(closed) FROM exchanges n WHERE n.source = p.source AND n.part = p.sequence)), 0) FROM parts p
            """
        return switch owner {
        case .transaction(let guid): try connection.integer("\(count) WHERE p.guid = ?", guid)
        case .part(let part): try connection.integer("\(count) WHERE p.source = ? AND p.sequence = ?", source, part)
        }
    }
}
