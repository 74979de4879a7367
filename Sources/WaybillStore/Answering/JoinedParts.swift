import WaybillCore

/// The parts of transactions besides their leading ones: those of few transactions are looked up; of many it is faster to read all at once.
struct JoinedParts {
    /// A part of another source, or a further one of the same.
    struct Part: Equatable {
        var source: Int
        var sequence: Int
        var useCase: Int
    }

    /// Of a transaction, as places in ``known``.
    private struct Chain {
        var first: Int32
        var last: Int32
    }

    /// All that the store has, each with the place of the next one of its transaction; nil: they are looked up.
    private var known: [(part: Part, next: Int32)]?
    private var chains: [GUID: Chain] = [:]
    private let connection: Connection

    /// - Parameters:
    ///   - count: Of the transactions whose parts will be wanted.
    ///   - codes: Parts without such an event need not be found; nil: all parts are wanted.
    init(ofTransactions count: Int, with codes: [Int]?, _ connection: Connection) throws(WaybillError) {
        self.connection = connection
        guard count >= 2_000 else { return }
        var known: [(part: Part, next: Int32)] = []
        var events = try codes.map { codes throws(WaybillError) in
            try ForwardRows("SELECT part FROM events AS sought", key: ("source", "part"), only: ("code", codes), connection)
        }
        defer { events?.stop() }
        let statement = try connection.statement(
            "SELECT guid, source, sequence, use_case FROM parts WHERE guid IS NOT NULL AND listed_us IS NULL ORDER BY source, sequence")
        try statement.forEachRow { (row) throws(WaybillError) in
            let part = Part(source: row.int(1), sequence: row.int(2), useCase: row.int(3))
            if events != nil, try events?.row(from: part.source, part.sequence)?.int(0) != part.sequence { return }
            add(part, of: row.guid(0), to: &known)
        }
        self.known = known
    }

    private mutating func add(_ part: Part, of guid: GUID, to known: inout [(part: Part, next: Int32)]) {
        let place = Int32(known.count)
        known.append((part, -1))
        // One look-up finds the place and puts it back.
        func follow(_ chain: inout Chain) {
            if chain.last != place { known[Int(chain.last)].next = place }
            chain.last = place
        }
        follow(&chains[guid, default: Chain(first: place, last: place)])
    }

    /// Whether no transaction has any.
    var isEmpty: Bool { known?.isEmpty ?? false }

    /// Those of a transaction, by source and sequence.
    func parts(of guid: GUID) throws(WaybillError) -> [Part] {
        guard let known else {
            return try connection.statement(
                "SELECT source, sequence, use_case FROM parts WHERE guid = ? AND listed_us IS NULL ORDER BY source, sequence"
            ).rows(guid) { row in Part(source: row.int(0), sequence: row.int(1), useCase: row.int(2)) }
        }
        guard var place = chains[guid]?.first else { return [] }
        var parts: [Part] = []
        while place >= 0 {
            parts.append(known[Int(place)].part)
            place = known[Int(place)].next
        }
        return parts
    }
}
