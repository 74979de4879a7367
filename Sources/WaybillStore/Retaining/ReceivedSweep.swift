package import WaybillCore

/// One retention step for received data. It deletes the oldest transactions without recent facts, and exchanges outside
/// of one.
struct ReceivedSweep {
    private let connection: Connection
    private let cutoff: Int64
    private let budget: Int
    private let transactionLimit: Int?
    private let retired: RangeTable
    private var fresh: [Int64: SequenceRanges] = [:]

    /// `budget` is approximate; `transactions` limits transactions and spares everything else.
    init(_ connection: Connection, before cutoff: Int64, budget: Int, transactions: Int? = nil) throws(WaybillError) {
        self.connection = connection
        self.cutoff = cutoff
        self.budget = budget
        transactionLimit = transactions
        retired = .retired(connection)
        try connection.statement("SELECT source, first, last FROM arrivals WHERE received_us >= ?").forEachRow(cutoff) {
            row in
            fresh[row.int(0), default: SequenceRanges()].insert(row.range(1))
        }
    }

    func run() throws(WaybillError) -> Int {
        let (old, roots) = try find()
        var eraser = FactEraser(connection, because: nil)
        for (id, sequences) in roots {
            guard let source = try connection.sourceRow(id) else { continue }
            try eraser.erase(SequenceRanges(each: sequences), of: source)
        }
        try eraser.finish()
        if transactionLimit == nil { try LegacyQuarantine(connection: connection).erase(before: cutoff) }
        for arrival in old
        where SequenceRanges([arrival.range]).subtracting(
            try retired.sequences(of: arrival.source, meeting: SequenceRanges([arrival.range]))
        ).isEmpty {
            try connection.statement("DELETE FROM arrivals WHERE id = ?").run(arrival.id)
        }
        return eraser.count
    }

    private typealias Arrived = (id: Int64, source: Int64, range: ClosedRange<Int64>)

    private struct Root {
        var source: Int64
        var sequence: Int64
        var last: Int64
        var isOwn: Bool
        var transaction: GUID?
    }

    private func find() throws(WaybillError) -> ([Arrived], [Int64: Set<Int64>]) {
        var old: [Arrived] = []
        var roots: [Int64: Set<Int64>] = [:]
        var count: Int64 = 0
        var transactions: Set<GUID> = []
        try connection.statement(
            """
            SELECT a.id, a.source, a.first, a.last FROM arrivals a JOIN sources s ON s.id = a.source \
            WHERE a.received_us < ? AND s.heard_us IS NOT NULL ORDER BY a.id
            """
        ).forRows(cutoff) { row throws(WaybillError) in
            let arrived: Arrived = (row.int(0), row.int(1), row.range(2))
            old.append(arrived)
            for unit in try units(openedIn: arrived) {
                if let transactionLimit {
                    guard let transaction = unit.first?.transaction, !transactions.contains(transaction) else {
                        continue
                    }
                    guard transactions.count < transactionLimit else { return false }
                }
                guard try isOld(unit) else { continue }
                if let transaction = unit.first?.transaction { transactions.insert(transaction) }
                for root in unit where roots[root.source, default: []].insert(root.sequence).inserted {
                    count += root.last - root.sequence + 1
                }
            }
            return count < budget
        }
        return (old, roots)
    }

    /// Returns transactions with all parts, parts of unknown transactions, and exchanges outside of one.
    private func units(openedIn arrived: Arrived) throws(WaybillError) -> [[Root]] {
        let (source, first, last) = (arrived.source, arrived.range.lowerBound, arrived.range.upperBound)
        var units: [[Root]] = []
        let parts = try connection.statement(
            "SELECT guid, sequence, last FROM parts WHERE source = ? AND sequence BETWEEN ? AND ? AND sequence > 0"
        ).rows(source, first, last) { row in
            (
                guid: row.optionalGUID(0),
                root: Root(source: source, sequence: row.int(1), last: row.int(2), isOwn: false)
            )
        }
        for part in parts {
            units.append(try part.guid.map { guid throws(WaybillError) in try self.parts(of: guid) } ?? [part.root])
        }
        units += try connection.statement(
            "SELECT sequence, ifnull(closed, sequence) FROM exchanges WHERE source = ? AND part = 0 AND sequence BETWEEN ? AND ?"
        ).rows(source, first, last) { row in
            [Root(source: source, sequence: row.int(0), last: row.int(1), isOwn: false)]
        }
        return units
    }

    private func parts(of transaction: GUID) throws(WaybillError) -> [Root] {
        try connection.statement(
            "SELECT p.source, p.sequence, p.last, s.heard_us IS NULL FROM parts p JOIN sources s ON s.id = p.source WHERE p.guid = ?"
        ).rows(transaction) { row in
            Root(
                source: row.int(0), sequence: row.int(1), last: row.int(2), isOwn: row.bool(3), transaction: transaction
            )
        }
    }

    private func isOld(_ unit: [Root]) throws(WaybillError) -> Bool {
        for root in unit { if try !isOld(root) { return false } }
        return true
    }

    private func isOld(_ root: Root) throws(WaybillError) -> Bool {
        guard !root.isOwn else { return false }
        guard let fresh = fresh[root.source], fresh.meets(root.sequence...max(root.sequence, root.last)) else {
            return true
        }
        // Recent facts in the range may belong to other parts.
        var isOld = true
        try connection.statement(Self.facts).forRows(root.source, root.sequence) { row throws(WaybillError) in
            isOld = !fresh.contains(row.int(0))
            return isOld
        }
        return isOld
    }

    private static let facts = """
        SELECT sequence FROM events WHERE source = ?1 AND part = ?2 \
        UNION ALL SELECT ?2 \
        UNION ALL SELECT closed FROM parts WHERE source = ?1 AND sequence = ?2 AND closed IS NOT NULL \
        UNION ALL SELECT sequence FROM exchanges WHERE source = ?1 AND part = ?2 AND method IS NOT NULL \
        UNION ALL SELECT closed FROM exchanges WHERE source = ?1 AND (part = ?2 OR (part = 0 AND sequence = ?2)) AND closed IS NOT NULL
        """
}

/// Deleted facts are booked as retired, to recognize them when they arrive again. Their ledger stays.
extension Store {
    /// Limits the facts of one step, so sets don't wait long.
    private static let retirementBudget = 20_000

    /// Takes one step to delete transactions without facts since `cutoff`; returns the number of facts.
    package func retire(receivedBefore cutoff: Int64, budget: Int = retirementBudget) throws(WaybillError) -> Int {
        try write { () throws(WaybillError) in
            let count = try sweep(before: cutoff, budget: budget)
            if count == 0 {
                try connection.removeUnusedNames(heardBefore: cutoff)
                nameCount = nil
            }
            return count
        }
    }

    /// Takes one step to delete the transactions that arrived first, if rows, indexes and the WAL exceed `byteCount`;
    /// returns the number of facts.
    package func retire(beyond byteCount: Int64, budget: Int = retirementBudget) throws(WaybillError) -> Int {
        guard let limit = try rowByteLimit(within: byteCount) else { return 0 }
        return try write { () throws(WaybillError) in
            guard try connection.usedByteCount() > limit else { return 0 }
            return try sweepFirst(budget: budget)
        }
    }

    /// Takes one step to delete the transactions that arrived first, if there are too many; returns the number of
    /// facts.
    package func retire(beyondTransactions transactionCount: Int, budget: Int = retirementBudget) throws(WaybillError)
        -> Int
    {
        let excess =
            try connection.integer(
                """
                SELECT count(*) FROM parts WHERE listed_us IS NOT NULL \
                AND source IN (SELECT id FROM sources WHERE heard_us IS NOT NULL)
                """) - transactionCount
        return excess > 0 ? try retireFirst(excess, budget: budget) : 0
    }

    /// Takes one step to delete at most `count` transactions, those that arrived first; returns the number of facts.
    package func retireFirst(_ count: Int, budget: Int = retirementBudget) throws(WaybillError) -> Int {
        try write { () throws(WaybillError) in try sweepFirst(budget: budget, transactions: count) }
    }

    private func sweepFirst(budget: Int, transactions: Int? = nil) throws(WaybillError) -> Int {
        var budget = budget
        // The first arrivals may belong to active transactions, so the search doubles.
        while true {
            let cutoff = try cutoff(behind: budget)
            let count = try sweep(before: cutoff ?? .max, budget: budget, transactions: transactions)
            if count > 0 || cutoff == nil { return count }
            budget *= 2
        }
    }

    private func sweep(before cutoff: Int64, budget: Int, transactions: Int? = nil) throws(WaybillError) -> Int {
        try ReceivedSweep(connection, before: cutoff, budget: budget, transactions: transactions).run()
    }

    private func cutoff(behind factCount: Int) throws(WaybillError) -> Int64? {
        var count: Int64 = 0
        var cutoff: Int64?
        try connection.statement("SELECT first, last, received_us FROM arrivals ORDER BY id").forRows { row in
            if count >= factCount { cutoff = row.int(2) }
            count += row.int(1) - row.int(0) + 1
            return cutoff == nil
        }
        return cutoff
    }
}
