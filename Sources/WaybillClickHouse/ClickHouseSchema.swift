#if ClickHouse
import WaybillCore
import WaybillQueries

/// The tables. `Schemas/clickhouse.sql` has their form for a single server.
/// A new version adds tables or columns and changes none, because collectors of two versions may run at once.
enum ClickHouseSchema {
    static let version: UInt32 = 1

    /// `isCurrent` says whether the server supports codecs.
    static func statements(isCurrent: Bool, database: String, cluster: String?) -> [String] {
        let tables = tables.map { table in table.statements(isCurrent, database, cluster) }
        let noted = "INSERT INTO \(database).schema_versions(version) VALUES (\(version))"
        return ["CREATE DATABASE IF NOT EXISTS \(database)\(on(cluster))"] + tables.flatMap(\.self) + [noted]
    }

    private static func on(_ cluster: String?) -> String { cluster.map { " ON CLUSTER \($0)" } ?? "" }

    private struct Table {
        var name: String
        var meaning: String
        var columns: [Column]
        var order: String
        /// The column that selects the newest of equal keys; `nil` if such rows are identical.
        var version: String?
        var partition: String?
        /// Partitions that are dropped. Servers of 2018 read nothing with a quorum after that.
        var droppedPartition: String?
        /// The expression that selects the shard; `nil` if every server has all rows.
        var shard: String?
        /// Indexes that skip rows. Servers of 2018 have none.
        var indexes: [String] = []
        /// A server reads so many rows to find one.
        var rowsPerMark = 512

        func statements(_ isCurrent: Bool, _ database: String, _ cluster: String?) -> [String] {
            let columns = columns.map { $0.definition(isCurrent) }
            func create(_ name: String, _ engine: String, _ indexes: [String] = []) -> String {
                let content = (columns + indexes).joined(separator: ",\n  ")
                return
                    "CREATE TABLE IF NOT EXISTS \(database).\(name)\(on(cluster)) (\n  \(content)\n) ENGINE = \(engine)"
            }
            let indexes = isCurrent ? indexes : []
            var engine = "ReplacingMergeTree(\(version ?? ""))"
            if let cluster {
                let (path, replica) =
                    shard == nil
                    ? ("/waybill/\(database)/\(name)", "{shard}-{replica}")
                    : ("/waybill/\(database)/{shard}/\(name)", "{replica}")
                engine = "ReplicatedReplacingMergeTree('\(path)', '\(replica)'\(version.map { ", \($0)" } ?? ""))"
                engine += suffix(isCurrent)
                guard let shard else { return [create(name, engine, indexes)] }
                return [
                    create("\(name)_local", engine, indexes),
                    create(name, "Distributed(\(cluster), \(database), \(name)_local, \(shard))"),
                ]
            }
            return [create(name, engine + suffix(isCurrent), indexes)]
        }

        private func suffix(_ isCurrent: Bool) -> String {
            // Acknowledged rows must be on disk. Servers before version 20 lack these settings.
            let synced = isCurrent ? ", fsync_after_insert = 1, fsync_part_directory = 1" : ""
            let partition = partition ?? (isCurrent ? droppedPartition : nil)
            return (partition.map { "\nPARTITION BY \($0)" } ?? "")
                + "\nORDER BY (\(order))\nSETTINGS index_granularity = \(rowsPerMark)\(synced)"
        }
    }

    private struct Column {
        var name: String
        var type: String
        var codec: String?
        var meaning: String

        init(_ name: String, _ type: String, codec: String? = nil, _ meaning: String) {
            (self.name, self.type, self.codec, self.meaning) = (name, type, codec, meaning)
        }

        func definition(_ isCurrent: Bool) -> String {
            "\(name) \(type)" + (isCurrent ? codec.map { " CODEC(\($0))" } ?? "" : "")
        }
    }

    static func published() -> String {
        let head = """
            -- Waybill's tables in a ClickHouse database. `waybill migrate clickhouse://host:8123/waybill` creates them.
            --
            -- Version \(version). A version adds tables or columns, and changes none. On a cluster the engines are replicated. `facts`, `by_source`,
            -- `children`, `begun`, `transactions` and `spans` are then Distributed tables over `facts_local` and so on, by cityHash64 of source, parent or
            -- tx, and every server has the other tables whole.
            -- IDs are FixedString(16), the most significant byte first, because ClickHouse orders a UUID by its second half.
            -- Integers that end in _us are microseconds: since 1970, but at_us, which counts from the start of the source.
            -- Until parts are merged, a row appears as often as it was inserted. Read one row of each key.


            """
        let text = tables.map { table in
            let columns = table.columns.map { column in
                "  \(column.definition(true))," + (column.meaning.isEmpty ? "" : " -- \(column.meaning)")
            }
            let content = (columns + table.indexes.map { "  \($0)," }).joined(separator: "\n")
            let engine =
                table.statements(true, "waybill", nil).last?.split(separator: "ENGINE", maxSplits: 1).last ?? ""
            return "CREATE TABLE \(table.name) ( -- \(table.meaning)\n\(content)\n) ENGINE\(engine);\n"
        }
        return head + text.joined(separator: "\n")
    }

    static func columns(of table: String) -> String {
        tables.filter { $0.name == table }.flatMap(\.columns).map(\.name).joined(separator: ", ")
    }

    /// A day.
    static let placesPerPartition = 24 * ArrivalPlace.perHour

    private static let valueIndexes = [
        "use_case", "event_codes", "unsuccessful_events", "error_codes", "exchange_states", "sources[1]",
        "installations[1]", "lower(apps[1])",
        "lower(app_versions[1])", "lower(devices[1])", "lower(os_versions[1])",
    ].enumerated().map { "INDEX value_\($0 + 1) \($1) TYPE bloom_filter(0.01) GRANULARITY 1" }

    private static let tables = [
        Table(
            name: "schema_versions", meaning: "which versions of this schema were made here",
            columns: [
                Column("version", "UInt32", "from 1"),
                Column("made", "DateTime DEFAULT now()", "by the server's clock"),
            ], order: "version"),
        Table(
            name: "facts", meaning: "what was recorded: written once, never changed, known by source and sequence",
            columns: [
                Column(
                    "week", "UInt16", "of the transaction's ID, since 1970; 0: of none, or of no time near its arrival"),
                Column("tx", "FixedString(16)", "the transaction; zeros: of none, or its opening had not arrived"),
                Column("source", "FixedString(16)", "who recorded it; zeros: a row that only has a removal end"),
                Column("sequence", "Int64", codec: "Delta, ZSTD", "of the fact in its source"),
                Column(
                    "part", "Int64", codec: "Delta, ZSTD", "the sequence of the opening of its part; 0: outside any"),
                Column(
                    "kind", "UInt8",
                    "1 opened, 2 event, 3 attributes set, 4 closed, 5 exchange opened, 6 exchange closed"),
                Column("at_us", "Int64", codec: "Delta, ZSTD", "since its source started"),
                Column("use_case", "Int64", codec: "ZSTD", "the transaction's; -1: not known"),
                Column("fact", "String", codec: "ZSTD", "JSON as in sets: see fact.v1.schema.json"),
            ],
            order: "tx, source, sequence", partition: "week", shard: "cityHash64(tx)"),
        Table(
            name: "books",
            meaning:
                "what sets, erasures and retirements left of a source; a fact counts once an arrival here names it",
            columns: [
                Column("source", "FixedString(16)", "whose; zeros: a row that only has a removal end"),
                Column(
                    "arrival", "Int64", codec: "Delta, ZSTD",
                    "of which no two rows have the same: later ones are larger"),
                Column("installation", "FixedString(16)", "the source's; zeros: none"),
                Column("heard_us", "Int64", codec: "Delta, ZSTD", "when it was last heard of"),
                Column("proof", "String", "SHA-256 of the source's secret; empty: it has shown none"),
                Column("installation_proof", "String", "the same of the installation's"),
                Column("share", "String", codec: "ZSTD", "JSON: a set with this source alone, without facts and names"),
                Column("arrived", "Array(Int64)", "first, last, received_us; first, last, received_us; and so on"),
                Column(
                    "retired", "Array(Int64)", "first, last; and so on: received, and taken away to keep within limits"),
                Column("inserted", "DateTime DEFAULT now()", "by the server's clock"),
            ], order: "source, arrival", rowsPerMark: 128),
        Table(
            name: "by_source", meaning: "the same facts by their sources",
            columns: [
                Column("source", "FixedString(16)", "as in `facts`"),
                Column("sequence", "Int64", codec: "Delta, ZSTD", "as in `facts`"),
                Column("tx", "FixedString(16)", "as in `facts`"), Column("kind", "UInt8", "as in `facts`"),
                Column("at_us", "Int64", codec: "Delta, ZSTD", "as in `facts`"),
            ], order: "source, sequence", shard: "cityHash64(source)",
            indexes: ["INDEX at at_us TYPE minmax GRANULARITY 1"]),
        Table(
            name: "children", meaning: "the transactions that others began",
            columns: [
                Column("parent", "FixedString(16)", "the other transaction"),
                Column("child", "FixedString(16)", "the transaction; it stays when facts are erased"),
            ], order: "parent, child", shard: "cityHash64(parent)"),
        Table(
            name: "begun", meaning: "when transactions began; a later clock of their source adds another time",
            columns: [
                Column("begun_us", "Int64", codec: "Delta, ZSTD", "by the source that leads it"),
                Column("tx", "FixedString(16)", "the transaction; it stays when facts are erased"),
            ], order: "begun_us, tx", shard: "cityHash64(tx)"),
        Table(
            name: "transactions", meaning: "made of facts; the row of a transaction with the largest version counts",
            columns: [
                Column("tx", "FixedString(16)", "the transaction"),
                Column("version", "Int64", codec: "Delta, ZSTD", "as `place`"),
                Column("gone", "UInt8", "1: it has no facts left"),
                Column("joined", "UInt8", "1: its beginner is unknown"),
                Column("source", "FixedString(16)", "of the leading part, as all columns before `attribute_names`"),
                Column("sequence", "Int64", codec: "Delta, ZSTD", "of the opening"),
                Column("use_case", "Int64", "the code"),
                Column("at_us", "Int64", codec: "Delta, ZSTD", "of the opening"),
                Column("begun_us", "Int64", codec: "Delta, ZSTD", "when it began"),
                Column("closed", "Int64", codec: "Delta, ZSTD", "sequence of the closing; 0: open"),
                Column("took_us", "Int64", codec: "ZSTD", "from the opening to the closing; -9007199254740991: open"),
                // With `took_us`, each block of rows with an open one has the shortest.
                Column("shortest_us", "Int64", codec: "ZSTD", "the same; 9007199254740991: open"),
                Column("outcome", "UInt8", "as in SQLite"), Column("timeout_us", "Int64", "a duration"),
                Column("last_us", "Int64", codec: "Delta, ZSTD", "the last activity"),
                Column("sample_ppm", "Int64", codec: "ZSTD", "-1: none"),
                Column("sample_kept", "Int64", codec: "ZSTD", ""),
                Column("slow_us", "Int64", codec: "ZSTD", "-1: none"),
                Column("has_error", "UInt8", "1: with an error"), Column("error_code", "Int64", "of the error"),
                Column("error", "String", codec: "ZSTD", "JSON: the rest of it"),
                Column("error_identity", "String", codec: "ZSTD", "domain, name or code, and innermost cause"),
                Column("parent", "FixedString(16)", "zeros: none"),
                Column("listed", "String", codec: "ZSTD", "what lists show, for Waybill"),
                Column("attribute_names", "Array(String)", codec: "ZSTD", "latest values"),
                Column("attribute_values", "Array(String)", codec: "ZSTD", ""),
                Column("said", "Array(String)", codec: "ZSTD", "names and values, for filters"),
                Column("texts", "String", codec: "ZSTD", "for searches, with zero bytes between them"),
                Column("sources", "Array(FixedString(16))", codec: "ZSTD", "of all parts, the leading one first"),
                Column("installations", "Array(FixedString(16))", codec: "ZSTD", "zeros: none"),
                Column("apps", "Array(String)", codec: "ZSTD", "of `sources`, as the next ones"),
                Column("app_versions", "Array(String)", codec: "ZSTD", ""),
                Column("devices", "Array(String)", codec: "ZSTD", ""),
                Column("oses", "Array(String)", codec: "ZSTD", ""),
                Column("os_versions", "Array(String)", codec: "ZSTD", ""),
                Column("ended_by", "Array(String)", codec: "ZSTD", "empty: unknown"),
                Column("source_ranks", "Array(Int64)", codec: "ZSTD", "their first `arrival`, which sorts ties"),
                Column("part_sources", "Array(Int64)", codec: "ZSTD", "indexes in `sources`, from 0"),
                Column("part_use_cases", "Array(Int64)", codec: "ZSTD", ""),
                Column("event_parts", "Array(Int64)", codec: "ZSTD", "indexes in `part_sources`, from 0"),
                Column("event_codes", "Array(Int64)", codec: "Delta, ZSTD", ""),
                // Most blocks of rows have both an event and an outcome, but of different transactions.
                Column(
                    "unsuccessful_events", "Array(Int64)", codec: "ZSTD", "code * 16 + outcome, unless it succeeded"),
                Column("exchange_parts", "Array(Int64)", codec: "ZSTD", "indexes in `part_sources`, from 0"),
                Column("exchange_sequences", "Array(Int64)", codec: "Delta, ZSTD", ""),
                Column("exchange_opened_us", "Array(Int64)", codec: "Delta, ZSTD", "of the opening"),
                Column("exchange_took_us", "Array(Int64)", codec: "ZSTD", "smallest number: open"),
                Column("exchange_methods", "Array(String)", codec: "ZSTD", ""),
                Column("exchange_hosts", "Array(String)", codec: "ZSTD", "a zero byte: none"),
                Column("exchange_paths", "Array(String)", codec: "ZSTD", ""),
                Column(
                    "exchange_states", "Array(Int64)", codec: "ZSTD",
                    "0 in progress, 1 completed, 2 failed, 3 cancelled, 4 mocked, 5 interrupted"),
                Column("exchange_statuses", "Array(Int64)", codec: "ZSTD", "-1: none"),
                Column("exchange_received", "Array(Int64)", codec: "Delta, ZSTD", "-1: unknown"),
                Column("exchange_close_codes", "Array(Int64)", codec: "ZSTD", "-1: none"),
                Column("exchange_texts", "Array(String)", codec: "ZSTD", "for searches"),
                Column("timeline", "String", codec: "ZSTD", "parts and events, for Waybill"),
                Column("exchanges", "Array(String)", codec: "ZSTD", "for Waybill"),
                Column("error_exchanges", "Array(Int64)", codec: "ZSTD", "indexes from 1; 0: of a part or event"),
                Column("error_codes", "Array(Int64)", codec: "ZSTD", ""),
                Column("error_domains", "Array(String)", codec: "ZSTD", ""),
                Column("error_names", "Array(String)", codec: "ZSTD", ""),
                Column("error_texts", "Array(String)", codec: "ZSTD", "empty for underlying errors"),
            ], order: "tx", version: "version", shard: "cityHash64(tx)",
            indexes: [
                "INDEX begun begun_us TYPE minmax GRANULARITY 1",
                "INDEX said said TYPE bloom_filter(0.01) GRANULARITY 1",
                "INDEX texts texts TYPE ngrambf_v1(4, 8192, 2, 0) GRANULARITY 1",
                "INDEX longest took_us TYPE minmax GRANULARITY 1",
                "INDEX shortest shortest_us TYPE minmax GRANULARITY 1",
                "INDEX joined joined TYPE minmax GRANULARITY 1",
                "INDEX outcome outcome TYPE set(8) GRANULARITY 1",
                "INDEX sampled sample_ppm TYPE minmax GRANULARITY 1",
                "INDEX statuses \(RowConditions.largestStatus) TYPE minmax GRANULARITY 1",
            ] + valueIndexes),
        Table(
            name: "changed", meaning: "transactions with outdated rows",
            columns: [
                Column("place", "Int64", codec: "Delta, ZSTD", "of the change, numbered as `arrival`"),
                Column("state", "UInt8", "0 being written, 1 written, 2 rows are made, 3 read the facts"),
                Column("transactions", "Array(FixedString(16))", codec: "ZSTD", "changed ones"),
            ], order: "place, state", droppedPartition: "intDiv(place, \(placesPerPartition))"),
        Table(
            name: "spans", meaning: "OTLP spans; of the rows of a span, the last one that counts",
            columns: [
                Column("tx", "FixedString(16)", "the transaction"),
                Column("source", "FixedString(16)", "of its facts"), Column("span", "UInt64", "the ID"),
                Column("version", "Int64", codec: "Delta, ZSTD", "as `place`"),
                Column("state", "UInt8", "0 it waits for a part, 1 counts as `fact` does, 2 its wait is over, 3 gone"),
                Column("parent", "UInt64", "0: none"), Column("kind", "UInt8", "as in OTLP; 0: not arrived"),
                Column("part", "Int64", codec: "Delta, ZSTD", "as in `facts`"),
                Column("fact", "Int64", codec: "Delta, ZSTD", "sequence of its first fact; 0: none"),
                Column("received_us", "Int64", codec: "Delta, ZSTD", ""),
                Column("waiting", "String", codec: "ZSTD", "its facts as a set, while it waits"),
                Column("original", "String", codec: "ZSTD", "redacted OTLP JSON"),
            ], order: "tx, source, span, version", shard: "cityHash64(tx)"),
        Table(
            name: "legacy_sets", meaning: "sets of version 0.0.1, which have no ID",
            columns: [
                Column("digest", "FixedString(32)", "SHA-256 of the body"),
                Column("received_us", "Int64", codec: "Delta, ZSTD", ""),
            ], order: "digest, received_us"),
        Table(
            name: "installations", meaning: "the first secret of each installation",
            columns: [
                Column("guid", "FixedString(16)", "the installation's; zeros: the database's own, for spans"),
                Column("arrival", "Int64", "as in `books`: the smallest counts"),
                Column("proof", "String", "SHA-256 of the secret; empty: there was none"),
            ], order: "guid, arrival"),
        Table(
            name: "commits", meaning: "the numbers that processes have used",
            columns: [Column("place", "Int64", codec: "Delta, ZSTD", "the last `arrival` of an insert into `books`")],
            order: "place"),
        Table(
            name: "names", meaning: "what a version of an app calls a code",
            columns: [
                Column("use_case", "Int64", "the code"), Column("event", "Int64", "-1: the use case itself"),
                Column("app", "String", "whose it is"), Column("app_version", "String", "of which it is said"),
                Column("name", "String", "as the app says it"),
                Column("removed", "UInt8", "1: nothing is left that it is of"),
                Column("arrival", "Int64", "as in `books`: the largest of a key counts"),
            ], order: "use_case, event, app, app_version, name", version: "arrival"),
        Table(
            name: "erased", meaning: "of which nothing is taken in any more",
            columns: [
                Column("guid", "FixedString(16)", "an installation's or a transaction's"),
                Column("with_installation", "UInt8", "1: a transaction that went with the installation that began it"),
                Column("at_us", "Int64", "when"),
                Column("proof", "String", "SHA-256 of the installation's secret; empty: it has shown none"),
            ], order: "guid, with_installation"),
        Table(
            name: "removals", meaning: "rows of erased facts, which servers take away",
            columns: [
                Column("id", "FixedString(16)", "of this removal"),
                Column("target", "String", "the table: facts, by_source, spans or books"),
                Column("condition", "String", "SQL: which rows"),
                Column("at_us", "Int64", "when"),
                Column("done", "UInt8", "1: they are gone from every server"),
            ], order: "id", version: "done"),
    ]
}
#endif
