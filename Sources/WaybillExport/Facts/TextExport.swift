import Foundation
package import WaybillCore
package import WaybillQueries
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
    /// Reads on: some pieces; none after the last. Does something else meanwhile.
    private let read: (_ factCount: inout Int, _ meanwhile: () -> Void) throws(WaybillError) -> [[UInt8]]
    /// That were read and not handed over.
    private var ready: ArraySlice<[UInt8]> = []

    /// About how many bytes a piece has that one thread has read alone; where several read, it may have more.
    package static let pieceByteCount = 64 << 10

    fileprivate init<Rows: RowVisitor>(
        _ selection: ExportSelection, as rows: Rows.Type, redactor: Redactor, by connections: [Connection]
    ) throws(WaybillError) {
        cursor = selection.cursor
        connection = connections[0]
        var slices = try FactSlices<Rows>(selection, redactor: redactor, by: connections)
        var header: [UInt8]? = Rows.Format.header(ExportColumns.all)
        read = { count, meanwhile throws(WaybillError) in
            defer { header = nil }
            if let header, !header.isEmpty {
                meanwhile()
                return [header]
            }
            let pieces = try slices.read(meanwhile: meanwhile)
            count = slices.factCount
            return pieces
        }
    }

    fileprivate init(spansOf selection: ExportSelection, redactor: Redactor, _ reader: StoreReader) throws(WaybillError)
    {
        cursor = selection.cursor
        connection = reader.connection
        var scan = try SpanScan(selection, redactor: redactor, connection) { id throws(WaybillError) in
            try reader.clockAlignment(of: id)
        }
        var writer = SpanWriter(limit: Self.pieceByteCount)
        var hasMore = true
        read = { count, meanwhile throws(WaybillError) in
            meanwhile()
            guard hasMore else { return [] }
            hasMore = try scan.run(&writer)
            count = writer.factCount
            let line = writer.takeLine()
            return line.isEmpty ? [] : [line]
        }
    }

    /// The next piece, of whole lines; nil after the last.
    package func piece() throws(WaybillError) -> [UInt8]? {
        if ready.isEmpty {
            ready = try connection.transaction("BEGIN") { () throws(WaybillError) in try read(&factCount, {}) }[...]
        }
        return ready.popFirst()
    }

    /// Hands over all pieces, within one state of the store: some while the next are read.
    fileprivate func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
        var pieces = try read(&factCount, {})
        while !pieces.isEmpty {
            var handingOver = Swift.Result<Void, any Error>.success(())
            pieces = try read(&factCount) { handingOver = Swift.Result { try pieces.forEach(body) } }
            try handingOver.get()
        }
    }
}

extension StoreReader {
    /// Begins an export that is read in pieces; for scopes other than a filter's.
    ///
    /// - Throws: `.format` for a cursor of another store.
    package func export(_ scope: ExportScope, as format: TextFormat, redactor: Redactor = Redactor())
        throws(WaybillError) -> TextExport
    {
        try read { () throws(WaybillError) in
            try begin(scope, as: format, redactor, with: others(otherCount(for: scope, as: format)))
        }
    }

    /// Exports within one read of the store, piece by piece.
    ///
    /// - Parameter body: Takes a piece of whole rows; on another thread, where several read.
    /// - Returns: The export, at its end.
    @discardableResult
    package func export(
        _ scope: ExportScope, as format: TextFormat, redactor: Redactor, to body: ([UInt8]) throws -> Void
    ) throws -> TextExport {
        try read(withOthers: otherCount(for: scope, as: format)) { (others) throws(WaybillError) in
            Swift.Result {
                let export = try begin(scope, as: format, redactor, with: others)
                try export.forEachPiece(body)
                return export
            }
        }.get()
    }

    /// None for what one thread reads: transactions that are looked up, and spans.
    private func otherCount(for scope: ExportScope, as format: TextFormat) throws(WaybillError) -> Int {
        switch (scope, format) {
        case (.transactions, _), (.transaction, _), (_, .otlp): 0
        case (.everything, .ndjson), (.everything, .csv), (.after, .ndjson), (.after, .csv), (.since, .ndjson),
            (.since, .csv), (.quarantine, .ndjson), (.quarantine, .csv):
            try otherCount()
        }
    }

    private func begin(
        _ scope: ExportScope, as format: TextFormat, _ redactor: Redactor, with others: [Connection]
    ) throws(WaybillError) -> TextExport {
        let selection = try ExportSelector(connection: connection).selection(scope)
        switch format {
        case .ndjson:
            return try TextExport(selection, as: NDJSONRows.self, redactor: redactor, by: [connection] + others)
        case .csv: return try TextExport(selection, as: CSVRows.self, redactor: redactor, by: [connection] + others)
        case .otlp: return try TextExport(spansOf: selection, redactor: redactor, self)
        }
    }
}

/// An export that is read a piece at a time, with the connection that it reads from; confined to its thread.
final class StreamedExport {
    private var reader: StoreReader?
    private var export: TextExport?

    /// Decides what the export takes.
    ///
    /// - Returns: The cursor behind it.
    func begin(
        _ scope: ExportScope, as format: TextFormat, of place: ResolvedLocation, _ redactor: Redactor,
        until interruption: Interruption
    ) throws -> ExportCursor {
        let reader = try StoreReader(place)
        let export = try reader.reading(until: interruption) {
            try reader.export(scope, as: format, redactor: redactor)
        }
        (self.reader, self.export) = (reader, export)
        return export.cursor
    }

    /// The next piece; nil after the last.
    func piece(until interruption: Interruption) throws -> ExportStream.Piece? {
        guard let reader, let export else { return nil }
        let before = export.factCount
        return try reader.reading(until: interruption) { try export.piece() }
            .map { ExportStream.Piece(bytes: $0, factCount: export.factCount - before) }
    }
}

/// What `GET /v1/export` is asked for.
package struct ExportQuery: Sendable, Hashable {
    package var format = TextFormat.ndjson
    /// Received at or after this time; see ``TimeExpression``.
    package var since: String?
    /// The cursor of the export before.
    package var after: String?
    /// Only transactions that pass this ``FilterExpression``.
    package var filter: String?
    /// Only this transaction, by its ID.
    package var transaction: String?

    /// The header field of the answer that holds the cursor behind everything in it.
    package static let cursorField = "Waybill-Next-Cursor"

    package static let parameters = ["format", "since", "after", "filter", "transaction"]

    package init() {}

    /// Reads the parameters of a URL, decoded; where one is given twice, the last one counts.
    package init(_ items: [(name: String, value: String)]) throws(QueryFailure) {
        for item in items {
            switch item.name {
            case "format":
                guard let format = TextFormat(rawValue: item.value) else {
                    let formats = TextFormat.allCases.map(\.rawValue).joined(separator: ", ")
                    throw QueryFailure.parameter("format", "“\(item.value)” is no format. They are: \(formats).")
                }
                self.format = format
            case "since": since = item.value
            case "after": after = item.value
            case "filter": filter = item.value
            case "transaction": transaction = item.value
            default:
                throw .unknownParameter(item.name, among: Self.parameters)
            }
        }
    }

    /// The parameters, not percent-encoded.
    package var items: [(name: String, value: String)] {
        [("format", format.rawValue)]
            + [("since", since), ("after", after), ("filter", filter), ("transaction", transaction)]
            .compactMap { name, value in value.map { (name, $0) } }
    }

    /// The facts that are meant.
    ///
    /// - Parameter now: microseconds since 1970.
    package func facts(now: Int64) throws(QueryFailure) -> ExportedFacts {
        if let transaction {
            guard let id = GUID(transaction), since == nil, after == nil, filter == nil else {
                throw .parameter("transaction", "Give the whole ID of one transaction, and no other condition.")
            }
            return .transaction(id)
        }
        if let filter {
            guard since == nil, after == nil else {
                throw .parameter(
                    "filter",
                    "A filter goes with neither “since” nor “after”: what it left out would be left out for good. It has a since: of its own."
                )
            }
            return .of(ListRequest([.filter: filter]))
        }
        if let after {
            guard since == nil else {
                throw .parameter("since", "Give either “since” or “after”: a cursor goes on where an export ended.")
            }
            return .after(after)
        }
        guard let since else { return .after(ExportCursor().description) }
        guard let time = TimeExpression.microseconds(since, now: now) else {
            throw .parameter("since", "“\(since)” is no time: give \(TimeExpression.forms).")
        }
        return .since(Date(microseconds: time))
    }
}
