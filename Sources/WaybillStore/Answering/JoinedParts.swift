import WaybillCore

/// The parts of transactions besides their leading ones: those of few transactions are looked up; of many it is faster to read all at once.
struct JoinedParts {
    /// A part of another source, or a further one of the same.
    struct Part: Equatable {
        var source: Int
        var sequence: Int
        var useCase: Int
    }

    /// All of the store, each with the place of the next one of its transaction; nil: they are looked up.
    private var known: [(part: Part, next: Int32)]?
    private var first: [GUID: Int32] = [:]
    private let connection: Connection

    /// - Parameter count: Of the transactions whose parts will be wanted.
    init(ofTransactions count: Int, _ connection: Connection) throws(WaybillError) {
        self.connection = connection
        guard count >= 2_000 else { return }
        var known: [(part: Part, next: Int32)] = []
        // Backwards, so that what is put in front of the others ends up in order.
        let statement = try connection.statement(
            """
            SELECT guid, source, sequence, use_case FROM parts WHERE guid IS NOT NULL AND listed_us IS NULL \
            ORDER BY source DESC, sequence DESC
            """)
        try statement.forEachRow { row in
            let guid = row.guid(0)
            known.append((Part(source: row.int(1), sequence: row.int(2), useCase: row.int(3)), first[guid] ?? -1))
            first[guid] = Int32(known.count - 1)
        }
        self.known = known
    }

    /// Those of a transaction, by source and sequence.
    func parts(of guid: GUID) throws(WaybillError) -> [Part] {
        guard let known else {
            return try connection.statement(
                "SELECT source, sequence, use_case FROM parts WHERE guid = ? AND listed_us IS NULL ORDER BY source, sequence"
            ).rows(guid) { row in Part(source: row.int(0), sequence: row.int(1), useCase: row.int(2)) }
        }
        guard var place = first[guid] else { return [] }
        var parts: [Part] = []
        while place >= 0 {
            parts.append(known[Int(place)].part)
            place = known[Int(place)].next
        }
        return parts
    }
}
