package import WaybillCore

/// Sets of other processes and devices come in.
extension Store {
    /// Books a set in one SQLite transaction: what is new is stored, what is known is counted, what cannot be is rejected with its reason.
    ///
    /// The rows that result do not depend on the order in which sets come, nor on repetitions.
    ///
    /// - Parameter wall: Now, in microseconds since 1970.
    /// - Returns: The verdicts, also on the facts that could not be read; right to be sent once this has returned and commits are synced.
    package func ingest(_ decoded: DecodedSet, receivedAt wall: Int) throws(WaybillError) -> Receipt {
        try write { () throws(WaybillError) in
            var receipt = Receipt(set: decoded.set.id, acceptedCount: 0, rejections: decoded.rejections)
            for share in decoded.set.sources {
                let unread = Set(decoded.rejections.lazy.filter { $0.source == share.source.id }.map(\.index))
                var ingestion = try Ingestion(share, unread: unread, at: wall, connection)
                try ingestion.run(at: wall)
                receipt.acceptedCount += ingestion.acceptedCount
                receipt.knownCount += ingestion.knownCount
                receipt.rejections += ingestion.rejections
            }
            return receipt
        }
    }
}
