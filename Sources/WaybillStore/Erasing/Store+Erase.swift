package import WaybillCore

/// Facts are taken away on demand.
extension Store {
    /// Erases facts from the rows, and their bytes from the files.
    ///
    /// Of what was recorded here, pending facts are booked as dropped, `erased`; leases that hold one of them end, so
    /// that their verdicts settle nothing. What is settled stays settled. Of what was received, all is booked as
    /// `erased`; the installation and the transactions are remembered, so that what comes of them later is refused.
    ///
    /// - Parameter wall: Now, in microseconds since 1970.
    /// - Throws: Also where the rows are gone and a reader keeps the WAL, and with it the bytes: then erase once more.
    package func erase(_ scope: ErasureScope, at wall: Int64) throws(WaybillError) -> Erasure {
        let erasure = try write { () throws(WaybillError) in try eraseRows(scope, at: wall) }
        // Damaged files that were moved aside cannot be erased from; all that could be read of them is here.
        file?.removeAside()
        removeJournalsSetAside()
        do throws(WaybillError) {
            // Also when nothing was found: the bytes of an erasure before this one may be there still.
            try checkpoint()
        } catch {
            throw WaybillError(
                error.code,
                "It is erased from the tables of \(connection.place), but its bytes are still in the WAL, which somebody reads. "
                    + "Erase once more when they have finished.", cause: error.description)
        }
        return erasure
    }

    /// Erases the rows, inside one SQLite transaction.
    func eraseRows(_ scope: ErasureScope, at wall: Int64) throws(WaybillError) -> Erasure {
        var eraser = try ScopeEraser(connection, at: wall)
        try eraser.erase(scope)
        try NameRows(connection: connection).removeUnused(heardBefore: .max)
        nameCount = nil
        return eraser.erasure
    }
}
