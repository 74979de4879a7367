#if Collector
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading
import WaybillStore

/// Through a collector, whose answer is kept in a temporary file until it is whole.
struct CollectorExporter: Exporter {
    private let client: CollectorClient
    private let format: TextFormat

    init(_ client: CollectorClient, as format: TextFormat) {
        self.client = client
        self.format = format
    }

    func write(_ query: TransactionQuery, as format: ExportFormat, isCompressed: Bool?, to file: URL) async throws -> ExportSummary {
        try await withAnswer(query, after: nil) { answer, _ in
            let partial = try PartialFile(file)
            try copy(answer, isCompressed: isCompressed ?? file.endsInGzip, to: partial.write)
            try partial.finish()
            return ExportSummary(file: file, factCount: 0, byteCount: partial.byteCount)
        }
    }

    func print(_ query: TransactionQuery, as format: TextFormat, isCompressed: Bool) async throws {
        try await withAnswer(query, after: nil) { answer, _ in
            let output = try StandardOutput(isCompressed: false)
            try copy(answer, isCompressed: isCompressed, to: output.write)
        }
    }

    func add(to folder: URL, as format: TextFormat, isCompressed: Bool) async throws -> ExportSummary? {
        let folder = try IncrementalFolder(folder, suffix: format.suffix + (isCompressed ? ".gz" : ""))
        do {
            return try await withAnswer(after: folder.cursor) { answer, cursor in
                let partial = try folder.next()
                try copy(answer, isCompressed: isCompressed, to: partial.write)
                try folder.finish(partial, cursor: cursor)
                return ExportSummary(file: partial.file, factCount: 0, byteCount: partial.byteCount)
            }
        } catch let error as WaybillError where error.code == .notFound {
            return nil
        }
    }

    func forEachLine(
        of query: TransactionQuery, after cursor: String?, as format: TextFormat, _ body: @Sendable ([UInt8]) async throws -> Void
    ) async throws -> String {
        do {
            return try await withAnswer(query, after: cursor) { answer, next in
                let input = try FileHandle(forReadingFrom: answer)
                var rest: [UInt8] = []
                while let piece = try input.read(upToCount: TextExport.pieceByteCount), !piece.isEmpty {
                    let lines = (rest + piece).split(separator: 0x0A, omittingEmptySubsequences: false)
                    for line in lines.dropLast() { try await body(Array(line)) }
                    rest = lines.last.map(Array.init) ?? []
                }
                return next
            }
        } catch let error as WaybillError where error.code == .notFound {
            return cursor ?? ExportCursor().description
        }
    }

    /// Hands over the answer's file and the cursor behind it.
    private func withAnswer<Result>(
        _ transactions: TransactionQuery = TransactionQuery(), after cursor: String?, _ body: (URL, String) async throws -> Result
    ) async throws -> Result {
        var query = ExportQuery()
        query.format = format
        query.after = cursor
        query.filter = try transactions.expression()?.description
        let (answer, next) = try await client.download(query)
        defer { try? FileManager.default.removeItem(at: answer) }
        let length = try FileManager.default.attributesOfItem(atPath: answer.path)[.size] as? Int ?? 0
        guard length > format.header.count else {
            let what = query.filter == nil ? "nothing new" : "nothing that matches"
            throw WaybillError(.notFound, "Nothing was exported: the collector holds \(what).")
        }
        return try await body(answer, next)
    }

    private func copy(_ answer: URL, isCompressed: Bool, to write: ([UInt8]) throws -> Void) throws {
        let gzip = isCompressed ? try Gzip() : nil
        let input = try FileHandle(forReadingFrom: answer)
        while let piece = try input.read(upToCount: TextExport.pieceByteCount), !piece.isEmpty {
            try write(gzip?.compress(Array(piece)) ?? Array(piece))
        }
        if let gzip { try write(gzip.finish()) }
    }
}
#endif
