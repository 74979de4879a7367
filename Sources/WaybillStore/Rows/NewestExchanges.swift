package import WaybillCore

/// When each source opened its newest exchange, as far as a reader has asked before: of many sources, only those are
/// asked again that have delivered something since.
///
/// Confined to its reader's thread.
package final class NewestExchanges {
    /// A source that has exchanges.
    package struct Source {
        /// The `sources.id`.
        package var id: Int64
        /// Microseconds since the source started: its newest exchange was opened then, or before.
        package var newest: Int64
        /// Whether it was opened just then: what was asked before may have been deleted.
        package var isExact: Bool
        /// When the source was last heard of, in microseconds since 1970; `nil` for a source of this store.
        package var heard: Int64?
    }

    /// What was found out of a source, and what is another number once anything was received of it.
    private struct Known {
        var id: Int64
        /// An ID is given again when its source was erased.
        var uuid: GUID
        var heard: Int64
        var recorded: Int64
        var delivered: Int64
        /// nil: it has none.
        var newest: Int64?

        func isOfSameState(as other: Known) -> Bool {
            (id, uuid, heard, recorded, delivered)
                == (other.id, other.uuid, other.heard, other.recorded, other.delivered)
        }
    }

    /// In order of their IDs.
    private var known: [Known] = []

    /// Beyond so many, sources are asked each time: each takes 80 bytes.
    private static let limit = 100_000

    package init() {}

    /// Those of all sources that have exchanges, in order of their IDs; inside a read.
    package func sources(_ connection: Connection) throws(WaybillError) -> [Source] {
        let newest = try connection.statement(
            "SELECT max(at_us) FROM network_logs WHERE source = ? AND method IS NOT NULL")
        var sources: [Source] = []
        var asked: [Known] = []
        asked.reserveCapacity(known.count)
        var place = 0
        try connection.statement("SELECT id, heard_us, recorded, delivered, uuid FROM sources ORDER BY id").forEachRow {
            (row) throws(WaybillError) in
            var source = Known(
                id: row.int(0), uuid: row.guid(4), heard: row.int(1), recorded: row.int(2), delivered: row.int(3))
            while place < known.count, known[place].id < source.id { place += 1 }
            // What is recorded into this very file need not change these numbers.
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
