import WaybillCore

/// What was kept in memory comes in.
extension Store {
    /// Takes over everything that one source, registered here, has in a store in memory of this process.
    ///
    /// What is claimed there by a lease is pending again.
    func adopt(_ source: GUID, from memory: ResolvedLocation) throws(WaybillError) {
        try connection.statement("ATTACH ? AS memory").run(memory.uri())
        defer { try? connection.execute("DETACH memory") }
        try write { () throws(WaybillError) in
            let here = try connection.integer("SELECT id FROM main.sources WHERE uuid = ?", source)
            try connection.execute("DELETE FROM memory.ranges WHERE lease IS NOT NULL")
            // It is the only source there.
            for table in Tables.bySource where table != "arrivals" {
                // Computed columns are not among them.
                let names = try connection.statement("SELECT name FROM pragma_table_info(?)").rows(table) { row in
                    row.text(0)
                }
                let columns = names.joined(separator: ", ")
                try connection.execute(
                    """
                    UPDATE memory.\(table) SET source = \(here);
                    INSERT OR IGNORE INTO main.\(table)(\(columns)) SELECT \(columns) FROM memory.\(table)
                    """)
            }
            try connection.execute(
                """
                INSERT OR IGNORE INTO main.bodies(source, exchange, direction, piece, content_type, kept_bytes, byte_count, omission, bytes) \
                SELECT \(here), exchange, direction, piece, content_type, kept_bytes, byte_count, omission, bytes FROM memory.bodies ORDER BY id;
                INSERT OR IGNORE INTO main.names SELECT * FROM memory.names;
                UPDATE main.sources SET (recorded, refused, delivered, news) = (SELECT recorded, refused, delivered, 1 FROM memory.sources) \
                WHERE id = \(here)
                """)
        }
        ownSources[source]?.latest = nil
    }
}
