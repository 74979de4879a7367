#if Collector
import WaybillCore
package import WaybillExport
import WaybillReading
package import WaybillStore

/// Hands over an export line by line.
package protocol LineSource: Sendable {
    /// Hands over each line, and waits until it is taken.
    ///
    /// - Parameter cursor: What the export before returned; nil: all that the query means.
    /// - Returns: The cursor behind it.
    func forEachLine(
        of query: TransactionQuery, after cursor: String?, as format: TextFormat, _ body: @Sendable ([UInt8]) async throws -> Void
    ) async throws -> String
}

/// Of a store at hand.
package struct StoreLines: LineSource {
    private let place: ResolvedLocation
    private let queries: StoreQueries

    /// - Parameter queries: Of the same store.
    package init(_ place: ResolvedLocation, _ queries: StoreQueries) {
        self.place = place
        self.queries = queries
    }

    package func forEachLine(
        of query: TransactionQuery, after cursor: String?, as format: TextFormat, _ body: @Sendable ([UInt8]) async throws -> Void
    ) async throws -> String {
        let scope: ExportScope
        if let cursor { scope = .after(try ExportCursor(cursor)) } else { scope = try await queries.exportScope(query) }
        let place = place
        let thread = StoreThread(label: "waybill.export") { StreamedExport() }
        let next = try await thread.run { export throws(WaybillError) in try export.begin(scope, as: format, of: place, isCompressed: false)
        }
        while let piece = try await thread.run({ export throws(WaybillError) in try export.piece() }) {
            for line in piece.split(separator: 0x0A) { try await body(Array(line)) }
        }
        return next.description
    }
}
#endif
