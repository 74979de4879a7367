package import WaybillCore

extension Store {
    /// Books a set in one SQLite transaction; the order and repetitions of sets don't matter.
    ///
    /// - Returns: The verdicts to send after the commit is synced.
    package func ingest(
        _ set: TransactionSet, receivedAt wall: Int64, isVouchedFor: Bool = false
    ) throws(WaybillError) -> Receipt {
        try write { () throws(WaybillError) in try book(set, at: wall, isVouchedFor: isVouchedFor) }
    }

    /// Books several sets with one sync; a failed set leaves nothing behind.
    package func ingest(_ arrivals: [ReceivedSet]) -> [Result<Receipt, WaybillError>] {
        // All sets are tried together first: savepoints copy every changed page, and failures are rare.
        let receipts = try? write { () throws(WaybillError) in
            try arrivals.map { (arrival) throws(WaybillError) in
                try book(arrival.set, at: arrival.atMicroseconds)
            }
        }
        if let receipts { return receipts.map { .success($0) } }
        nameCount = nil
        do {
            return try write { () throws(WaybillError) in
                var results: [Result<Receipt, WaybillError>] = []
                for arrival in arrivals {
                    let before = (stored: stored, finished: finished)
                    let result = try connection.savepoint { () throws(WaybillError) in
                        try book(arrival.set, at: arrival.atMicroseconds)
                    }
                    if case .failure = result {
                        nameCount = nil
                        (stored, finished) = before
                    }
                    results.append(result)
                }
                return results
            }
        } catch {
            return arrivals.map { _ in .failure(error) }
        }
    }

    /// Books one set, inside one SQLite transaction. `hasRows` is `false` for a copy that has only the books.
    package func book(
        _ set: TransactionSet, at wall: Int64, isVouchedFor: Bool = false, hasRows: Bool = true
    ) throws(WaybillError) -> Receipt {
        var receipt = Receipt(set: set.id, acceptedCount: 0, rejections: set.rejections)
        let causes = SpanCauses(connection)
        var touched: Set<GUID> = []
        var undecided: Set<GUID> = []
        for share in set.sources {
            let unread = Set(set.rejections.lazy.filter { $0.source == share.source.id }.map(\.index))
            let ingestion = try book(
                share, unread: unread, at: wall, factsPerTransaction: factsPerTransaction, isVouchedFor: isVouchedFor,
                hasRows: hasRows)
            receipt.refusedNameCount += ingestion.refusedNameCount
            receipt.acceptedCount += ingestion.takenCount
            receipt.knownCount += ingestion.knownCount
            receipt.rejections += ingestion.rejections
            if let refusal = ingestion.refusal { receipt.refusedSources.append(refusal) }
            undecided.formUnion(ingestion.undecided)
            if ingestion.acceptedCount > 0 { touched.formUnion(try causes.transactions(of: share)) }
        }
        // Each call reads a whole transaction, and several sources may have parts of it.
        for transaction in touched where try causes.find(in: transaction) { undecided.insert(transaction) }
        try connection.decideLeaders(of: undecided)
        return receipt
    }

    /// Books one share, whose leading parts the caller decides. A caller that limits facts itself gives no limit.
    package func book(
        _ share: TransactionSet.Share, unread: Set<Int> = [], at wall: Int64, factsPerTransaction: Int? = nil,
        isVouchedFor: Bool = false, hasRows: Bool = true
    ) throws(WaybillError) -> Ingestion {
        var ingestion = try Ingestion(share, unread: unread, at: wall, into: self)
        ingestion.factsPerTransaction = factsPerTransaction
        ingestion.isVouchedFor = isVouchedFor
        ingestion.hasRows = hasRows
        try ingestion.run(at: wall)
        return ingestion
    }

    func nameRoom() throws(WaybillError) -> Int {
        if nameCount == nil { nameCount = try connection.integer("SELECT count(*) FROM names") }
        return max(0, nameLimit - (nameCount ?? 0))
    }
}
