package import WaybillCore

/// A cache of when each source opened its newest exchange. Confined to its reader's thread.
package final class NewestExchanges {
    package struct Source {
        package var id: Int64
        /// The latest possible time of its newest exchange, in microseconds since the source started.
        package var newest: Int64
        /// Whether the time is exact: a cached exchange may be deleted.
        package var isExact: Bool
        /// In microseconds since 1970; `nil` for an own source.
        package var heard: Int64?
    }

    /// These columns change whenever the source receives facts.
    private struct Known {
        var id: Int64
        /// SQLite reuses the ID of an erased source.
        var uuid: GUID
        var heard: Int64
        var recorded: Int64
        var delivered: Int64
        var newest: Int64?

        func isOfSameState(as other: Known) -> Bool {
            (id, uuid, heard, recorded, delivered)
                == (other.id, other.uuid, other.heard, other.recorded, other.delivered)
        }
    }

    private var known: [Known] = []

    /// Further sources, of 80 bytes each, are not cached.
    private static let limit = 100_000

    package init() {}

    package func sources(_ connection: Connection) throws(WaybillError) -> [Source] {
        let newest = try connection.statement(
            "SELECT max(at_us) FROM exchanges WHERE source = ? AND method IS NOT NULL")
        var sources: [Source] = []
        var asked: [Known] = []
        asked.reserveCapacity(known.count)
        var place = 0
        try connection.statement("SELECT id, heard_us, recorded, delivered, uuid FROM sources ORDER BY id").forEachRow {
            (row) throws(WaybillError) in
            var source = Known(
                id: row.int(0), uuid: row.guid(4), heard: row.int(1), recorded: row.int(2), delivered: row.int(3))
            while place < known.count, known[place].id < source.id { place += 1 }
            // Own sources may have new facts without a change of these columns.
            let isKnown = place < known.count && !row.isNull(1) && known[place].isOfSameState(as: source)
            source.newest =
                isKnown
                ? known[place].newest
                : try newest.first(source.id) { row in row.optionalInt(0) as Int64? } ?? nil
            if asked.count < Self.limit { asked.append(source) }
            if let newest = source.newest {
                sources.append(
                    Source(id: source.id, newest: newest, isExact: !isKnown, heard: row.optionalInt(1)))
            }
        }
        known = asked
        return sources
    }
}
