#if Collector
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillStore

/// Exports facts: from a store at hand, or through a collector.
protocol Exporter: LineSource {
    /// Into one file.
    func write(_ query: TransactionQuery, as format: ExportFormat, isCompressed: Bool?, to file: URL) async throws -> ExportSummary
    /// To standard output.
    func print(_ query: TransactionQuery, as format: TextFormat, isCompressed: Bool) async throws
    /// What is new into one more file of a folder; nil where nothing is.
    func add(to folder: URL, as format: TextFormat, isCompressed: Bool) async throws -> ExportSummary?
}

/// Of a store at hand.
struct StoreExporter: Exporter {
    private let place: ResolvedLocation
    private let queries: StoreQueries

    init(_ place: ResolvedLocation) async throws {
        self.place = place
        queries = try StoreQueries(place, clock: CommandClock.current)
        for warning in await queries.warnings() { Terminal.warn(warning) }
    }

    func write(_ query: TransactionQuery, as format: ExportFormat, isCompressed: Bool?, to file: URL) async throws -> ExportSummary {
        let scope = try await queries.exportScope(query)
        let export = try FileExport(as: format, to: file, isCompressed: isCompressed)
        let now = CommandClock.current.wallMicroseconds()
        return try await queries.read { reader in try export.run(scope, of: reader, to: file, now: now) }
    }

    func print(_ query: TransactionQuery, as format: TextFormat, isCompressed: Bool) async throws {
        let scope = try await queries.exportScope(query)
        try await queries.read { reader in
            let output = try StandardOutput(isCompressed: isCompressed)
            // Nothing but a header would look like an answer.
            var waiting: [UInt8] = format.header
            let export = try reader.export(scope, as: format, redactor: Redactor()) { piece in
                guard piece != format.header else { return }
                try output.write(waiting + piece)
                waiting = []
            }
            guard export.factCount > 0 else { throw try reader.nothingToExport(scope, as: format) }
            try output.finish()
        }
    }

    func add(to folder: URL, as format: TextFormat, isCompressed: Bool) async throws -> ExportSummary? {
        let export = IncrementalExport(as: format, isCompressed: isCompressed)
        return try await queries.read { reader in
            try export.run(of: reader, into: IncrementalFolder(folder, suffix: export.suffix))
        }
    }
}

extension StoreExporter {
    func forEachLine(
        of query: TransactionQuery, after cursor: String?, as format: TextFormat, _ body: @Sendable ([UInt8]) async throws -> Void
    ) async throws -> String {
        try await StoreLines(place, queries).forEachLine(of: query, after: cursor, as: format, body)
    }
}

/// Standard output, compressed or not.
final class StandardOutput {
    private let gzip: Gzip?

    init(isCompressed: Bool) throws { gzip = isCompressed ? try Gzip() : nil }

    func write(_ bytes: [UInt8]) throws { try put(gzip?.compress(bytes) ?? bytes) }

    func finish() throws { if let gzip { try put(gzip.finish()) } }

    private func put(_ bytes: [UInt8]) throws {
        do {
            try DurableFile.write(bytes, to: STDOUT_FILENO)
        } catch {
            throw WaybillError(.setting, "Standard output cannot be written.", cause: "\(error)")
        }
    }
}
#endif
