import CWaybillSQLite
import Foundation
import TestSupport
import WaybillCore
import WaybillStore

extension Row {
    /// The size of the whole file per event without attributes, with 8, 20 and 50 events in a transaction. Nothing is
    /// delivered, and 50 transactions are open at a time.
    static let bytesPerEvent = [8, 20, 50].map { eventsEach in
        Row("bytesPerEvent", unit: "bytes, \(eventsEach) a transaction", against: "one table, indexed by transaction") {
            let folder = TemporaryDirectory.place()
            defer { try? FileManager.default.removeItem(at: folder) }
            let source = SourceIdentity(
                id: GUID(), installation: GUID(), app: "com.example.shop", appVersion: "4.2.0", device: "iPhone17,1",
                os: "iOS",
                osVersion: "18.5")
            let store = try Store(.folder(folder))
            try store.register(source)
            var interleaved = Interleaved(eventsEach: eventsEach)
            var facts: [Fact] = []
            while interleaved.eventCount < 100_000 {
                let batch = interleaved.batch(of: 5_000, after: Int64(facts.count))
                try store.append(
                    RecordedBatch(
                        source: source.id, facts: batch,
                        clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 1_760_518_800_000_000)]))
                facts += batch
            }
            try store.checkpoint()
            let plain = folder.appending(path: "plain.sqlite")
            try writePlainTable(facts, to: plain)
            let size = try byteCount(of: folder.appending(path: "waybill.sqlite"))
            return Comparison(
                value: size / Double(interleaved.eventCount),
                baseline: try byteCount(of: plain) / Double(interleaved.eventCount))
        }
    }
}

/// Writes the table that comes to mind first: a row for each fact, with the transaction's ID.
private func writePlainTable(_ facts: [Fact], to file: URL) throws {
    var database: OpaquePointer?
    var statement: OpaquePointer?
    defer {
        sqlite3_finalize(statement)
        sqlite3_close(database)
    }
    let schema = """
        CREATE TABLE facts(guid BLOB NOT NULL, kind INTEGER NOT NULL, code INTEGER NOT NULL, at_us INTEGER NOT NULL);
        CREATE INDEX facts_by_guid ON facts(guid);
        BEGIN
        """
    guard sqlite3_open(file.path, &database) == SQLITE_OK, sqlite3_exec(database, schema, nil, nil, nil) == SQLITE_OK,
        sqlite3_prepare_v2(database, "INSERT INTO facts VALUES (?, ?, ?, ?)", -1, &statement, nil) == SQLITE_OK
    else { throw WaybillError(.store, "The plain table cannot be made.") }
    var transactions: [Int64: GUID] = [:]
    for fact in facts {
        var (kind, code) = (1, 0)
        switch fact.content {
        case .opened(let content):
            (kind, code) = (0, content.useCase)
            transactions[fact.part] = content.transaction
        case .event(let content): code = content.code
        case .closed(let content): (kind, code) = (2, content.outcome.rawValue)
        case .attributesSet, .exchangeOpened, .exchangeClosed, .unknown:
            throw WaybillError(.store, "The plain table takes neither attributes nor exchanges.")
        }
        transactions[fact.part]?.withBytes { bytes in
            _ = sqlite3_bind_blob(
                statement, 1, bytes.baseAddress, 16, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        }
        for (index, value) in [Int64(kind), Int64(code), fact.atMicroseconds].enumerated() {
            sqlite3_bind_int64(statement, Int32(index + 2), value)
        }
        guard sqlite3_step(statement) == SQLITE_DONE else {
            throw WaybillError(.store, "The plain table did not take a row.")
        }
        sqlite3_reset(statement)
    }
    guard sqlite3_exec(database, "COMMIT", nil, nil, nil) == SQLITE_OK else {
        throw WaybillError(.store, "The plain table failed.")
    }
}

private func byteCount(of file: URL) throws -> Double {
    Double(try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
}
