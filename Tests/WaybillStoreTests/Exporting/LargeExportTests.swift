import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillExport
@testable import WaybillQueries
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct LargeExportTests {
    /// Breaks when an export that several threads read lacks a fact, or contains one twice.
    @Test func aLargeStoreIsExportedWithAllFacts() throws {
        let folder = try TemporaryDirectory()
        let store = try Store(.folder(folder.url))
        let factCount = 12_000
        for _ in 0..<10 {
            let app = FactWriter()
            while app.facts.count < factCount / 10 {
                let part = app.open(GUID())
                for code in 0..<9 { app.event(code, part: part, attributes: ["note": "x"]) }
            }
            try store.ingest(app.set())
        }
        // Adds bodies, which an export does not read, because the file size decides whether a store is large.
        let body = try store.connection.statement(
            """
            INSERT INTO bodies(source, exchange, direction, piece, kept_bytes, bytes) \
            VALUES (1, ?, 0, 0, 65536, zeroblob(65536))
            """)
        for exchange in 0..<150 { try body.run(exchange) }
        let reader = try StoreReader(.folder(folder.url))
        try #require(reader.byteCount() >= 8 << 20, "It is read by one thread: make it larger.")
        func bytes(_ scope: ExportScope) throws -> [UInt8] {
            var bytes: [UInt8] = []
            let export = try reader.export(scope, as: .ndjson, redactor: Redactor()) { bytes += $0 }
            #expect(export.factCount == factCount)
            return bytes
        }
        // One thread reads chosen transactions.
        let chosen = try bytes(.transactions(TransactionFilter(), now: 0))
        #expect(try bytes(.everything) == chosen)
        // Exports the same in pieces on request.
        let export = try reader.export(.everything, as: .ndjson)
        var pieces: [UInt8] = []
        while let piece = try export.piece() { pieces += piece }
        #expect(pieces == chosen)
    }
}
