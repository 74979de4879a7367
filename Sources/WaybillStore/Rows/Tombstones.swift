package import WaybillCore

/// Installations and transactions of which nothing more is taken in.
///
/// Kept where facts of others come in, so that the order of erasing and arriving does not matter; never in a store that
/// holds its own recordings only, which has nothing to refuse and must not remember what was erased.
package struct Tombstones {
    private let connection: Connection
    private let wall: Int64
    private let isKept: Bool

    package init(_ connection: Connection, at wall: Int64) throws(WaybillError) {
        self.connection = connection
        self.wall = wall
        isKept =
            try connection.integer(
                """
                SELECT EXISTS(SELECT 1 FROM sources WHERE heard_us IS NOT NULL) OR EXISTS(SELECT 1 FROM erased) \
                OR NOT EXISTS(SELECT 1 FROM sources)
                """) != 0
    }

    package func bury(_ ids: some Sequence<GUID>) throws(WaybillError) {
        guard isKept else { return }
        let statement = try connection.statement("INSERT INTO erased(guid, at_us) VALUES (?, ?) ON CONFLICT DO NOTHING")
        for id in ids { try statement.run(id, wall) }
    }

    /// Transactions that go with the installation that began them. Whoever else began one keeps it.
    package func bury(begunByErased ids: some Sequence<GUID>) throws(WaybillError) {
        guard isKept else { return }
        let statement = try connection.statement(
            "INSERT INTO erased_with_installation(guid, at_us) VALUES (?, ?) ON CONFLICT DO NOTHING")
        for id in ids { try statement.run(id, wall) }
    }

    /// Whether there are any: mostly nothing was erased, and no opening has to be looked at.
    package func areThere() throws(WaybillError) -> Bool {
        try connection.integer(
            "SELECT EXISTS(SELECT 1 FROM erased) OR EXISTS(SELECT 1 FROM erased_with_installation)") != 0
    }

    /// Whether an opening is refused.
    ///
    /// - Parameter begun: The transactions that are begun by what comes in together with it.
    package func refuse(_ opened: Fact.Opened, begunBeside begun: Set<GUID>) throws(WaybillError) -> Bool {
        if try contains(opened.transaction) { return true }
        guard opened.isJoined, !begun.contains(opened.transaction) else { return false }
        return try connection.integer(
            """
            SELECT EXISTS(SELECT 1 FROM erased_with_installation WHERE guid = ?1) \
            AND NOT EXISTS(SELECT 1 FROM parts WHERE guid = ?1 AND joined = 0)
            """, opened.transaction) != 0
    }

    package func contains(_ id: GUID) throws(WaybillError) -> Bool {
        try connection.integer("SELECT EXISTS(SELECT 1 FROM erased WHERE guid = ?)", id) != 0
    }
}
