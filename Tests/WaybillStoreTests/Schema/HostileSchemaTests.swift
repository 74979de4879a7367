import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// A file that claims to be a store may come from anyone. Its schema is checked before any row is read, because a view
/// may run forever, and a trigger can do anything.
@Suite(.timeLimit(.minutes(5))) struct HostileSchemaTests {
    private let folder: TemporaryDirectory
    private let file: URL

    init() throws {
        folder = try TemporaryDirectory()
        file = folder.file("handed-over.sqlite")
        let app = FactWriter()
        app.close(app.open(GUID()), .failed)
        let store = try Store(.file(file))
        try app.record(into: store)
        try store.checkpoint()
    }

    private func change(_ script: String) throws {
        let connection = try Connection("file:\(file.path)", .readWrite, at: file.path)
        try connection.execute(script)
        try connection.checkpoint(.truncate)
    }

    private func error(_ body: () throws -> Void) -> WaybillError? {
        do {
            try body()
            return nil
        } catch { return error as? WaybillError }
    }

    private static let endless = "WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM n)"

    /// Breaks when such a file is read, or written to.
    @Test(arguments: [
        (
            "DROP TABLE names; CREATE VIEW names AS \(endless) SELECT x AS use_case, -1 AS event, '' AS app, '' AS app_version, '' AS name FROM n",
            "its view “names”"
        ),
        ("DROP TABLE names; CREATE VIEW NAMES AS \(endless) SELECT x AS use_case FROM n", "its view “NAMES”"),
        ("DROP TABLE quarantine; CREATE TABLE quarantine(source, sequence, reason, at_us)", "its table “quarantine”"),
        (
            "DROP TABLE events; CREATE TABLE events(source, part, after, at_us, code, detail AS (hex(zeroblob(500000000))), sequence)",
            "its table “events”"
        ),
        ("DROP TABLE names; CREATE VIRTUAL TABLE names USING fts5(name)", "its table “names”"),
        ("DROP VIEW timeline; CREATE TABLE timeline(label)", "its table “timeline”"),
        ("DROP INDEX parts_by_guid; CREATE INDEX parts_by_guid ON parts(hex(guid))", "its index “parts_by_guid”"),
        (
            "CREATE TRIGGER now_and_then AFTER INSERT ON parts BEGIN DELETE FROM events; END",
            "its trigger “now_and_then”"
        ),
        (
            "DROP TRIGGER bodies_go_with_their_exchange; CREATE TRIGGER bodies_go_with_their_exchange AFTER DELETE ON exchanges BEGIN DELETE FROM parts; END",
            "its trigger “bodies_go_with_their_exchange”"
        ),
        ("CREATE VIEW legacy_quarantine AS SELECT 1 AS id", "its view “legacy_quarantine”"),
        ("DROP TABLE names", "its table “names” is missing"),
        ("DROP VIEW ledgers", "its view “ledgers” is missing"),
        ("PRAGMA user_version = -1", "is not a Waybill store"),
        ("PRAGMA user_version = 0", "is not a Waybill store"),
    ])
    func aFileThatIsNotAsWeMakeItIsRefusedWithOneSentence(script: String, sentence: String) throws {
        try change(script)
        let bytes = try Data(contentsOf: file)
        for found in [error { _ = try StoreReader(.file(file)) }, error { _ = try Store(.file(file)) }] {
            #expect(found?.code == .damaged)
            #expect(found?.message.contains(sentence) == true, "\(found?.message ?? "it was opened")")
            #expect(found?.message.hasPrefix(file.path) == true)
        }
        #expect(try Data(contentsOf: file) == bytes, "nothing is written to it")
    }

    /// Breaks when people can't keep their own view, index or table beside ours, or gather statistics.
    @Test func whatPeopleAddUnderNamesOfTheirOwnIsLeftAlone() throws {
        try change(
            """
            CREATE VIEW mine AS \(Self.endless) SELECT x FROM n; CREATE TABLE notes(text); INSERT INTO notes VALUES ('mine');
            CREATE INDEX events_by_code ON events(code); ANALYZE
            """)
        let reader = try StoreReader(.file(file))
        #expect(try reader.all().count == 1)
        #expect(try reader.verify().isSound)
        _ = try Store(.file(file))
        let connection = try Connection("file:\(file.path)", .readOnly, at: file.path)
        #expect(try connection.integer("SELECT count(*) FROM notes") == 1)
    }

    /// Breaks when a file's schema can call functions that reach beyond it, or let statements write its inner tables.
    @Test func aConnectionTrustsNoSchema() throws {
        let connection = try Store.inMemory().0.connection
        #expect(try connection.integer("PRAGMA trusted_schema") == 0)
        #expect(try connection.integer("PRAGMA cell_size_check") == 1)
        try connection.execute("PRAGMA writable_schema = ON")
        #expect(throws: WaybillError.self) { try connection.execute("UPDATE sqlite_schema SET sql = ''") }
    }

    /// Breaks when the app's own store keeps its changed schema, and everything is recorded in memory from then on.
    @Test func anOwnStoreWhoseSchemaWasChangedIsMadeAnewFromItsRows() throws {
        try change(
            "DROP TABLE names; CREATE VIEW names AS \(Self.endless) SELECT x AS use_case, -1 AS event, '' AS app, '' AS app_version, '' AS name FROM n"
        )
        let damaged = StoreFile(path: file.path)
        let told = try Salvage.replace(
            damaged, damaged: damaged.identity, under: FileLock(of: damaged.path), at: 1_000_000)
        #expect(told?.message.contains("2 facts were taken over") == true, "\(told?.message ?? "nothing was done")")
        #expect(try StoreReader(.file(file)).all().count == 1)
    }
}
