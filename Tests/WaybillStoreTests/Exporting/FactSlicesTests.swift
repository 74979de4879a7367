import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillExport
@testable import WaybillQueries
@testable import WaybillStore

/// Several threads, each with its connection, read a large export.
@Suite(.timeLimit(.minutes(5))) struct FactSlicesTests {
    /// Breaks when a fact at the edge of a slice is missing or duplicated, when rows are in another order, or when a
    /// slice of more than a piece is cut off.
    @Test(arguments: seeds(1_600..<1_640)) func slicesGiveTheRowsOfTheWhole(seed: Int) throws {
        var maker = HistoryMaker(seed: seed)
        let (store, place) = try Store.inMemory()
        var sets = SetMaker(random: maker.random)
        let all = sets.sets(of: maker.histories())
        var cursors = [ExportCursor()]
        let reader = try StoreReader(place)
        for (index, set) in all.enumerated() {
            try store.ingest(set)
            if index == all.count / 2 { cursors.append(try selection(.everything, by: reader).cursor) }
        }
        let connections = try [reader.connection] + (0..<2).map { _ in try reader.connection.another() }
        for scope in [.everything] + cursors.map({ ExportScope.after($0) }) {
            let selection = try selection(scope, by: reader)
            let whole = try rows(
                FactSlices<NDJSONRows>(selection, redactor: Redactor(), by: [reader.connection]), reader)
            for (partCount, limit) in [(1, 1), (2, 3_000), (7, 100_000)] {
                let sliced = try rows(
                    FactSlices<NDJSONRows>(
                        selection, redactor: Redactor(), by: connections, ofParts: Int64(partCount), limit: limit),
                    reader)
                #expect(sliced.bytes == whole.bytes, "seed \(seed): \(scope), \(partCount) parts, \(limit) bytes")
                #expect(sliced.factCount == whole.factCount)
            }
        }
    }

    private func selection(_ scope: ExportScope, by reader: StoreReader) throws -> ExportSelection {
        try reader.read { () throws(WaybillError) in
            try ExportSelector(connection: reader.connection).selection(scope)
        }
    }

    private func rows(_ slices: FactSlices<NDJSONRows>, _ reader: StoreReader) throws -> (
        bytes: [UInt8], factCount: Int
    ) {
        var slices = slices
        var bytes: [UInt8] = []
        var pieces = try slices.read()
        while !pieces.isEmpty {
            bytes += pieces.joined()
            pieces = try slices.read()
        }
        return (bytes, slices.factCount)
    }
}
