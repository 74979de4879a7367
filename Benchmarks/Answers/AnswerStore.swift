import CWaybillSQLite
import Foundation
import TestSupport
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillStore

/// A collector's store after a month: many launches of an app in two versions, and four servers whose clocks are off.
/// Nine in ten transactions are logins. Half of the logins reached a server, each by an exchange. The store is made
/// once, by taking in sets, and kept in `.build/bench-store`.
struct AnswerStore {
    let folder: URL

    /// The start of 2026-03-01, in microseconds since 1970.
    static let begun: Int64 = 1_772_323_200_000_000
    /// A time when everybody has finished.
    static let now = begun + 31 * 86_400_000_000
    static let loginNames = [
        "initiated", "nameEntered", "passwordEntered", "requestSent", "responseReceived", "profileShown",
    ]
    static let serverNames = [10: "serverStarted", 11: "serverAccepted", 12: "serverRejected"]
    private static let launchesPerSet = 25
    private static let transactionsPerLaunch = 20

    /// The same facts for DuckDB.
    var parquet: URL { folder.appending(path: "facts.parquet") }

    /// - Parameter millions: The number of events, in millions.
    init(millions: Int) throws {
        // The name has to change when the generated data changes. Otherwise, an older store would stay in use.
        folder = URL(filePath: ".build/bench-store/\(millions)-million-with-exchanges")
        guard !FileManager.default.fileExists(atPath: parquet.path(percentEncoded: false)) else { return }
        try? FileManager.default.removeItem(at: folder)
        FileHandle.standardError.write(
            Data("Making a store of \(millions) million events, which is kept in \(folder.relativePath).\n".utf8))
        if millions == 1 { try record() } else { try multiply(AnswerStore(millions: 1), by: millions) }
    }

    private func record() throws {
        try Self.fill(folder, eventCount: 1_000_000)
        let facts = folder.appending(path: "facts.ndjson")
        let file = try PartialFile(facts)
        _ = try StoreReader(.folder(folder)).export(.everything, as: .ndjson, redactor: Redactor()) {
            try file.write($0)
        }
        try file.finish()
        _ = try DuckDB.run(
            """
            COPY (SELECT transaction_id, use_case, source, installation, part, is_joined, sequence, kind, time_us, at_us, code, name, outcome, \
            duration_us, error_domain, error_code FROM waybill_ndjson('\(facts.relativePath)')) TO '\(parquet.relativePath)'
            """)
        try FileManager.default.removeItem(at: facts)
    }

    /// Adds copies of the month, by other sources and a few seconds later. The rows are the same as from taking in
    /// sets, in a tenth of the time.
    private func multiply(_ store: AnswerStore, by count: Int) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "waybill.sqlite")
        try FileManager.default.copyItem(at: store.folder.appending(path: "waybill.sqlite"), to: file)
        var database: OpaquePointer?
        guard sqlite3_open(file.path(percentEncoded: false), &database) == SQLITE_OK else {
            throw WaybillError(.store, "The store cannot be opened.")
        }
        defer { sqlite3_close(database) }
        let parts =
            "use_case, joined, own_timeout_us, at_us, opened_detail, closed, closed_at_us, error_code, closed_detail, outcome, settled"
        let others =
            "app, app_version, device, os, os_version, attributes, heard_us, recorded, refused, delivered, ended, news"
        let exchanges =
            "part, sequence, at_us, role, method, host, path, opened_detail, closed, closed_at_us, state, status, first_byte_us, sent_bytes, "
            + "received_bytes, error_code, closed_detail"
        // Copies only the first month, however many were added meanwhile. No ID of the first month begins with three
        // bytes of all ones.
        let setup = """
            PRAGMA journal_mode = OFF; PRAGMA cache_size = -200000; \
            CREATE TEMP TABLE first AS SELECT max(id) AS id FROM sources;
            """
        let copies = (1..<count).map { copy in
            let source = "+ \(copy) * (SELECT id FROM first)"
            let isFirst = "<= (SELECT id FROM first)"
            return """
                INSERT INTO sources(id, uuid, installation, \(others)) SELECT id \(source), randomblob(16), installation, \(others) \
                FROM sources WHERE id \(isFirst); \
                INSERT INTO clocks SELECT source \(source), at_us, offset_us + \(copy * Self.lag) FROM clocks WHERE source \(isFirst); \
                INSERT INTO parts(source, sequence, guid, listed_us, beyond, beyond_at_us, cause_source, cause, \(parts)) \
                SELECT source \(source), sequence, CAST(x'\(String(format: "ffffff%02x", copy))' || substr(guid, 5) AS BLOB), \
                listed_us + \(copy * Self.lag), beyond, beyond_at_us, \
                (SELECT b.uuid FROM sources a JOIN sources b ON b.id = a.id \(source) WHERE a.uuid = parts.cause_source), cause, \
                \(parts) FROM parts WHERE source \(isFirst) ORDER BY source, sequence; \
                INSERT INTO events SELECT source \(source), part, after, at_us, code, detail FROM events WHERE source \(isFirst) \
                ORDER BY source, part, after; \
                INSERT INTO exchanges(source, \(exchanges)) SELECT source \(source), \(exchanges) FROM exchanges \
                WHERE source \(isFirst) ORDER BY source, part, sequence;
                """
        }
        guard sqlite3_exec(database, setup + copies.joined(), nil, nil, nil) == SQLITE_OK else {
            throw WaybillError(.store, "The store was not multiplied: \(String(cString: sqlite3_errmsg(database)))")
        }
        _ = try DuckDB.run(
            """
            COPY (SELECT * REPLACE (md5(transaction_id::VARCHAR || copy)::UUID AS transaction_id, md5(source::VARCHAR || copy)::UUID AS source, \
            time_us + copy * \(Self.lag) AS time_us) FROM '\(store.parquet.relativePath)', range(\(count)) AS copies(copy)) \
            TO '\(parquet.relativePath)'
            """)
    }

    private static let lag = 6_000_000

    /// The totals of the sets that were taken in.
    struct Filled: Encodable {
        var events = 0
        var facts = 0
        /// CPU seconds, without those that it took to make the sets.
        var cpuSeconds = 0.0
    }

    /// POSIX defines a million clock ticks per second.
    private static func processorSeconds() -> Double { Double(clock()) / 1_000_000 }

    /// Takes in sets of one month until the store has at least this many events.
    @discardableResult
    static func fill(_ folder: URL, eventCount: Int, hasTimedIDs: Bool = false) throws -> Filled {
        let store = try Store(.folder(folder))
        var maker = AnswerSetMaker(seed: 7, hasTimedIDs: hasTimedIDs)
        var filled = Filled()
        var receivedAt = Self.begun
        while maker.eventCount < eventCount {
            let share = Double(maker.eventCount) / Double(eventCount)
            receivedAt = Self.begun + Int64(share * 30 * 86_400_000_000)
            let set = maker.set(of: Self.launchesPerSet, transactionsEach: Self.transactionsPerLaunch, at: receivedAt)
            let begun = Self.processorSeconds()
            _ = try store.ingest(set, receivedAt: receivedAt)
            if maker.setCount % 20 == 0 { try store.checkpoint() }
            filled.cpuSeconds += Self.processorSeconds() - begun
            filled.facts += set.factCount
        }
        try store.checkpoint()
        filled.events = maker.eventCount
        return filled
    }
}
