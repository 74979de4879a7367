import Foundation
package import WaybillCore
package import WaybillQueries
package import WaybillStore

/// A text format of exports, described in `Schemas/README.md`.
package enum TextFormat: String, Sendable, CaseIterable {
    case ndjson
    /// A header line, then one line per fact (RFC 4180).
    case csv
    /// OpenTelemetry spans: each line is an OTLP/HTTP request in JSON with some dozens of spans.
    case otlp

    /// The bytes before the first row; empty if the format has no header.
    package var header: [UInt8] {
        switch self {
        case .ndjson: NDJSONFormat.header(ExportColumns.all)
        case .csv: CSVFormat.header(ExportColumns.all)
        case .otlp: []
        }
    }

    /// The file name extension. For OTLP, it follows https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/.
    package var suffix: String {
        switch self {
        case .ndjson, .csv: rawValue
        case .otlp: "otlp.jsonl"
        }
    }

    /// For CSV, it follows RFC 4180; NDJSON has no registered type.
    package var mediaType: String {
        switch self {
        case .ndjson, .otlp: "application/x-ndjson"
        case .csv: "text/csv; charset=utf-8; header=present"
        }
    }
}

/// Reads what an export writes, in pieces.
protocol PieceReader {
    var factCount: Int { get }
    /// Returns the next pieces, or none after the last. It calls `meanwhile` while other threads read.
    mutating func read(meanwhile: (() -> Void)?) throws(WaybillError) -> [[UInt8]]
}

/// An export, confined to its reader's thread. It has no SQLite transaction open between pieces, because a slow
/// receiver would block checkpoints.
package final class TextExport {
    package let cursor: ExportCursor
    package var factCount: Int { pieces.factCount }

    private let connection: Connection
    private var pieces: any PieceReader
    private var ready: ArraySlice<[UInt8]>

    /// The approximate size of a piece. Pieces read by several threads may be larger.
    package static let pieceByteCount = 64 << 10

    fileprivate init(
        _ selection: ExportSelection, as format: TextFormat, _ pieces: some PieceReader, by connection: Connection
    ) {
        (cursor, self.pieces, self.connection) = (selection.cursor, pieces, connection)
        ready = format.header.isEmpty ? [] : [format.header]
    }

    package func piece() throws(WaybillError) -> [UInt8]? {
        if ready.isEmpty {
            ready = try connection.transaction("BEGIN") { () throws(WaybillError) in
                try pieces.read(meanwhile: nil)[...]
            }
        }
        return ready.popFirst()
    }

    package func countedPiece() throws(WaybillError) -> ExportStream.Piece? {
        let before = factCount
        return try piece().map { ExportStream.Piece(bytes: $0, factCount: factCount - before) }
    }

    /// Passes all pieces of one snapshot to `body`.
    fileprivate func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
        try withoutActuallyEscaping(body) { body in
            if ready.isEmpty { ready = try pieces.read(meanwhile: nil)[...] }
            while !ready.isEmpty {
                let read = ready
                var handingOver = Swift.Result<Void, any Error>.success(())
                ready = try pieces.read { handingOver = Swift.Result { try read.forEach(body) } }[...]
                try handingOver.get()
            }
        }
    }
}

extension StoreReader {
    /// Begins an export in pieces. Throws `.format` for a cursor of another store.
    package func export(_ scope: ExportScope, as format: TextFormat, redactor: Redactor = Redactor())
        throws(WaybillError) -> TextExport
    {
        try read { () throws(WaybillError) in
            try begin(scope, as: format, redactor, with: others(otherCount(for: scope, as: format)))
        }
    }

    /// - Parameter body: Receives pieces of whole rows, on another thread if several threads read.
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

    /// Exports of looked-up transactions and of spans use a single thread.
    private func otherCount(for scope: ExportScope, as format: TextFormat) throws(WaybillError) -> Int {
        switch (scope, format) {
        case (.transactions, _), (.some, _), (_, .otlp): 0
        case (.everything, .ndjson), (.everything, .csv), (.after, .ndjson), (.after, .csv), (.since, .ndjson),
            (.since, .csv), (.quarantine, .ndjson), (.quarantine, .csv):
            try otherCount()
        }
    }

    private func begin(
        _ scope: ExportScope, as format: TextFormat, _ redactor: Redactor, with others: [Connection]
    ) throws(WaybillError) -> TextExport {
        let selection = try ExportSelector(connection: connection).selection(scope)
        let all = [connection] + others
        let pieces: any PieceReader =
            switch format {
            case .ndjson: try FactSlices<NDJSONRows>(selection, redactor: redactor, by: all)
            case .csv: try FactSlices<CSVRows>(selection, redactor: redactor, by: all)
            case .otlp: try SpanScan(selection, redactor: redactor, self)
            }
        return TextExport(selection, as: format, pieces, by: connection)
    }
}

/// A shared store is copied first: its receiver may pause between pieces, and the system kills a suspended process that
/// has a shared store open.
final class StreamedExport {
    private var reader: StoreReader?
    private var export: TextExport?
    private var snapshot: URL?

    deinit { if let snapshot { try? FileManager.default.removeItem(at: snapshot) } }

    func begin(
        _ scope: ExportScope, as format: TextFormat, of place: ResolvedLocation, _ redactor: Redactor,
        until interruption: Interruption
    ) throws -> ExportCursor {
        let reader = try StoreReader(place.isShared ? .file(copy(of: place, until: interruption)) : place)
        let export = try reader.reading(until: interruption) {
            try reader.export(scope, as: format, redactor: redactor)
        }
        (self.reader, self.export) = (reader, export)
        return export.cursor
    }

    private func copy(of place: ResolvedLocation, until interruption: Interruption) throws -> URL {
        let file = FileManager.default.temporaryDirectory.appending(path: "waybill-\(GUID()).sqlite")
        snapshot = file
        let shared = try StoreReader(place)
        try shared.reading(until: interruption) {
            try shared.connection.snapshot(to: file, keepsProofs: false, keepsID: true)
        }
        return file
    }

    func piece(until interruption: Interruption) throws -> ExportStream.Piece? {
        try reader?.reading(until: interruption) { try export?.countedPiece() }
    }
}

/// The parameters of `GET /v1/export`.
package struct ExportQuery: Sendable, Hashable {
    package var format = TextFormat.ndjson
    /// Only facts received at or after this time; see ``TimeExpression``.
    package var since: String?
    package var after: String?
    package var filter: String?
    package var transaction: String?

    package static let cursorField = "Waybill-Next-Cursor"

    package static let parameters = ["format", "since", "after", "filter", "transaction"]

    package init() {}

    /// Parses decoded URL parameters. The last of repeated parameters counts.
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

    package var items: [(name: String, value: String)] {
        [("format", format.rawValue)]
            + [("since", since), ("after", after), ("filter", filter), ("transaction", transaction)]
            .compactMap { name, value in value.map { (name, $0) } }
    }

    /// - Parameter now: The current time in microseconds since 1970.
    package func facts(now: Int64) throws(QueryFailure) -> ExportedFacts {
        if let transaction {
            guard let id = GUID(transaction), since == nil, after == nil, filter == nil else {
                throw .parameter("transaction", "Give the whole ID of one transaction, and no other condition.")
            }
            return .some([id])
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
