package import WaybillCore
package import WaybillReading
package import WaybillStore

/// The formats that are lines of text; see `Schemas/README.md`.
public enum TextFormat: String, Sendable, CaseIterable {
    /// One fact a line, as a JSON object.
    case ndjson
    /// One fact a line, after a header line: RFC 4180.
    case csv
    /// Spans of OpenTelemetry: some dozens a line, which is a request of OTLP/HTTP in JSON.
    case otlp

    /// What stands before the first row; empty for none.
    public var header: [UInt8] {
        switch self {
        case .ndjson: NDJSONFormat.header(ExportColumns.all)
        case .csv: CSVFormat.header(ExportColumns.all)
        case .otlp: []
        }
    }

    /// What the names of its files end with; for OTLP the one of
    /// https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/.
    public var suffix: String {
        switch self {
        case .ndjson, .csv: rawValue
        case .otlp: "otlp.jsonl"
        }
    }

    /// RFC 4180 for CSV; NDJSON has none that is registered.
    public var mediaType: String {
        switch self {
        case .ndjson, .otlp: "application/x-ndjson"
        case .csv: "text/csv; charset=utf-8; header=present"
        }
    }
}

/// An export as text, in pieces: what it takes was decided when it began.
///
/// Confined to its reader's thread. No SQLite transaction is open between two pieces, so that a slow receiver holds up
/// no checkpoint.
package final class TextExport {
    /// Behind everything that this export takes.
    package let cursor: ExportCursor
    /// Facts in the pieces so far.
    package private(set) var factCount = 0

    private let connection: Connection
    private let next: (_ factCount: inout Int) throws(WaybillError) -> [UInt8]?

    /// About how many bytes a piece has.
    package static let pieceByteCount = 64 << 10

    fileprivate init<Rows: RowVisitor>(
        _ selection: ExportSelection, as rows: Rows.Type, redactor: Redactor, _ connection: Connection
    ) throws(WaybillError) {
        cursor = selection.cursor
        self.connection = connection
        var scan = try FactScan(selection.shares, isFiltered: selection.isFiltered, connection)
        var visitor = Rows(
            writer: ExportRowWriter(limit: Self.pieceByteCount, redactor: redactor, connection))
        var header: [UInt8]? = Rows.Format.header(ExportColumns.all)
        var hasMore = true
        next = { count throws(WaybillError) in
            defer { header = nil }
            if let header, !header.isEmpty { return header }
            while hasMore {
                visitor.writer.removeAll()
                hasMore = try scan.run(&visitor)
                count = visitor.writer.count
                if !visitor.writer.rows.bytes.isEmpty { return visitor.writer.rows.bytes }
            }
            return nil
        }
    }

    fileprivate init(spansOf selection: ExportSelection, redactor: Redactor, _ connection: Connection)
        throws(WaybillError)
    {
        cursor = selection.cursor
        self.connection = connection
        var scan = try SpanScan(selection, redactor: redactor, connection)
        var writer = SpanWriter(limit: Self.pieceByteCount)
        var hasMore = true
        next = { count throws(WaybillError) in
            guard hasMore else { return nil }
            hasMore = try scan.run(&writer)
            count = writer.factCount
            let line = writer.takeLine()
            return line.isEmpty ? nil : line
        }
    }

    /// The next piece, of whole lines; nil after the last.
    package func piece() throws(WaybillError) -> [UInt8]? {
        try connection.transaction("BEGIN") { () throws(WaybillError) in try next(&factCount) }
    }

    /// Hands over all pieces, within one state of the store.
    fileprivate func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
        while let piece = try next(&factCount) { try body(piece) }
    }
}

extension StoreReader {
    /// Begins an export that is read in pieces; for scopes other than a filter's.
    ///
    /// - Throws: `.format` for a cursor of another store.
    package func export(_ scope: ExportScope, as format: TextFormat, redactor: Redactor = Redactor())
        throws(WaybillError) -> TextExport
    {
        try read { () throws(WaybillError) in try begin(scope, as: format, redactor) }
    }

    /// Exports within one read of the store, piece by piece.
    ///
    /// - Parameter body: Takes a piece of whole rows of about ``TextExport/pieceByteCount`` bytes.
    /// - Returns: The export, at its end.
    @discardableResult
    package func export(
        _ scope: ExportScope, as format: TextFormat, redactor: Redactor, to body: ([UInt8]) throws -> Void
    ) throws -> TextExport {
        try reading {
            let export = try begin(scope, as: format, redactor)
            try export.forEachPiece(body)
            return export
        }
    }

    private func begin(_ scope: ExportScope, as format: TextFormat, _ redactor: Redactor) throws(WaybillError)
        -> TextExport
    {
        let selection = try ExportSelector(connection: connection).selection(scope)
        switch format {
        case .ndjson: return try TextExport(selection, as: NDJSONRows.self, redactor: redactor, connection)
        case .csv: return try TextExport(selection, as: CSVRows.self, redactor: redactor, connection)
        case .otlp: return try TextExport(spansOf: selection, redactor: redactor, connection)
        }
    }
}
