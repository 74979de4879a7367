import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillExport
@testable import WaybillQueries
@testable import WaybillStore

/// Events with only a code are written to a file by a faster path than all other facts.
@Suite(.timeLimit(.minutes(5))) struct EventLineTests {
    /// Breaks when the two paths write different columns, when a source, a part or a use case keeps the previous one's
    /// name, or when an export does not continue after a piece that ends within a part.
    @Test(arguments: seeds(0..<24)) func anEventIsWrittenAsAnyOtherFact(seed: Int) throws {
        var maker = HistoryMaker(seed: seed)
        let histories = maker.histories()
        let (store, place) = try Store.inMemory()
        var sets = SetMaker(random: maker.random)
        for set in sets.sets(of: histories) { try store.ingest(set) }
        let reader = try StoreReader(place)
        for limit in [1, 2_000, .max] {
            try expectSame(NDJSONFormat.self, reader, limit: limit)
            try expectSame(CSVFormat.self, reader, limit: limit)
        }
    }

    /// Breaks when a code beyond those that are looked up by index gets the name of another code, or of the same code
    /// in another use case.
    @Test func namesGoWithTheirUseCaseAndVersion() throws {
        let (store, place) = try Store.inMemory()
        for version in 0..<2 {
            let writer = FactWriter()
            writer.source.appVersion = "\(version)"
            let codes = [0, 1, 63, 64, 70_000]
            for useCase in 0..<2 {
                writer.names += codes.map {
                    RecordedName(useCase: useCase, event: $0, name: "case \(useCase), event \($0), \"\(version)\"")
                }
            }
            let parts = (0..<4).map { writer.open(GUID(), useCase: $0 % 3) }
            for code in codes + [5, 65] { for part in parts { writer.event(code, part: part) } }
            try store.ingest(writer.set())
        }
        let reader = try StoreReader(place)
        try expectSame(NDJSONFormat.self, reader, limit: .max)
        try expectSame(CSVFormat.self, reader, limit: 500)
        let text = try reader.text(.everything, .ndjson)
        #expect(text.contains(#""code":70000,"name":"case 1, event 70000, \"1\"""#))
        #expect(text.contains(#""code":5,"name":"event 5""#))
    }

    private func expectSame<Format: RowFormat>(_ format: Format.Type, _ reader: StoreReader, limit: Int) throws {
        let redactor = Redactor()
        var short = ExportRowWriter<Format>(limit: limit, redactor: redactor, reader.connection)
        var long = FactByFact(writer: ExportRowWriter<Format>(limit: limit, redactor: redactor, reader.connection))
        let shares = try ExportSelector(connection: reader.connection).selection(.everything).shares
        var scans = try (
            FactScan(shares, isFiltered: false, reader.connection),
            FactScan(shares, isFiltered: false, reader.connection)
        )
        try eventually("the facts end") {
            let isMore = try scans.0.run(&short)
            #expect(try scans.1.run(&long) == isMore)
            #expect(
                String(decoding: short.rows.bytes, as: UTF8.self)
                    == String(decoding: long.writer.rows.bytes, as: UTF8.self))
            short.removeAll()
            long.writer.removeAll()
            return !isMore
        }
        #expect(short.count == long.writer.count)
        #expect(try short.count > 0 || reader.verify().factCount == 0, "some histories have no fact")
    }
}

/// Visits every event as a general fact.
private struct FactByFact<Format: RowFormat>: FactVisitor {
    var writer: ExportRowWriter<Format>
    var isFull: Bool { writer.isFull }

    mutating func enter(_ source: ScannedSource) { writer.enter(source) }
    mutating func enter(_ part: ScannedPart) { writer.enter(part) }
    mutating func visit(_ fact: Fact, closing opening: Fact?) throws(WaybillError) {
        try writer.visit(fact, closing: opening)
    }
}
