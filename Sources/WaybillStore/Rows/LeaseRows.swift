import WaybillCore

/// The rows of `leases`, and what hangs on them.
struct LeaseRows {
    let connection: Connection

    /// Ends a lease without a verdict: its facts are free to go out again.
    func end(_ set: GUID) throws(WaybillError) {
        // What a set that is not settled was to tell has to be told by the next.
        try connection.statement("UPDATE sources SET news = 1 WHERE news = 2").run()
        try connection.statement("DELETE FROM ranges WHERE lease = ?").run(set)
        try connection.statement("DELETE FROM leases WHERE set_id = ?").run(set)
    }
}
