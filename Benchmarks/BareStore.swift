import CWaybillSQLite
import Foundation
import WaybillCore
import WaybillStore

/// The minimum that SQLite has to do for the same rows: prepared inserts into the same schema, with no lookups and
/// nothing kept in step.
final class BareStore {
    private var database: OpaquePointer?
    private var statements: [OpaquePointer?] = []

    /// Creates a store with our schema, then opens it without our code.
    init(folder: URL, isSynced: Bool) throws {
        _ = try Store(.folder(folder))
        let path = folder.appending(path: "waybill.sqlite").path(percentEncoded: false)
        guard sqlite3_open(path, &database) == SQLITE_OK else {
            throw WaybillError(.store, "The bare store cannot be opened.")
        }
        try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = \(isSynced ? "FULL" : "NORMAL")")
        for sql in [
            "INSERT INTO parts(source, sequence, guid, use_case, joined, at_us, listed_us, beyond, beyond_at_us, outcome, settled) VALUES(1, ?, ?, ?, 0, ?, ?, ?, ?, 0, 0)",
            "INSERT INTO events(source, part, after, at_us, code, detail) VALUES(1, ?, ?, ?, ?, NULL)",
            "UPDATE parts SET closed = ?, closed_at_us = ?, outcome = ?, beyond = NULL, beyond_at_us = NULL WHERE source = 1 AND sequence = ?",
        ] {
            var statement: OpaquePointer?
            guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
                throw WaybillError(
                    .store, "The bare store's statements do not fit the schema.",
                    cause: String(cString: sqlite3_errmsg(database)))
            }
            statements.append(statement)
        }
    }

    deinit {
        statements.forEach { sqlite3_finalize($0) }
        sqlite3_close(database)
    }

    /// Inserts facts in one SQLite transaction.
    func insert(_ facts: [Fact]) throws {
        try run("BEGIN")
        for fact in facts {
            switch fact.content {
            case .opened(let opened):
                opened.transaction.withBytes { bytes in
                    _ = sqlite3_bind_blob(
                        statements[0], 2, bytes.baseAddress, 16, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
                }
                try step(
                    0,
                    [
                        1: fact.sequence, 3: Int64(opened.useCase), 4: fact.atMicroseconds, 5: fact.atMicroseconds,
                        6: fact.sequence,
                        7: fact.atMicroseconds,
                    ])
            case .event(let event):
                try step(1, [1: fact.part, 2: fact.sequence - fact.part, 3: fact.atMicroseconds, 4: Int64(event.code)])
            case .closed(let closed):
                try step(
                    2, [1: fact.sequence, 2: fact.atMicroseconds, 3: Int64(closed.outcome.rawValue), 4: fact.part])
            case .attributesSet, .exchangeOpened, .exchangeClosed, .unknown:
                throw WaybillError(.store, "The bare store takes neither attributes nor exchanges.")
            }
        }
        try run("COMMIT")
    }

    private func step(_ index: Int, _ values: KeyValuePairs<Int32, Int64>) throws {
        let statement = statements[index]
        for (place, value) in values { sqlite3_bind_int64(statement, place, value) }
        guard sqlite3_step(statement) == SQLITE_DONE else {
            throw WaybillError(
                .store, "The bare store did not take a row.", cause: String(cString: sqlite3_errmsg(database)))
        }
        sqlite3_reset(statement)
    }

    private func run(_ sql: String) throws {
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
            throw WaybillError(.store, "The bare store failed.", cause: String(cString: sqlite3_errmsg(database)))
        }
    }
}
