import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillInspector
import WaybillQueries
import WaybillStore

/// A store file from somebody else may have any number in any column. Adding two of them must not end the reader's
/// program.
@Suite(.timeLimit(.minutes(15))) struct HostileNumbersTests {
    private let folder: TemporaryDirectory
    private let history = LoginHistory()

    init() throws { folder = try TemporaryDirectory() }

    private func connect(_ file: URL) throws -> Connection {
        try Connection(file.path(percentEncoded: false), .readWrite, at: "the test's store")
    }

    /// Writes a file with a login of two sources, and with dropped and rejected facts.
    private func sample() async throws -> URL {
        let store = try SQLiteStore(making: "waybill", in: folder.file("sample"))
        _ = try await store.add(ReceivedSet(history.clientSet(), received: .now))
        _ = try await store.add(ReceivedSet(history.serverSet(), received: .now))
        let file = folder.file("sample/waybill.sqlite")
        let connection = try connect(file)
        try connection.execute(
            "INSERT INTO dropped VALUES (1, 100, 110, 'age'); INSERT INTO quarantine VALUES (1, 2, 'no', 0)")
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return file
    }

    private var paths: [String] {
        let one = "/transactions/\(history.transaction)"
        let files = ["", "/json", "/har", "/html", "/otlp"].map { one + $0 }
        let sources = [history.client.id, history.server.id].map { "/sources/\($0)" }
        return [
            "/transactions", "/transactions?q=duration%3A%3E1ms", "/network", "/network?q=status%3A401", "/endpoints",
            "/endpoints?sort=errors", "/endpoint?role=client&method=POST&host=api.example.com&path=%2Flogin",
            "/use-cases",
            "/use-cases/0", "/use-cases/0/compare?by=variant", "/use-cases.csv", "/errors", "/errors.csv?sort=new",
            "/sources", "/delivery", "/terms",
            "/beside?a=\(history.transaction)&b=\(history.transaction)",
        ] + files + sources
    }

    /// Breaks when the sum of two numbers of a file overflows, which ends the program.
    @Test func anyNumberInAnyColumnIsShownOrRefused() async throws {
        let sample = try await sample()
        let connection = try connect(sample)
        let columns = try connection.statement(
            """
            SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c \
            WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.type = 'INTEGER'
            """
        ).rows { row in (table: row.text(0), column: row.text(1)) }
        #expect(columns.count > 60)
        for (table, column) in columns {
            guard try connection.integer("SELECT count(*) FROM \(table)") > 0 else { continue }
            for number in [Int.min, Int.max] {
                let file = folder.file("\(table).\(column).\(number).sqlite")
                try FileManager.default.copyItem(at: sample, to: file)
                try connect(file).execute("UPDATE OR REPLACE \(table) SET \(column) = \(number)")
                try await look(at: file)
                try FileManager.default.removeItem(at: file)
            }
        }
    }

    private func look(at file: URL) async throws {
        let inspector = try Inspector(file: file)
        for path in paths {
            let parts = path.split(separator: "?").map(String.init)
            let response = await inspector.respond(
                to: InspectorRequest(
                    path: parts[0], query: parts.dropFirst().first ?? "", fields: ["host": "localhost"]))
            #expect((200..<600).contains(response.status), "\(file.lastPathComponent) \(path)")
        }
        _ = try? await SQLiteStore(file).verify()
    }
}
