import Foundation
import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillExport
@testable import WaybillQueries
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct ExportTests {
    /// Breaks when exports differ from the published ones. `RENEW_EXAMPLES=1` writes these anew.
    @Test(
        arguments: [
            "every-kind-and-member", "login-from-client-and-server", "exchange-transfer", "errors-with-names",
            "websocket", "parent-and-child", "attributes-set", "unknown-kind",
        ],
        TextFormat.allCases)
    func theGoldenSetsAreExportedAsPublished(name: String, format: TextFormat) throws {
        let examples = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Schemas/examples")
            .standardizedFileURL
        let (store, place) = try Store.inMemory()
        try store.ingest(
            try TransactionSet.decode(Array(Data(contentsOf: examples.appending(path: "valid/\(name).json")))))
        let file = examples.appending(path: "export/\(name).v1.\(format.suffix)")
        let made = try StoreReader(place).text(.everything, format)
        if ProcessInfo.processInfo.environment["RENEW_EXAMPLES"] != nil { try Data(made.utf8).write(to: file) }
        #expect(try made == String(contentsOf: file, encoding: .utf8))
    }

    /// Breaks when a fact of an unknown kind is not counted, is mistaken for an event, or is not shown.
    @Test func anUnknownKindIsCountedAndShownAsUnknown() throws {
        let example = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Schemas/examples/valid/unknown-kind.json").standardizedFileURL
        let decoded = try TransactionSet.decode(Array(Data(contentsOf: example)))
        let (store, place) = try Store.inMemory()
        #expect(try store.ingest(decoded).acceptedCount == 4)
        #expect(try store.ingest(decoded).knownCount == 4)
        let reader = try StoreReader(place)
        let record = try #require(try reader.transaction(reader.all()[0].id, now: FactWriter.wall))
        #expect(record.timeline.map(\.kind) == [.begun, .unknown, .unknown, .finished])
        #expect(record.timeline.map(\.label) == ["begun", "measured", "paused", "succeeded"])
        #expect(record.summary.eventCount == 0)
        #expect(try reader.verify().isSound)
        try store.connection.execute("PRAGMA trusted_schema = ON")  // as in a person's shell
        #expect(
            try store.connection.integer("SELECT count(*) FROM timeline WHERE kind = 'unknown' AND label = 'paused'")
                == 1)
    }

    /// Breaks when many sources of an app with many names become one set that no collector accepts and no memory holds.
    @Test func setsOfManySourcesHaveNoMoreBesideTheirFactsThanASetMay() throws {
        let (store, place) = try Store.inMemory()
        let (sourceCount, nameCount) = (60, 1_000)
        for _ in 0..<sourceCount {
            let app = FactWriter()
            app.names = (0..<nameCount).map { RecordedName(useCase: 0, event: $0, name: "event \($0)") }
            app.open(GUID())
            try store.ingest(app.set())
        }
        var factCount = 0
        try StoreReader(place).export(.everything, redactor: Redactor()) { set in
            let read = try TransactionSet.decode(set.encoded())
            #expect(read.rejections.isEmpty && read.sources.allSatisfy { $0.names.count == nameCount })
            factCount += read.factCount
        }
        #expect(factCount == sourceCount)
    }

    /// Random histories, delivered in random order. An export contains the facts of the rows, each exactly once.
    @Test(arguments: seeds(0..<40)) func everyFactIsExportedOnce(seed: Int) throws {
        var maker = HistoryMaker(seed: seed)
        let histories = maker.histories()
        let (store, place) = try Store.inMemory()
        var sets = SetMaker(random: maker.random)
        for set in sets.sets(of: histories) { try store.ingest(set) }
        let expected = Set(
            histories.flatMap { history in
                history.sentFacts.map { FactID(source: history.source.id, sequence: $0.sequence) }
            })
        let lines = try StoreReader(place).lines(.everything)
        #expect(lines.count == expected.count)
        #expect(Set(lines.map(\.id)) == expected)
    }

    /// Exports the same in several runs between the arrivals. Each run continues after the previous one.
    @Test(arguments: seeds(40..<80)) func runsGoOnWhereTheOneBeforeEnded(seed: Int) throws {
        var maker = HistoryMaker(seed: seed)
        let histories = maker.histories()
        let own = FactWriter()
        let part = own.open(GUID())
        for code in 0..<20 { own.event(code, part: part) }
        let (store, place) = try Store.inMemory()
        try store.register(own.source)
        let reader = try StoreReader(place)
        var sets = SetMaker(random: maker.random)
        var cursor = ExportCursor()
        var found: [FactID] = []
        var recorded = 0
        for set in sets.sets(of: histories) + [TransactionSet(id: GUID(), sources: [])] {
            if maker.random.oneIn(2) {
                let export = try reader.export(
                    .after(ExportCursor(cursor.description)), as: .ndjson, redactor: Redactor()
                ) {
                    found += try Line.lines($0).map(\.id)
                }
                cursor = export.cursor
            }
            try store.ingest(set)
            try store.append(RecordedBatch(source: own.id, facts: [own.facts[recorded]], names: [], clocks: own.clocks))
            recorded = min(recorded + 1, own.facts.count - 1)
        }
        found += try reader.lines(.after(cursor)).map(\.id)
        #expect(found.count == Set(found).count)
        #expect(Set(found) == Set(try reader.lines(.everything).map(\.id)))
    }

    @Test func anExportInPiecesTakesWhatWasThereWhenItBegan() throws {
        let writer = FactWriter()
        for _ in 0..<300 {
            let part = writer.open(GUID())
            for code in 0..<5 {
                writer.event(code, part: part, attributes: ["note": "a rather long text, so that there are pieces"])
            }
            let exchange = writer.openExchange(part: part)
            writer.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed, status: 200), part: part)
            writer.close(part, .succeeded)
        }
        let (store, place) = try Store.inMemory()
        try store.ingest(writer.set(1...2_000))
        let export = try StoreReader(place).export(.after(ExportCursor()), as: .ndjson)
        var pieces: [[UInt8]] = []
        try eventually("the last piece comes") {
            guard let piece = try export.piece() else { return true }
            pieces.append(piece)
            // This would block if a transaction were open.
            if pieces.count == 2 { try store.ingest(writer.set(2_001...2_700)) }
            return false
        }
        #expect(pieces.count > 5)
        #expect(pieces.allSatisfy { $0.count < TextExport.pieceByteCount + 4_096 && $0.last == 0x0A })
        let ids = try pieces.flatMap(Line.lines).map(\.id.sequence)
        #expect(ids.count == 2_000 && Set(ids) == Set(1...2_000))
        #expect(export.factCount == 2_000)
        #expect(try StoreReader(place).lines(.after(export.cursor)).map(\.id.sequence).sorted() == Array(2_001...2_700))
    }

    @Test func aFilterTakesWholeTransactionsAndNothingOutsideThem() throws {
        let writer = FactWriter()
        let (wanted, other) = (GUID(), GUID())
        let part = writer.open(wanted)
        writer.event(1, part: part)
        writer.close(writer.open(other), .failed)
        writer.openExchange(part: 0)
        writer.close(part, .succeeded)
        let (store, place) = try Store.inMemory()
        try writer.record(into: store)
        var filter = TransactionFilter([.outcome([.succeeded])])
        let reader = try StoreReader(place)
        let lines = try reader.lines(.transactions(filter, now: FactWriter.wall))
        #expect(lines.map(\.id.sequence) == [1, 2, 6])
        filter.conditions = [.outcome([.failed])]
        #expect(try reader.lines(.transactions(filter, now: FactWriter.wall)).map(\.id.sequence) == [3, 4])
        #expect(try reader.lines(.everything).count == 6)
    }

    @Test func sinceGoesByArrivalAndForOwnFactsByTime() throws {
        let (own, other) = (FactWriter("own"), FactWriter("other"))
        let part = own.open(GUID(), at: 0)
        own.event(1, part: part, at: 100)
        other.event(1, part: other.open(GUID(), at: 0), at: 1)
        let (store, place) = try Store.inMemory()
        try own.record(into: store)
        _ = try store.ingest(other.set(1...1), receivedAt: FactWriter.wall + 10_000_000)
        _ = try store.ingest(other.set(2...2), receivedAt: FactWriter.wall + 50_000_000)
        let lines = try StoreReader(place).lines(.since(FactWriter.wall + 50_000_000))
        #expect(Set(lines.map(\.id)) == [FactID(source: own.id, sequence: 2), FactID(source: other.id, sequence: 2)])
    }

    /// Breaks when a column, a span or a name is exported as it was recorded. Without redaction, each of them would be
    /// found.
    @Test func secretsThatWereRecordedBeforeDoNotLeave() throws {
        let writer = FactWriter()
        writer.source.attributes = ["build_token": "hunter2"]
        writer.source.app = "Bearer hunter2-of-app"
        writer.names = [
            RecordedName(useCase: 0, name: "Bearer hunter2-of-case"),
            RecordedName(useCase: 0, event: 1, name: "Bearer hunter2-of-event"),
        ]
        let part = writer.open(GUID(), attributes: ["password": "hunter2"])
        writer.event(
            1, part: part, error: RecordedError(domain: "d", code: 1, text: "password=hunter2"),
            attributes: ["x": "Bearer hunter2"])
        let exchange = writer.openExchange(
            Fact.ExchangeOpened(
                method: "GET", host: "api.example.com", path: "/a/Bearer%20hunter2", query: "token=hunter2",
                headerFields: [HeaderField(name: "Cookie", value: "hunter2")]), part: part)
        writer.closeExchange(
            Fact.ExchangeClosed(
                exchange: exchange, state: .failed,
                headerFields: [HeaderField(name: "Set-Cookie", value: "hunter2")],
                error: RecordedError(domain: "d", code: 2, text: "Bearer hunter2-of-exchange")), part: part)
        writer.close(part, .failed, error: RecordedError(domain: "d", code: 3, text: "Bearer hunter2-of-part"))
        let (store, place) = try Store.inMemory()
        try store.ingest(writer.set())
        let reader = try StoreReader(place)
        for format in TextFormat.allCases {
            let text = try reader.text(.everything, format)
            #expect(!text.contains("hunter2") && text.contains(Redactor.placeholder))
            let raw = try reader.text(.everything, format, redactor: .off)
            for place in ["app", "case", "event", "exchange", "part"] {
                #expect(raw.contains("hunter2-of-\(place)"), "\(format): \(place)")
            }
        }
        try reader.export(.everything, redactor: Redactor()) { set in
            #expect(!String(decoding: set.encoded(), as: UTF8.self).contains("hunter2"))
        }
    }

    @Test func aCursorOfAnotherStoreIsRefused() throws {
        let writer = FactWriter()
        writer.open(GUID())
        let (store, place) = try Store.inMemory()
        try store.ingest(writer.set())
        let reader = try StoreReader(place)
        let cursor = try reader.export(.everything, as: .ndjson).cursor
        #expect(cursor.arrival == 1)
        for text in ["2", "1~\(GUID()).7~", "", "x", "-1", "1~\(GUID())"] {
            #expect(throws: WaybillError.self) { try reader.export(.after(ExportCursor(text)), as: .ndjson) }
        }
        try FactWriter("own").record(into: store)
        #expect(try reader.lines(.after(cursor)).isEmpty)
    }

    @Test func aCellIsQuotedOnlyWhereItMustBe() {
        var row = CSVFormat()
        row.beginRow([])
        for value in ["plain", "a,b", "say \"hi\"", "two\r\nlines", "", nil, "=1+1"] { row.text("x", value) }
        row.integer("n", -17)
        row.bool("b", false)
        row.attributes("a", ["k": "v"])
        row.endRow()
        #expect(
            String(decoding: row.bytes, as: UTF8.self)
                == "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\r\nlines\",\"\",,'=1+1,-17,false,\"{\"\"k\"\":\"\"v\"\"}\"\r\n"
        )
    }
}

/// The members of an export line that the tests check.
struct Line: Decodable {
    var source: GUID
    var sequence: Int64
    var id: FactID { FactID(source: source, sequence: sequence) }

    static func lines(_ piece: [UInt8]) throws -> [Line] {
        try piece.split(separator: 0x0A).map { try JSONDecoder().decode(Line.self, from: Data($0)) }
    }
}

extension StoreReader {
    func text(_ scope: ExportScope, _ format: TextFormat, redactor: Redactor = Redactor()) throws -> String {
        var bytes: [UInt8] = []
        try export(scope, as: format, redactor: redactor) { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    func lines(_ scope: ExportScope) throws -> [Line] { try Line.lines(Array(text(scope, .ndjson).utf8)) }
}
