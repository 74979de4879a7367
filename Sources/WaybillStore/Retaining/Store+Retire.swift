package import WaybillCore

/// What was received goes again, to keep a collector's store within its limits.
///
/// Facts that go are booked as retired: they are still known when they come again, and their ledger stays as it is.
extension Store {
    /// Facts that one step takes away, so that sets do not wait long for their turn.
    private static let retirementBudget = 20_000

    /// One step: takes away transactions of which nothing was received since a time.
    ///
    /// - Parameter cutoff: Microseconds since 1970.
    /// - Returns: How many facts went; 0: none is left that may.
    package func retire(receivedBefore cutoff: Int64, budget: Int = retirementBudget) throws(WaybillError) -> Int {
        try write { () throws(WaybillError) in
            let count = try sweep(before: cutoff, budget: budget)
            if count == 0 {
                try NameRows(connection: connection).removeUnused(heardBefore: cutoff)
                nameCount = nil
            }
            return count
        }
    }

    /// One step: takes away the transactions that were received first, where the store is larger than it may be.
    ///
    /// - Parameter byteCount: Of rows, indexes and the WAL; a file does not shrink, but what is free in it is used before
    ///   it grows.
    /// - Returns: How many facts went; 0: it is small enough, or nothing may go.
    package func retire(beyond byteCount: Int64, budget: Int = retirementBudget) throws(WaybillError) -> Int {
        guard let limit = try rowByteLimit(within: byteCount) else { return 0 }
        return try write { () throws(WaybillError) in
            guard try connection.usedByteCount() > limit else { return 0 }
            return try sweepFirst(budget: budget)
        }
    }

    /// One step: takes away the transactions that were received first, where there are more than there may be.
    ///
    /// - Returns: How many facts went; 0: there are few enough, or nothing may go.
    package func retire(beyondTransactions transactionCount: Int, budget: Int = retirementBudget) throws(WaybillError)
        -> Int
    {
        try write { () throws(WaybillError) in
            let excess =
                try connection.integer(
                    """
                    SELECT count(*) FROM parts WHERE listed_us IS NOT NULL \
                    AND source IN (SELECT id FROM sources WHERE heard_us IS NOT NULL)
                    """) - transactionCount
            return excess > 0 ? try sweepFirst(budget: budget, transactions: excess) : 0
        }
    }

    /// What came first.
    private func sweepFirst(budget: Int, transactions: Int? = nil) throws(WaybillError) -> Int {
        var budget = budget
        // What came first may belong to transactions that go on: then what came after it is looked at, too.
        while true {
            let cutoff = try cutoff(behind: budget)
            let count = try sweep(before: cutoff ?? .max, budget: budget, transactions: transactions)
            if count > 0 || cutoff == nil { return count }
            budget *= 2
        }
    }

    private func sweep(before cutoff: Int64, budget: Int, transactions: Int? = nil) throws(WaybillError) -> Int {
        var sweep = try ReceivedSweep(connection, before: cutoff, budget: budget, transactions: transactions)
        try sweep.run()
        return sweep.factCount
    }

    /// When what comes after the first so many facts was received; nil: nothing does.
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
