package import WaybillCore

/// Sets of other processes and devices come in.
extension Store {
    /// Books a set in one SQLite transaction: what is new is stored, what is known is counted, what cannot be is
    /// rejected with its reason.
    ///
    /// The rows that result do not depend on the order in which sets come, nor on repetitions.
    ///
    /// - Parameters:
    ///   - wall: Now, in microseconds since 1970.
    ///   - isVouchedFor: Whether the caller answers for its sources, as for those of another store that it reads: then
    ///     they need no proof.
    /// - Returns: The verdicts, also on the facts that could not be read; right to be sent once this has returned and
    ///   commits are synced.
    package func ingest(
        _ decoded: DecodedSet, receivedAt wall: Int64, isVouchedFor: Bool = false
    ) throws(WaybillError) -> Receipt {
        try write { () throws(WaybillError) in
            try book(decoded, at: wall, factsPerTransaction: nil, isVouchedFor: isVouchedFor)
        }
    }

    /// Books several sets in one SQLite transaction, so that they share its sync; one that fails leaves nothing behind,
    /// and the others go on.
    ///
    /// - Parameter factsPerTransaction: Facts of a transaction beyond so many are rejected; nil: however many come.
    /// - Returns: For each set its receipt, or what was in the way.
    package func ingest(_ arrivals: [ReceivedSet], factsPerTransaction: Int?) -> [Result<Receipt, WaybillError>] {
        // Together first: with savepoints, SQLite copies every page that a set changes, and seldom does one fail.
        if let receipts = try? bookTogether(arrivals, factsPerTransaction: factsPerTransaction) {
            return receipts.map { .success($0) }
        }
        nameCount = nil
        do {
            return try write { () throws(WaybillError) in
                var results: [Result<Receipt, WaybillError>] = []
                for arrival in arrivals {
                    let result = try connection.savepoint { () throws(WaybillError) in
                        try book(arrival.set, at: arrival.atMicroseconds, factsPerTransaction: factsPerTransaction)
                    }
                    if case .failure = result { nameCount = nil }
                    results.append(result)
                }
                return results
            }
        } catch {
            return arrivals.map { _ in .failure(error) }
        }
    }

    /// Books all of them, or none.
    private func bookTogether(
        _ arrivals: [ReceivedSet], factsPerTransaction: Int?
    ) throws(WaybillError) -> [Receipt] {
        try write { () throws(WaybillError) in
            var receipts: [Receipt] = []
            for arrival in arrivals {
                receipts.append(
                    try book(arrival.set, at: arrival.atMicroseconds, factsPerTransaction: factsPerTransaction))
            }
            return receipts
        }
    }

    /// Books one set, inside one SQLite transaction.
    ///
    /// - Parameter hasRows: Whether this store has the rows of what it received; `false` for a copy of the books alone.
    func book(
        _ decoded: DecodedSet, at wall: Int64, factsPerTransaction: Int?, isVouchedFor: Bool = false,
        hasRows: Bool = true
    ) throws(WaybillError) -> Receipt {
        var receipt = Receipt(set: decoded.set.id, acceptedCount: 0, rejections: decoded.rejections)
        let causes = SpanCauses(connection)
        var touched: Set<GUID> = []
        var undecided: Set<GUID> = []
        for share in decoded.set.sources {
            let unread = Set(decoded.rejections.lazy.filter { $0.source == share.source.id }.map(\.index))
            var ingestion = try Ingestion(share, unread: unread, at: wall, connection)
            ingestion.factsPerTransaction = factsPerTransaction
            ingestion.isVouchedFor = isVouchedFor
            ingestion.hasRows = hasRows
            if !share.names.isEmpty && !isVouchedFor { ingestion.nameRoom = try nameRoom() }
            try ingestion.run(at: wall)
            nameCount? += ingestion.addedNameCount
            receipt.refusedNameCount += ingestion.refusedNameCount
            receipt.acceptedCount += ingestion.acceptedCount
            receipt.knownCount += ingestion.knownCount
            receipt.rejections += ingestion.rejections
            if let refusal = ingestion.refusal { receipt.refusedSources.append(refusal) }
            undecided.formUnion(ingestion.undecided)
            if ingestion.acceptedCount > 0 { touched.formUnion(try causes.transactions(of: share)) }
        }
        // Each looks at a whole transaction, which all of these sources may have a part of.
        for transaction in touched where try causes.find(in: transaction) { undecided.insert(transaction) }
        try LeadingParts(connection: connection).decide(each: undecided)
        return receipt
    }

    /// How many more names are taken from others.
    package func nameRoom() throws(WaybillError) -> Int {
        if nameCount == nil { nameCount = try connection.integer("SELECT count(*) FROM names") }
        return max(0, nameLimit - (nameCount ?? 0))
    }
}
