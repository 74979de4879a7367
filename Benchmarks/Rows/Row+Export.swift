import CWaybillSQLite
import Foundation
import TestSupport
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillStore

extension Row {
    /// A million events exported from a store, as JSON lines in a synced file.
    static let exportNDJSON = Row("exportNDJSON", unit: "events/s", against: "bare scan, bare write") {
        try ExportSample.measure(.ndjson)
    }

    /// The same as CSV.
    static let exportCSV = Row("exportCSV", unit: "events/s", against: "bare scan, bare write") {
        try ExportSample.measure(.csv)
    }

    /// The peak memory of the process while it exports, after it has opened the store.
    static let exportMemory = Row("exportMemory", unit: "MB peak", against: "before the export") {
        let sample = try ExportSample()
        try PeakMemory.reset()
        let before = PeakMemory.megabytes()
        _ = try sample.export(.ndjson)
        return Comparison(value: PeakMemory.megabytes(), baseline: before)
    }
}

/// A store of a million events in transactions of 20.
private final class ExportSample {
    private static let eventCount = 1_000_000
    private static let roundCount = 5

    private let folder = TemporaryDirectory.place()
    private let reader: StoreReader

    init() throws {
        let source = SourceIdentity(
            id: GUID(), installation: GUID(), app: "com.example.shop", appVersion: "4.2.0", device: "iPhone17,1",
            os: "iOS",
            osVersion: "18.5")
        let store = try Store(.folder(folder))
        try store.register(source)
        let names =
            [RecordedName(useCase: 0, name: "login")]
            + (1...20).map { code in RecordedName(useCase: 0, event: code, name: "event\(code as Int)") }
        let clocks = [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 1_760_518_800_000_000)]
        // Of 22 facts, 20 are events.
        for batch in Interleaved.batches(Self.eventCount * 22 / 20 / 5_000, of: 5_000) {
            try store.append(RecordedBatch(source: source.id, facts: batch, names: names, clocks: clocks))
        }
        try store.checkpoint()
        reader = try StoreReader(.folder(folder))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static func measure(_ format: ExportFormat) throws -> Comparison {
        let sample = try ExportSample()
        var values: [Double] = []
        var baselines: [Double] = []
        for _ in 0..<roundCount {
            let start = ContinuousClock.now
            let file = try sample.export(format)
            let middle = ContinuousClock.now
            try sample.scanAndWrite(byteCount: file.byteCount)
            let end = ContinuousClock.now
            values.append(Double(eventCount) / ((middle - start) / .seconds(1)))
            baselines.append(Double(eventCount) / ((end - middle) / .seconds(1)))
        }
        return Comparison(value: values.median, baseline: baselines.median)
    }

    func export(_ format: ExportFormat) throws -> ExportSummary {
        let file = folder.appending(path: "export.\(format.rawValue)")
        return try FileExport(as: format, to: file).run(.everything, of: reader, to: file, now: 0)
    }

    /// Does the minimum of work: SQLite steps over every row, and as many bytes are written to a synced file.
    private func scanAndWrite(byteCount: Int64) throws {
        var database: OpaquePointer?
        var statement: OpaquePointer?
        let path = folder.appending(path: "waybill.sqlite").path(percentEncoded: false)
        sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nil)
        sqlite3_prepare_v2(database, "SELECT part, after, at_us, code, detail FROM events", -1, &statement, nil)
        var count = 0
        while sqlite3_step(statement) == SQLITE_ROW { count += Int(sqlite3_column_int64(statement, 3)) & 1 }
        sqlite3_finalize(statement)
        sqlite3_close(database)
        guard count > 0 else { throw WaybillError(.store, "The bare scan has found nothing.") }

        let file = try PartialFile(folder.appending(path: "bare"))
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: TextExport.pieceByteCount)
        while file.byteCount < byteCount { try file.write(piece) }
        try file.finish()
    }
}
